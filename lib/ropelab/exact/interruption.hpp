// How long work, in this room and in those above, is asked to stop.
#pragma once

#include <atomic>
#include <stdexcept>

namespace ropelab {

// Thrown where work ends before its time.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Polled by long loops; a default one never stops.
class Interruption {
 public:
  Interruption() = default;
  // Stops once `flag` is true; the flag must outlive the work.
  explicit Interruption(const std::atomic<bool>& flag) : flag_(&flag) {}
  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Interrupted();
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace ropelab
