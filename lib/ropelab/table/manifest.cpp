#include "ropelab/table/manifest.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ropelab/table/build_info.hpp"

namespace ropelab {

std::string to_json(const Manifest& manifest) {
  using nlohmann::ordered_json;
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : manifest.parameters) parameters[name] = value;
  const BuildInfo& build = build_info();
  const ordered_json json{
      {"command_line", manifest.command_line},
      {"parameters", parameters},
      {"version", build.version},
      {"commit", build.commit},
      {"compiler", build.compiler},
      {"flags", build.flags},
      {"instruction_set", manifest.instruction_set},
      {"threads", manifest.threads},
      {"seed", manifest.seed},
      {"rows", manifest.rows},
      {"complete", manifest.complete},
      {"wall_time_seconds", manifest.wall_time_seconds},
      {"notes", manifest.notes},
  };
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string manifest_path(std::string_view table_path) {
  std::filesystem::path path(table_path);
  return path.replace_extension(".manifest.json").string();
}

}  // namespace ropelab
