// Where the content scores of `ropelab attention` come from.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/text_option.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab::app {

// The scores of some rows of a context, by row: those of the keys 0 ... row.
using ScoresOfRows = std::map<std::size_t, std::vector<double>>;

// Reads a CSV file with the columns query,key,score, one score a line, whole rows in any order.
// Rows and keys count from 0. Throws std::invalid_argument in one sentence with file and line where
// a row is not below the least context, a key is beyond its row, stands there twice or is missing,
// or a score is no number; and Interrupted.
ScoresOfRows read_scores_of_rows(const std::string& path, long long least_context,
                                 const Interruption& interruption = {});

// --content-sd and --content-file.
class ContentScoreOptions {
 public:
  // `components`, the command's --content, excludes them, as each does the other.
  void add_to(CLI::App& app, CLI::Option& components);

  // The standard deviations; one of them, the default, if none is given.
  std::vector<double> deviations() const;
  // Whether this one changes no figure from those without the option.
  bool is_default(double deviation) const;
  bool reads_file() const { return file_.given(); }
  std::string file() const { return file_.text(); }
  CLI::Option& file_option() const { return *file_.option(); }
  ScoresOfRows read_file(long long least_context, const Interruption& interruption) const;

 private:
  TextOption deviation_, file_;
};

}  // namespace ropelab::app
