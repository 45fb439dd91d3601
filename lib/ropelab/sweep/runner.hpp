// Going over the points of a grid: in order, watched and interruptible.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <vector>

namespace ropelab {

// Set, by a signal handler say, when everything should end soon. A long kernel polls it
// every few milliseconds and returns early; what it returns then is discarded.
using StopFlag = std::atomic<bool>;
static_assert(StopFlag::is_always_lock_free);  // so that a signal handler may set it

// Thrown where a run ends before its time because its StopFlag was set.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

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
  explicit Runner(const StopFlag& stop, Observer observer = {});

  // Calls step(0), step(1) … step(points - 1). The work of a point may be weighed, so that
  // the share done means something where points differ much. Throws Interrupted, before
  // the next point, once the flag is set, also if it was set during the last step.
  void run(std::size_t points, const std::function<void(std::size_t)>& step,
           const std::function<double(std::size_t)>& weight = {});

  // For a step to tell which share of its point is done, in [0, 1].
  void point_progress(double share);

  const StopFlag& stop() const { return stop_; }

 private:
  void report();

  const StopFlag& stop_;
  Observer observer_;
  Progress progress_;
  double total_weight_ = 0;
  double done_weight_ = 0;   // of the points before the present one
  double point_weight_ = 0;  // of the present one
  double point_share_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ropelab
