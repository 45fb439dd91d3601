// Frequencies of a grid with their doubles; internal to this room.
#pragma once

#include <cstddef>
#include <vector>

#include "ropelab/design/head_design.hpp"
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

// Those that turn by no more than `phase` radians over the window.
Frequencies turning_at_most(double phase, const HeadTask& task, Frequencies frequencies);

// At most so many, from the first on.
Frequencies first_of(Frequencies frequencies, std::size_t most);

// Those over whose phases large components hardly change, as the storage keeps them. Storage must
// have a format.
Frequencies steady_ones(const HeadTask& task, const Frequencies& frequencies);

}  // namespace ropelab
