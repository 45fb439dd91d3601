// Simulated annealing of designs of slow pairs; internal to this room.
#pragma once

#include <cstdint>
#include <vector>

#include "ropelab/design/frequencies.hpp"
#include "ropelab/design/head_design.hpp"

namespace ropelab {

// What was made of these designs by random changes, for about 2^29 products (a quarter of that for
// single): at most two different ones, in order. Their pairs are turned, scaled, and given more or
// less of the step and other frequencies, for method grid others of the grid; the parts of single
// stay on their axes.
//
// It takes those starts whose errors SteadyErrors tells; empty where there are none, for an
// objective but total, a window, keys ahead, a pipeline with steps but the storage of less than 8
// bits more than it has, and where designs may not be polished.
//
// Deterministic under the seed, on any number of threads. Throws Interrupted.
std::vector<HeadDesign> annealed(const HeadTask& task, const std::vector<HeadDesign>& starts,
                                 Objective objective, const Frequencies& grid, std::uint64_t seed,
                                 const Interruption& interruption = {});

}  // namespace ropelab
