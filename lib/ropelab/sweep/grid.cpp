#include "ropelab/sweep/grid.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace ropelab {

Grid::Grid(std::vector<std::size_t> lengths) : lengths_(std::move(lengths)) {
  constexpr std::size_t most = std::size_t{1} << 63;
  for (const std::size_t length : lengths_) {
    if (length != 0 && size_ > most / length) throw std::overflow_error("the grid is too large");
    size_ *= length;
  }
}

std::vector<std::size_t> Grid::at(std::size_t point) const {
  if (point >= size_) throw std::out_of_range("the grid has no such point");
  std::vector<std::size_t> place(lengths_.size());
  for (std::size_t axis = lengths_.size(); axis-- > 0;) {
    place[axis] = point % lengths_[axis];
    point /= lengths_[axis];
  }
  return place;
}

}  // namespace ropelab
