// How long work, in this room and in those above, is asked to stop and says how far it has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace ropelab {

// Thrown where work ends before its time.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Told the share of some work that is done, in [0, 1]: by any of its threads, several at once.
using ShareObserver = std::function<void(double)>;

// Polled by long loops; a default one never stops, and nobody watches it.
class Interruption {
 public:
  Interruption() = default;
  // Stops once `flag` is true; the flag must outlive the work.
  explicit Interruption(const std::atomic<bool>& flag) : flag_(&flag) {}
  // The same, with an observer, which must outlive the work.
  Interruption watched_by(const ShareObserver& observer) const {
    Interruption watched = *this;
    watched.observer_ = &observer;
    return watched;
  }

  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Interrupted();
  }
  void tell(double share) const {
    if (observer_ != nullptr) (*observer_)(share);
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  const ShareObserver* observer_ = nullptr;
};

// Counts the parts of some work, done by any thread, and tells their share of all.
class PartsDone {
 public:
  PartsDone(const Interruption& interruption, std::uint64_t all)
      : interruption_(interruption), all_(all) {}

  void add(std::uint64_t parts) {
    const std::uint64_t done = done_.fetch_add(parts, std::memory_order_relaxed) + parts;
    interruption_.tell(static_cast<double>(done) / static_cast<double>(all_));
  }

 private:
  const Interruption& interruption_;
  std::uint64_t all_;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace ropelab
