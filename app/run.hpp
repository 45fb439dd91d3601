// What a command sees of the shell while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "app/progress.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/sweep/runner.hpp"
#include "ropelab/table/manifest.hpp"

namespace ropelab::app {

class Run {
 public:
  struct Settings {
    bool quiet = false;
    int digits = 17;  // 17 … 100
    unsigned threads = 1;
    InstructionSet instruction_set = InstructionSet::best;
    std::uint64_t seed = 1;
  };

  Run(const Settings& settings, Manifest& manifest, const Interruption& interruption);

  int digits() const { return settings_.digits; }
  unsigned threads() const { return settings_.threads; }
  std::uint64_t seed() const { return settings_.seed; }

  // For long computations to poll: it throws Interrupted after Ctrl-C.
  const Interruption& interruption() const { return runner_.interruption(); }
  // The same for the one computation that is nearly all of a point's work; what it tells of its
  // progress moves the line.
  const Interruption& point_interruption() const { return runner_.point_interruption(); }

  // Does step(0) … step(points - 1), showing progress; see Runner::run.
  void over(std::size_t points, const std::function<void(std::size_t)>& step,
            const std::function<double(std::size_t)>& weight = {});

  // Says something that a reader of the table has to know (that pairs were sampled, say):
  // a line on standard error, and in the manifest.
  void note(const std::string& text);

  // For the manifest: which vector instructions computed the figures.
  void set_instruction_set(std::string name) { manifest_.instruction_set = std::move(name); }

 private:
  Settings settings_;
  Manifest& manifest_;
  std::set<std::string> noted_;
  ProgressLine line_;
  Runner runner_;
};

}  // namespace ropelab::app
