#include "ropelab/sweep/runner.hpp"

#include <limits>
#include <utility>

namespace ropelab {

double Progress::rate() const {
  const double done = static_cast<double>(points_done) + point_share;
  return done > 0 ? done / elapsed.count() : 0;
}

std::chrono::duration<double> Progress::left() const {
  if (share_done <= 0) {
    return std::chrono::duration<double>(std::numeric_limits<double>::infinity());
  }
  return elapsed * ((1 - share_done) / share_done);
}

Runner::Runner(const Interruption& interruption, Observer observer)
    : interruption_(interruption),
      share_observer_([this](double share) { point_progress(share); }),
      point_interruption_(interruption.watched_by(share_observer_)),
      observer_(std::move(observer)) {}

void Runner::run(std::size_t points, const std::function<void(std::size_t)>& step,
                 const std::function<double(std::size_t)>& weight) {
  const auto weight_of = [&weight](std::size_t point) { return weight ? weight(point) : 1.0; };
  start_ = std::chrono::steady_clock::now();
  progress_ = {0, points, 0, {}, 0};
  total_weight_ = done_weight_ = 0;
  for (std::size_t point = 0; point < points; ++point) total_weight_ += weight_of(point);
  for (std::size_t point = 0; point < points; ++point) {
    point_weight_ = weight_of(point);
    report();
    interruption_.check();
    step(point);
    interruption_.check();
    done_weight_ += point_weight_;
    progress_.point_share = 0;
    ++progress_.points_done;
  }
  point_weight_ = 0;
  report();
}

void Runner::point_progress(double share) {
  // Who finds another thread reporting has about the same to say.
  const std::unique_lock lock(reporting_, std::try_to_lock);
  if (!lock || share < progress_.point_share) return;
  progress_.point_share = share;
  report();
}

void Runner::report() {
  if (!observer_) return;
  progress_.elapsed = std::chrono::steady_clock::now() - start_;
  const double done = done_weight_ + progress_.point_share * point_weight_;
  progress_.share_done = total_weight_ > 0 ? done / total_weight_ : 0;
  observer_(progress_);
}

}  // namespace ropelab
