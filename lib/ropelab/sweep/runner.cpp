#include "ropelab/sweep/runner.hpp"

#include <limits>
#include <utility>

namespace ropelab {

double Progress::rate() const {
  return points_done == 0 ? 0 : static_cast<double>(points_done) / elapsed.count();
}

std::chrono::duration<double> Progress::left() const {
  if (share_done <= 0) {
    return std::chrono::duration<double>(std::numeric_limits<double>::infinity());
  }
  return elapsed * ((1 - share_done) / share_done);
}

Runner::Runner(const Interruption& interruption, Observer observer)
    : interruption_(interruption), observer_(std::move(observer)) {}

void Runner::run(std::size_t points, const std::function<void(std::size_t)>& step,
                 const std::function<double(std::size_t)>& weight) {
  const auto weight_of = [&weight](std::size_t point) { return weight ? weight(point) : 1.0; };
  start_ = std::chrono::steady_clock::now();
  progress_ = {0, points, 0, {}};
  total_weight_ = done_weight_ = 0;
  for (std::size_t point = 0; point < points; ++point) total_weight_ += weight_of(point);
  for (std::size_t point = 0; point < points; ++point) {
    point_weight_ = weight_of(point);
    point_share_ = 0;
    report();
    interruption_.check();
    step(point);
    interruption_.check();
    done_weight_ += point_weight_;
    ++progress_.points_done;
  }
  point_weight_ = 0;
  report();
}

void Runner::point_progress(double share) {
  point_share_ = share;
  report();
}

void Runner::report() {
  if (!observer_) return;
  progress_.elapsed = std::chrono::steady_clock::now() - start_;
  const double done = done_weight_ + point_share_ * point_weight_;
  progress_.share_done = total_weight_ > 0 ? done / total_weight_ : 0;
  observer_(progress_);
}

}  // namespace ropelab
