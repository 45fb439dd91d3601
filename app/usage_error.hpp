// Arguments that cannot be meant.
#pragma once

#include <stdexcept>
#include <string>

namespace ropelab::app {

// Ends the program with exit status 2 and one sentence: "<option>: <problem>". The problem
// quotes the value and says what would be right.
class UsageError : public std::runtime_error {
 public:
  UsageError(std::string option, const std::string& problem)
      : std::runtime_error(option + ": " + problem), option_(std::move(option)) {}
  // For problems that are no single option's.
  explicit UsageError(const std::string& problem) : std::runtime_error(problem) {}

  // The option as users write it ("--context"), or empty.
  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

}  // namespace ropelab::app
