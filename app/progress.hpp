// Progress on standard error, where a terminal shows it.
#pragma once

#include <chrono>
#include <string>

#include "ropelab/sweep/runner.hpp"

namespace ropelab::app {

// "12 of 40 points (31.4 %), 3.1 a second, 0:09 left", the share being that of the work.
std::string to_text(const Progress& progress);

// A line that is written over itself, a few times a second. In no colour.
class ProgressLine {
 public:
  // Shows nothing unless wanted, and nothing unless standard error is a terminal.
  explicit ProgressLine(bool wanted);

  void show(const Progress& progress);
  // Takes the line away again.
  void clear();

  // Clears the line at the end of a scope.
  class Cleared {
   public:
    explicit Cleared(ProgressLine& line) : line_(line) {}
    ~Cleared() { line_.clear(); }
    Cleared(const Cleared&) = delete;
    Cleared& operator=(const Cleared&) = delete;

   private:
    ProgressLine& line_;
  };

 private:
  void replace_by(const std::string& text);

  bool shown_;
  std::size_t width_ = 0;  // of the text on the screen
  std::chrono::steady_clock::time_point last_;
};

}  // namespace ropelab::app
