#include "ropelab/table/manifest.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "ropelab/table/build_info.hpp"

using namespace ropelab;

TEST_CASE("a manifest stands beside its table") {
  CHECK(manifest_path("x.csv") == "x.manifest.json");
  CHECK(manifest_path("a.b/x.y.json") == "a.b/x.y.manifest.json");
  CHECK(manifest_path("a.b/x") == "a.b/x.manifest.json");
}

TEST_CASE("a manifest says what was run, and by which build") {
  Manifest manifest;
  manifest.command_line = {"ropelab", "slopes", "--heads", "8"};
  manifest.parameters = {{"heads", "8"}, {"head", "all"}};
  manifest.threads = 2;
  manifest.seed = 18446744073709551615U;
  manifest.rows = 8;
  manifest.wall_time_seconds = 0.25;
  manifest.notes = {"a note"};
  const auto json = nlohmann::ordered_json::parse(to_json(manifest));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"command_line", "parameters", "version", "commit",
                                         "compiler", "flags", "instruction_set", "threads", "seed",
                                         "rows", "complete", "wall_time_seconds", "notes"});
  CHECK(json["command_line"] == manifest.command_line);
  CHECK(json["parameters"].dump() == R"({"heads":"8","head":"all"})");
  CHECK(json["seed"] == manifest.seed);
  CHECK(json["complete"] == true);
  CHECK(json["commit"] == build_info().commit);
  CHECK(json["notes"][0] == "a note");
}

TEST_CASE("the build knows itself, and names no folder") {
  CHECK(!build_info().version.empty());
  CHECK(!build_info().commit.empty());
  CHECK(build_info().compiler.find(' ') != std::string_view::npos);
  CHECK(build_info().flags.find("-ffp-contract=off") != std::string_view::npos);
  CHECK(build_info().flags.find("prefix-map") == std::string_view::npos);
}
