// Products of axes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ropelab {

// The product of axes of the given lengths; its points are numbered so that the first axis
// varies slowest and the last one fastest. Without axes it has one point; with an axis of
// length 0, none.
class Grid {
 public:
  // Throws std::overflow_error for more than 2^63 points.
  explicit Grid(std::vector<std::size_t> lengths);

  std::size_t size() const { return size_; }
  // The place of a point on each axis. Throws std::out_of_range from size() on.
  std::vector<std::size_t> at(std::size_t point) const;

 private:
  std::vector<std::size_t> lengths_;
  std::size_t size_ = 1;
};

}  // namespace ropelab
