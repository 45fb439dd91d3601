// Options from a TOML file.
//
// Keys are the names of options without their dashes; values are strings, numbers, true or
// false, or arrays of these, which stand for lists. Numbers are taken as they are written in
// the file, so that 0.1 is a tenth and not the double nearest to it. What the command line
// gives has precedence, also over keys that cannot stand beside it (--theta over a max-phase
// in the file).
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace ropelab::app {

class ConfigFile : public CLI::Config {
 public:
  // `root` is the application whose options it serves, its chosen command included.
  explicit ConfigFile(const CLI::App& root) : root_(root) {}

  // Reads the file that root's --config names. Throws UsageError, naming file and line, for
  // what is not TOML, for keys that are no options of the chosen command, and for values of
  // other kinds.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  // Nothing writes such files.
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  // "FILE:LINE: " for an option ("--context") that got its value from the file, else empty.
  std::string place_of(const std::string& option) const;

 private:
  const CLI::App& root_;
  mutable std::map<std::string, std::string> places_;
};

}  // namespace ropelab::app
