// Going over the points of a grid: in order, watched and interruptible.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// How far a run has come.
struct Progress {
  std::size_t points_done = 0;
  std::size_t points = 0;
  double share_done = 0;  // of the work, in [0, 1]
  std::chrono::duration<double> elapsed{};

  // Points per second; 0 before the first.
  double rate() const;
  // What is left if it goes on like this; unknown (infinity) before anything is done.
  std::chrono::duration<double> left() const;
};

// Goes over work that consists of points. Not for several threads at once, except that
// point_progress may be called from any one thread at a time.
class Runner {
 public:
  using Observer = std::function<void(const Progress&)>;

  // The observer is told of every step; it should be quick.
  explicit Runner(const Interruption& interruption, Observer observer = {});

  // Calls step(0), step(1) … step(points - 1). The work of a point may be weighed, so that
  // the share done means something where points differ much. Throws Interrupted before the
  // next point, or after the last one, when asked to stop.
  void run(std::size_t points, const std::function<void(std::size_t)>& step,
           const std::function<double(std::size_t)>& weight = {});

  // For a step to tell which share of its point is done, in [0, 1].
  void point_progress(double share);

  // For steps that take long to poll.
  const Interruption& interruption() const { return interruption_; }

 private:
  void report();

  Interruption interruption_;
  Observer observer_;
  Progress progress_;
  double total_weight_ = 0;
  double done_weight_ = 0;   // of the points before the present one
  double point_weight_ = 0;  // of the present one
  double point_share_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ropelab
