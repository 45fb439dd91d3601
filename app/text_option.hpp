// Command-line options that keep what the user wrote, to be read exactly afterwards.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/usage_error.hpp"

namespace ropelab::app {

// What options with several values take, for the help.
inline constexpr const char* kNumbers = "NUMBERS";
inline constexpr const char* kIntegers = "INTEGERS";
inline constexpr const char* kFormats = "FORMATS";
inline constexpr const char* kPipelines = "PIPELINES";
inline constexpr const char* kHeads = "HEADS";
inline constexpr const char* kPairs = "PAIRS";
inline constexpr const char* kKeys = "KEYS";
inline constexpr const char* kSplits = "SPLITS";
inline constexpr const char* kContents = "CONTENTS";
inline constexpr const char* kScalings = "SCALINGS";
inline constexpr const char* kBiases = "BIASES";
inline constexpr const char* kTargets = "TARGETS";

// Whether it is one of these.
inline bool takes_list(const CLI::Option& option) {
  const std::string takes = option.get_type_name();
  for (const char* list : {kNumbers, kIntegers, kFormats, kPipelines, kHeads, kPairs, kKeys,
                           kSplits, kContents, kScalings, kBiases, kTargets}) {
    if (takes == list) return true;
  }
  return false;
}

// A text without the blanks around it.
inline std::string without_blanks(const std::string& text) {
  constexpr const char* blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// One option with one text as its value. Must stay where it is once it is added.
class TextOption {
 public:
  TextOption() = default;
  TextOption(const TextOption&) = delete;
  TextOption& operator=(const TextOption&) = delete;

  // Adds the option, of names such as "--context" or "-o,--output". `takes` names the value
  // in the help ("INTEGERS"); without a default the option is empty unless given.
  void add_to(CLI::App& app, const std::string& names, const std::string& takes,
              const std::string& help, std::string default_text = {}) {
    text_ = std::move(default_text);
    option_ = app.add_option(names, text_, help)->type_name(takes);
    if (!text_.empty()) option_->capture_default_str();
  }

  // Another default, for what is not given: once other options are read, say.
  void set_default(const std::string& text) {
    if (given()) return;
    text_ = text;
    option_->default_str(text);
  }

  // Whether the user gave it, on the command line or in a file.
  bool given() const { return option_ != nullptr && option_->count() > 0; }
  // What he gave, without blanks around it, or the default.
  std::string text() const { return without_blanks(text_); }
  // As users write it: "--context".
  std::string name() const { return option_->get_name(); }
  CLI::Option* option() const { return option_; }

  // parse(text()), where an std::invalid_argument becomes a UsageError of this option.
  template <typename Parse>
  auto read(Parse parse) const {
    try {
      return parse(text());
    } catch (const std::invalid_argument& error) {
      throw UsageError(name(), error.what());
    }
  }

 private:
  std::string text_;
  CLI::Option* option_ = nullptr;
};

}  // namespace ropelab::app
