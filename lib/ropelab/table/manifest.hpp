// The provenance of a table: what was run, with which parameters, by which build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropelab {

// Names of options and what they were resolved to.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Manifest {
  std::vector<std::string> command_line;
  // Every parameter by its option's name, as resolved: defaults and configuration included.
  Parameters parameters;
  // Which vector instructions computed the figures, by Highway's name, or "none".
  std::string instruction_set = "none";
  unsigned threads = 1;
  std::uint64_t seed = 1;
  std::size_t rows = 0;
  // Whether these are all rows that there were to be: not after an interruption.
  bool complete = true;
  double wall_time_seconds = 0;
  // Whatever a reader of the table has to know besides: that pairs were sampled, say.
  std::vector<std::string> notes;
};

// The manifest and this program's build_info() as a JSON object, one key a line, ending in
// '\n'. Keys, in this order: command_line, parameters, version, commit, compiler, flags,
// instruction_set, threads, seed, rows, complete, wall_time_seconds, notes.
std::string to_json(const Manifest& manifest);

// Where the manifest of a table stands: "x.csv" has "x.manifest.json".
std::string manifest_path(std::string_view table_path);

}  // namespace ropelab
