// Frequencies of a grid whose pairs, positions being exact, take equal parts of the step; internal
// to this room.
#pragma once

#include <cstddef>
#include <vector>

#include "ropelab/design/frequencies.hpp"
#include "ropelab/design/head_design.hpp"

namespace ropelab {

// Designs of method grid, each of so many of the frequencies that turn so little over the window
// that the storage keeps large components as they are, the first 16 of these. Fixed parts are the
// inverse of a frequency, but for powers of two: small components are positions and a power of two,
// as in shifted_copies, and what a pair takes away for each position is what the storage keeps of
// that inverse, but for a power of two. So pairs are nearly copies where these are about the same;
// the sets of frequencies are those whose sum is nearest to the step per position and whose parts
// are nearest to each other. At most 32 sets, the best first, and of each a design for each of the
// places of copies (places_of).
//
// Empty where storage has no format, for less such frequencies than pairs, or no pairs.
std::vector<std::vector<HeadDesign>> equal_shares(const HeadTask& task, const Frequencies& grid,
                                                  std::size_t pairs);

}  // namespace ropelab
