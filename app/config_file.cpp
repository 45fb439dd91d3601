#include "app/config_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

// One file being read: its name, its text and the command that it is read for.
struct Source {
  std::string name;
  std::string text;
  std::vector<std::string> command;  // {"sweep", "theta"}
  const CLI::App* app;               // of the command

  std::string command_name() const { return fmt::format("{}", fmt::join(command, " ")); }
};

std::string place(const Source& source, const toml::source_region& region) {
  return fmt::format("{}:{}: ", source.name, region.begin.line);
}

[[noreturn]] void refuse(const Source& source, const toml::source_region& region,
                         const std::string& problem) {
  throw UsageError(place(source, region) + problem);
}

// The text from a position on; columns count characters, not bytes.
std::string_view text_from(std::string_view text, const toml::source_position& position) {
  for (auto line = position.line; line > 1; --line) text.remove_prefix(text.find('\n') + 1);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  for (auto column = position.column; column > 1; --column) {
    do {
      text.remove_prefix(1);
    } while (!text.empty() && continues(text.front()));
  }
  return text;
}

// A number as it is written, without TOML's underscores.
std::string number_text(const Source& source, const toml::node& node) {
  const auto text = text_from(source.text, node.source().begin);
  std::string number(text.substr(0, text.find_first_of(",]}# \t\r\n")));
  number.erase(std::remove(number.begin(), number.end(), '_'), number.end());
  return number;
}

std::string scalar_text(const Source& source, const std::string& key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (node.is_number()) return number_text(source, node);
  refuse(source, node.source(),
         fmt::format("'{}' takes a string, a number, true or false, or an array of these", key));
}

std::string value_text(const Source& source, const std::string& key, const toml::node& node) {
  const auto* array = node.as_array();
  if (array == nullptr) return scalar_text(source, key, node);
  if (array->empty()) refuse(source, node.source(), fmt::format("'{}' has no value", key));
  std::vector<std::string> items;
  for (const toml::node& item : *array) items.push_back(scalar_text(source, key, item));
  return fmt::format("{}", fmt::join(items, ","));
}

toml::table parse(const Source& source) {
  try {
    return toml::parse(source.text);
  } catch (const toml::parse_error& error) {
    refuse(source, error.source(), fmt::format("this is not TOML: {}", error.description()));
  }
}

const CLI::Option& find_option(const Source& source, const std::string& key,
                               const toml::node& node) {
  const CLI::Option* option = source.app->get_option_no_throw("--" + key);
  if (option == nullptr || !option->get_configurable()) {
    refuse(source, node.source(),
           fmt::format("'{}' is not an option of '{}'", key, source.command_name()));
  }
  return *option;
}

// Whether the command line gave the option, or one that cannot stand beside it.
bool settled_on_command_line(const CLI::Option& option) {
  const auto others = option.get_excludes();
  const auto given = [](const CLI::Option* other) { return other->count() > 0; };
  return given(&option) || std::any_of(others.begin(), others.end(), given);
}

// The chosen command, as far as the command line has got.
Source open_source(const CLI::App& root, std::istream& input) {
  Source source{root.get_config_ptr()->as<std::string>(),
                {std::istreambuf_iterator<char>(input), {}},
                {},
                &root};
  while (!source.app->get_subcommands().empty()) {
    source.app = source.app->get_subcommands().front();
    source.command.push_back(source.app->get_name());
  }
  return source;
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const Source source = open_source(root_, input);
  std::vector<CLI::ConfigItem> found;
  if (source.command.empty()) return found;  // which is complained about elsewhere
  for (const auto& [key, node] : parse(source)) {
    const std::string name(key.str());
    const CLI::Option& option = find_option(source, name, node);
    const std::string value = value_text(source, name, node);
    if (settled_on_command_line(option)) continue;
    places_[option.get_name()] = place(source, node.source());
    found.push_back({source.command, name, {value}});
  }
  return found;
}

std::string ConfigFile::place_of(const std::string& option) const {
  const auto place = places_.find(option);
  return place == places_.end() ? std::string() : place->second;
}

}  // namespace ropelab::app
