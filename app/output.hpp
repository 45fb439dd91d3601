// Where a table goes: standard output, or a file with a manifest beside it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "app/text_option.hpp"
#include "ropelab/table/manifest.hpp"
#include "ropelab/table/table.hpp"
#include "ropelab/table/whole_file.hpp"
#include "ropelab/table/writer.hpp"

namespace ropelab::app {

class Output {
 public:
  // Takes hold of the file ("-" or nothing: standard output) and of its manifest's. Throws
  // UsageError where it cannot be written or its ending names no format.
  Output(const std::string& path, std::optional<TableFormat> format);

  // Writes and names both files, or writes to standard output. Throws std::runtime_error.
  void write(const Table& table, const Manifest& manifest);
  // After an interruption: what there is goes to standard output; a file is not written.
  void write_finished_rows(const Table& table);

 private:
  TableFormat format_;
  std::optional<WholeFile> file_;
  std::optional<WholeFile> manifest_;
};

}  // namespace ropelab::app
