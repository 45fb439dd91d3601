// Scaled grids, as a user sees them.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;
using ropelab::parse_rational;

namespace {

std::vector<std::string> with_scaling(std::vector<std::string> arguments,
                                      const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("frequencies --scaling agrees with 80-digit arithmetic, and says what was taken") {
  const CsvText reference = ropelab::read_csv_file(ROPELAB_TEST_DATA "/scaling.csv");
  for (std::size_t n = 0; n < reference.records().size(); n += 20) {
    const auto at = [&](const char* column) { return reference.at(n, column); };
    CAPTURE(at("scaling"), at("pair"));
    const CsvText table =
        table_of({"frequencies", "--base", at("base"), "--rope-dim", at("rope_dim"), "--context",
                  at("length"), "--scaling", at("scaling"), "--digits", "40"});
    const auto pair = std::stoul(at("pair"));
    for (const char* column : {"theta", "attention_factor", "softmax_factor"}) {
      CHECK(parse_rational(table.at(pair, column)) == parse_rational(at(column)));
    }
    const std::string name = at("scaling").substr(0, at("scaling").find(':'));
    CHECK_THAT(table.at(pair, "scaling"), Catch::Matchers::StartsWith(name));
    CHECK(table.at(pair, "float32_pow_ulp").empty());
  }
}

TEST_CASE("frequencies has the columns of a scaling only where one is asked for") {
  CHECK_THAT(run({"frequencies"}).output, ContainsSubstring(",nearest\n"));
  const CsvText table =
      table_of({"frequencies", "--rope-dim", "64", "--scaling",
                "none,yarn:factor=8,original=131072,dynamic-ntk:factor=2,original=4096"});
  REQUIRE(table.records().size() == 96);
  CHECK(table.at(0, "scaling") == "none");
  CHECK(table.at(31, "float32_pow_ulp") ==
        table_of({"frequencies", "--rope-dim", "64"}).at(31, "float32_pow_ulp"));
  CHECK(table.at(40, "scaling") ==
        "yarn:factor=8:original=131072:beta_fast=32:beta_slow=1:truncate=true:rule=default:"
        "mscale=1");
  CHECK(table.at(40, "correction_low") == "22");
  CHECK(table.at(40, "correction_high") == "35");
  CHECK(table.at(32 + 31, "theta") == "5.257151799874643e-05");
  CHECK(table.at(32 + 22, "extrapolated") == "1");
  CHECK(table.at(64, "scaling") == "dynamic-ntk:factor=2:original=4096:length=65536");
  CHECK(table.at(64, "correction_low").empty());
}

TEST_CASE("a scaled pair of the grid has the errors of the same theta, and its cell says why") {
  const std::vector<std::string> shared = {"--context", "300", "--dtype", "float32"};
  const CsvText scaled =
      table_of(with_scaling({"sweep", "base", "--base", "10000", "--rope-dim", "64", "--pair",
                             "all", "--scaling", "linear:factor=4"},
                            shared));
  const CsvText plain = table_of(with_scaling({"sweep", "theta", "--theta", "1/4"}, shared));
  CHECK(scaled.at(0, "pipeline") == "ideal-trig,frequencies=linear:factor=4");
  CHECK(scaled.at(0, "base") == "10000");
  for (const char* column : {"theta", "max_phase", "N", "rounding_max_abs", "total_rms"}) {
    CHECK(scaled.at(0, column) == plain.at(0, column));
  }
}

TEST_CASE("slowest and nearest follow the scaled grid, also where it does not go one way") {
  const CsvText table = table_of(
      {"sweep", "base", "--base", "10000", "--rope-dim", "6", "--pair", "slowest,nearest",
       "--scaling",
       "none,longrope:original=4,short_factor=1 1 1,long_factor=1 2000 2,attention_factor=1",
       "--context", "100", "--dtype", "float64"});
  REQUIRE(table.records().size() == 4);
  CHECK(table.at(0, "pair") == "2");
  CHECK(table.at(2, "pair") == "1");
  // 0.1/100 is wanted: 1e4^(-2/3)/2 is as near as 1e4^(-2/3) is not.
  CHECK(table.at(1, "pair") == "2");
  CHECK(table.at(3, "pair") == "2");
}

TEST_CASE("dynamic-ntk and longrope go by the context of the row") {
  const CsvText table =
      table_of({"condition", "--base", "10000", "--scaling", "dynamic-ntk:factor=2,original=1K",
                "--context", "1K,4K", "--dtype", "float64"});
  REQUIRE(table.records().size() == 2);
  CHECK(table.at(0, "pipeline") ==
        "ideal-trig,frequencies=dynamic-ntk:factor=2:original=1024:length=1024");
  // 2*4 - 1 times slower.
  const double slower = std::stod(table.at(0, "theta")) / std::stod(table.at(1, "theta"));
  CHECK(slower == Approx(7).epsilon(1e-14));
}

TEST_CASE("every command that takes a base takes a scaling") {
  const std::vector<std::string> scaling = {"--base", "10000", "--scaling", "linear:factor=8"};
  const std::string cell = "ideal-trig,frequencies=linear:factor=8";
  const std::vector<std::string> commands[] = {
      {"sweep", "base", "--context", "64", "--dtype", "float32"},
      {"profile", "--context", "64", "--dtype", "float32"},
      {"condition", "--context", "64", "--dtype", "float32"},
      {"limits", "--context", "64", "--dtype", "float32"},
      {"trace", "--i", "3", "--j", "1", "--dtype", "float32"},
      {"dot", "--q", "1 2", "--k", "3 4", "--i", "16", "--j", "8", "--dtype", "float32"},
      {"dot", "--random", "3", "--i", "5", "--j", "4", "--rope-dim", "4", "--dtype", "float32"}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    CHECK(table_of(with_scaling(command, scaling)).at(0, "pipeline") == cell);
  }
}

TEST_CASE("dot rotates by scaled frequencies, each product under every scaling") {
  const std::vector<std::string> vectors = {"dot", "--q",     "1 2",    "--k",
                                            "3 4", "--dtype", "float32"};
  const CsvText table = table_of(
      with_scaling(vectors, {"--i", "16", "--j", "8", "--scaling", "none,linear:factor=8"}));
  REQUIRE(table.records().size() == 2);
  CHECK(table.at(0, "row") == "1");
  CHECK(table.at(1, "row") == "1");
  CHECK(table.at(1, "exact") ==
        table_of(with_scaling(vectors, {"--i", "2", "--j", "1"})).at(0, "exact"));
  CHECK(table.at(1, "exact") != table.at(0, "exact"));
}

TEST_CASE("lists of a scaling come from a file, as numbers or as JSON has them") {
  const TemporaryFolder folder;
  folder.write("short.txt", "1\n1.5\n");
  folder.write("long.json", "[1.25,\n 4]\n");
  const Outcome outcome =
      run_shell_in(folder,
                   "ropelab frequencies --rope-dim 4 --scaling "
                   "'longrope:original=64,short_factor=@short.txt,long_factor=@long.json,factor=2' "
                   "-o x.json");
  CHECK(outcome.error.empty());
  CHECK(outcome.status == 0);
  CHECK_THAT(folder.read("x.json"),
             ContainsSubstring("longrope:original=64:short_factor=1 1.5:long_factor=1.25 4:"
                               "length=65536:factor=2"));
  CHECK_THAT(folder.read("x.manifest.json"), ContainsSubstring("short_factor=1 1.5"));
  CHECK_THAT(folder.read("x.json"), ContainsSubstring("0.0025"));
}

TEST_CASE("a configuration file may hold a scaling, and the manifest says what was taken") {
  const TemporaryFolder folder;
  folder.write("x.toml", "base = 1e4\nscaling = [\"none\", \"yarn:factor=4,original=4096\"]\n");
  const Outcome outcome = run_shell_in(
      folder, "ropelab sweep base --context 64 --dtype float32 --config x.toml -o x.csv");
  CHECK(outcome.error.empty());
  CHECK_THAT(folder.read("x.manifest.json"),
             ContainsSubstring("\"scaling\": \"none,yarn:factor=4:original=4096:beta_fast=32:"
                               "beta_slow=1:truncate=true:rule=default:mscale=1\""));
}

TEST_CASE("a scaling that cannot be meant is refused, and nothing is written") {
  const std::string lists = "longrope:original=64,factor=2,short_factor=1 2,long_factor=1 ";
  for (const std::string& scaling :
       {std::string("yarn"), std::string("yarn:factor=4"), std::string("yarn:factor=0,original=64"),
        std::string("yarn:factor=4,original=0"), std::string("llama3:factor=4,original=64,beta=1"),
        std::string("dynamic:factor=4"), std::string("factor=4"), lists + "2", lists + "x",
        lists + "@missing.txt"}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"frequencies"},
          {"sweep", "base"},
          {"dot", "--random", "2", "--i", "2", "--j", "1"}}) {
      CAPTURE(scaling, command.front());
      const Outcome outcome = run(with_scaling(command, {"--scaling", scaling}));
      CHECK(outcome.status == 2);
      CHECK(outcome.output.empty());
      CHECK_THAT(outcome.error, Catch::Matchers::StartsWith("ropelab: --scaling: "));
    }
  }
  const Outcome without_base = run({"sweep", "phase", "--scaling", "linear:factor=4"});
  CHECK(without_base.status == 2);
  CHECK_THAT(without_base.error, ContainsSubstring("means nothing without --base"));
  CHECK(run({"sweep", "theta", "--theta", "1e-3", "--scaling", "none"}).status == 2);
  // A dot product has no context, so a length must be said.
  CHECK_THAT(run({"dot", "--random", "2", "--i", "2", "--j", "1", "--scaling",
                  "dynamic-ntk:factor=2,original=64"})
                 .error,
             ContainsSubstring("length=POSITIONS"));
}
