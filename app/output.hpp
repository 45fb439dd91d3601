// Where a table goes: standard output, or a file with a manifest beside it. What an interrupted
// run has finished goes beside that file, both names with ".partial" behind them, so that a
// table that stood there before stays.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/files_in_use.hpp"
#include "app/text_option.hpp"
#include "ropelab/table/manifest.hpp"
#include "ropelab/table/table.hpp"
#include "ropelab/table/whole_file.hpp"
#include "ropelab/table/writer.hpp"

namespace ropelab::app {

// Takes hold of the file that an option names. Throws UsageError of the option where it cannot be
// written.
WholeFile open_file(const std::string& option, const std::string& path);

class Output {
 public:
  // Takes hold of the file that an option names ("-" or nothing: standard output) and of its
  // manifest's. Throws UsageError of the option where it cannot be written, where its ending names
  // no format, and where it is in use; from then on it is.
  Output(const std::string& option, const std::string& path, std::optional<TableFormat> format,
         FilesInUse& files);

  TableFormat format() const { return format_; }

  // Writes and names both files, or writes to standard output. Throws std::runtime_error.
  void write(const Table& table, const Manifest& manifest);
  // Behind that table on standard output, or in a file beside it whose name has "-NAME" before the
  // ending. Throws std::runtime_error.
  void write_further(const std::string& name, const Table& table);
  // After an interruption, instead: writes the rows there are, unless there are none. Throws
  // std::runtime_error.
  void write_finished_rows(const Table& table, const Manifest& manifest);
  // Where those go, as a sentence ends: "printed", "kept in 'x.csv.partial'".
  std::string place_of_finished_rows() const;

 private:
  bool is_device() const { return file_ && !manifest_; }
  void remove_partial() const;

  TableFormat format_;
  std::optional<WholeFile> file_;
  std::optional<WholeFile> manifest_;
};

}  // namespace ropelab::app
