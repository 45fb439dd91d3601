// Designs drawn at random, where no rule tells how rounding is best; internal to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ropelab/design/frequencies.hpp"
#include "ropelab/design/head_design.hpp"

namespace ropelab {

// So many designs of method grid, each of at most so many of the frequencies of a grid that turn by
// no more than half a radian over the window; at most the first 16 of these, more often the first.
//
// The fixed parts of a pair are its frequency's inverse, but for powers of two and a factor that
// all pairs share: their small components are about that factor times the position, and round
// alike. The pairs have shares of the step per position that differ by less than a factor of 2, and
// are turned back by the middle of the context; half of the designs also by a different part of the
// spacing of the storage there each, so that what one pair rounds up another rounds down.
//
// Every second design has no factor, so that positions are exact where the storage holds them, and
// a last pair that takes what the others, as the storage rounds their large components, leave of
// the step. What else can be chosen is drawn; frequencies that leave a factor near a power of two
// are preferred.
//
// Empty where storage has no format, for less such frequencies than pairs, or no pairs. The same
// for the same seed.
std::vector<HeadDesign> drawn_shares(const HeadTask& task, const Frequencies& grid,
                                     std::size_t pairs, int count, std::uint64_t seed);

}  // namespace ropelab
