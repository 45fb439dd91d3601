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

// A table beside a command's own. In a file: one of its own beside, whose name has "-NAME" before
// the ending. On standard output or a device: behind the command's, an empty line between them; as
// JSON the tables are members of one object, the command's own being "table".
struct FurtherTable {
  std::string name;
  Table table;
};

// Takes hold of the file that an option names. Throws UsageError of the option where it cannot be
// written.
WholeFile open_file(const std::string& option, const std::string& path);

class Output {
 public:
  // Takes hold of the file that an option names ("-" or nothing: standard output), of its
  // manifest's and of those of further tables by these names. Throws UsageError of the option where
  // one cannot be written, where the ending names no format, and where one is in use; from then on
  // they are.
  Output(const std::string& option, const std::string& path, std::optional<TableFormat> format,
         FilesInUse& files, const std::vector<std::string>& further_names = {});

  TableFormat format() const { return format_; }

  // Writes and names all files, or writes to standard output. `further`: those whose names the
  // constructor was given, in that order. The table and its manifest come first, so that they are
  // there even where a further one then fails. Throws std::runtime_error.
  void write(const Table& table, const Manifest& manifest,
             const std::vector<FurtherTable>& further = {});
  // After an interruption, instead: writes the rows there are, unless there are none. Throws
  // std::runtime_error.
  void write_finished_rows(const Table& table, const Manifest& manifest,
                           const std::vector<FurtherTable>& further = {});
  // Where those go, as a sentence ends: "printed", "kept in 'x.csv.partial'".
  std::string place_of_finished_rows() const;

 private:
  bool is_device() const { return file_ && !manifest_; }
  std::string all_in_one(const Table& table, const std::vector<FurtherTable>& further) const;
  void remove_partial() const;

  TableFormat format_;
  std::optional<WholeFile> file_;
  std::optional<WholeFile> manifest_;
  std::vector<WholeFile> further_;
};

}  // namespace ropelab::app
