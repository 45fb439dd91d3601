// Command line and configuration file: which command, with which options.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/config_file.hpp"
#include "app/output.hpp"
#include "app/run.hpp"
#include "app/text_option.hpp"

namespace ropelab::app {

class CommandLine {
 public:
  // Knows all commands, without their options.
  CommandLine();

  // Reads the arguments and the configuration file. Returns the text to print where they ask
  // for help or the version, and nothing where there is a command to run. Throws UsageError.
  std::optional<std::string> parse(const std::vector<std::string>& arguments);

  // What follows is for after a parse() that returned nothing.
  Command& command() { return *chosen_->command; }
  // Throws UsageError.
  Run::Settings settings() const;
  // With these parameters in place of what the options say; an empty one is left out.
  Manifest manifest(const Parameters& resolved) const;
  // The files that are in use before any is written: those that the command reads, and --config.
  FilesInUse files_in_use() const;
  // Takes hold of the output files. Throws UsageError also where one is in use.
  Output output(FilesInUse& files, const std::vector<std::string>& further_names) const;

  // "FILE:LINE: " if this option's value comes from the configuration file, else empty.
  std::string place_of(const std::string& option) const;

 private:
  // What every command has.
  struct SharedOptions {
    TextOption output;
    TextOption output_format;
    TextOption digits;
    TextOption threads;
    TextOption instruction_set;
    TextOption seed;
    bool quiet = false;

    void add_to(CLI::App& app, bool has_own_output);
  };
  struct Choice {
    CommandEntry entry;
    std::unique_ptr<Command> command;
    CLI::App* app = nullptr;
    SharedOptions shared;
  };

  void add(CommandEntry entry);
  CLI::App& group_of(const std::string& command_name);
  bool config_given() const { return root_.get_config_ptr()->count() > 0; }
  void parse_with_cli11(const std::vector<std::string>& arguments);

  CLI::App root_;
  ConfigFile* config_ = nullptr;                  // owned by root_
  std::vector<std::unique_ptr<Choice>> choices_;  // their options refer to them: never moved
  Choice* chosen_ = nullptr;
  std::vector<std::string> arguments_;
};

}  // namespace ropelab::app
