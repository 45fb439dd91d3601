// Going over the points of a grid: in order, watched and interruptible.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>

#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// How far a run has come.
struct Progress {
  std::size_t points_done = 0;
  std::size_t points = 0;
  double share_done = 0;  // of the work, in [0, 1]
  std::chrono::duration<double> elapsed{};
  double point_share = 0;  // of the point that is being done, in [0, 1]

  // Points per second, the part of the present one counted; 0 before anything is done.
  double rate() const;
  // What is left if it goes on like this; unknown (infinity) before anything is done.
  std::chrono::duration<double> left() const;
};

// Goes over work that consists of points. Not for several threads at once, but a point may be
// done by several.
class Runner {
 public:
  using Observer = std::function<void(const Progress&)>;

  // The observer is told of every step, and within a step by any of its threads, but by one at a
  // time; it should be quick.
  explicit Runner(const Interruption& interruption, Observer observer = {});
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Calls step(0), step(1) … step(points - 1). The work of a point may be weighed, so that
  // the share done means something where points differ much. Throws Interrupted before the
  // next point, or after the last one, when asked to stop.
  void run(std::size_t points, const std::function<void(std::size_t)>& step,
           const std::function<double(std::size_t)>& weight = {});

  // For steps that take long to poll.
  const Interruption& interruption() const { return interruption_; }
  // The same for work that is nearly all of a step's: the share that it tells is taken for that of
  // the step. It never falls within a step.
  const Interruption& point_interruption() const { return point_interruption_; }

 private:
  void point_progress(double share);
  void report();

  Interruption interruption_;
  ShareObserver share_observer_;
  Interruption point_interruption_;
  Observer observer_;
  std::mutex reporting_;
  Progress progress_;
  double total_weight_ = 0;
  double done_weight_ = 0;   // of the points before the present one
  double point_weight_ = 0;  // of the present one
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ropelab
