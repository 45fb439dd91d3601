// Frequencies of a grid with their doubles; internal to this room.
#pragma once

#include <vector>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// An exact frequency is evaluated to many digits each time: its double is kept beside it.
struct Frequency {
  Algebraic exact;
  double theta;  // rad per position
};
using Frequencies = std::vector<Frequency>;

// All of them, the slowest first.
Frequencies slowest_first(const std::vector<Algebraic>& grid);

}  // namespace ropelab
