// What a command of ropelab is made of.
//
// To add the command `ropelab example`:
// 1. Write app/commands/example.cpp with a class derived from Command and, at its end, a
//    function `CommandEntry example_command()` that describes it.
// 2. Declare that function in app/commands.hpp and add it to the list in app/commands.cpp.
// That is all: help, --config, -o, --output-format, --quiet, --digits, --threads,
// --instruction-set, --seed, manifest, progress and Ctrl-C come with it. app/commands/slopes.cpp is
// a short example. The worked example in a command's help is run by a test, which compares its
// output.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/files_in_use.hpp"
#include "app/output.hpp"
#include "app/run.hpp"
#include "ropelab/table/table.hpp"

namespace CLI {
class App;
}

namespace ropelab::app {

class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Adds the command's own options. Values are kept as text (TextOption), so that they
  // are read exactly and lists work the same everywhere.
  virtual void add_options(CLI::App& app) = 0;

  // Turns the texts of the options into values, before anything is computed or written.
  // Throws UsageError where they cannot be meant, and Interrupted: lists may be long.
  virtual void set_up(const Interruption& interruption) = 0;

  // The heading of the table, once set up.
  virtual std::vector<std::string> columns() const = 0;
  // How many rows a whole run makes, once set up; nothing where only the run can tell.
  virtual std::optional<std::size_t> rows_in_all() const { return std::nullopt; }
  // Parameters that are not simply what was given or the default, by their options' names
  // without dashes, once set up; an empty text means that the option has no meaning here. For
  // the manifest. Throws Interrupted.
  virtual Parameters resolved_parameters(const Interruption&) const { return {}; }
  // The files it reads, once set up: they may not be written.
  virtual std::vector<std::string> files_read() const { return {}; }

  // Takes hold of the files that write_beside() is to write, before anything is computed, and adds
  // them to those in use. Throws UsageError where one cannot be written, or is in use.
  virtual void open_beside(FilesInUse& /*files*/) {}

  // Computes the rows. Throws UsageError for what only the data can show (a broken input
  // file), Interrupted, anything else where the run fails. Rows in the table are whole whenever
  // it may be interrupted.
  virtual void run(Run& run, Table& table) = 0;

  // The names of the tables it has besides, once set up.
  virtual std::vector<std::string> further_names() const { return {}; }
  // Those tables in that order, after a run; after an interrupted one, what is finished of them.
  virtual std::vector<FurtherTable> further_tables() { return {}; }

  // After a whole run, before the table goes where it belongs: writes what the command keeps
  // besides. Throws std::runtime_error where that fails.
  virtual void write_beside(const Table& /*table*/, const Manifest& /*manifest*/) {}
};

struct CommandEntry {
  std::string name;     // "round", or "sweep theta" for a command within a group
  std::string summary;  // one line for the list of commands, in plain English
  // A worked example: a line "  $ ropelab …" of shell and, indented as well, what it prints;
  // as often as is useful.
  std::string example;
  std::unique_ptr<Command> (*make)();
  // A command that gives -o another meaning (a folder, say) adds it by itself.
  bool has_own_output = false;
};

template <typename T>
std::unique_ptr<Command> make_command() {
  return std::make_unique<T>();
}

}  // namespace ropelab::app
