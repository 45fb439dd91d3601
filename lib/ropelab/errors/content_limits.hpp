// The first queries at which scores among content give out; internal to this room.
#pragma once

#include <optional>

#include "ropelab/errors/content_scores.hpp"
#include "ropelab/errors/reference.hpp"

namespace ropelab {

// Rows are queries, counted from the first position of the scores. Each function goes over them in
// order, 64 at a time by the vector kernels, which tell where a pair may be that is looked for;
// these are looked at by the plain definition. Time O(rows^2 head_dim), and some microseconds for
// each pair where no kernel knows the arithmetic. Throws Interrupted.

// The first of the rows begin ... end-1 with a score that is not finite.
std::optional<std::size_t> first_row_not_finite(const ContentScores& scores, std::size_t begin,
                                                std::size_t end, const Interruption& interruption);

// The first row below `end` with F(i,j) = F'(i,j) for a j < i, F' being the score of
// with_keys_moved().
std::optional<std::size_t> first_row_merged(const ContentScores& scores, std::size_t end,
                                            const Interruption& interruption);

// The first row from `begin` on with a pair, at a distance that the reference has, of which not
// |F - (B + C)| <= tolerance.
std::optional<std::size_t> first_row_beyond(const Real& tolerance, const ContentScores& scores,
                                            const DistanceReference& reference, std::size_t begin,
                                            const Interruption& interruption);

}  // namespace ropelab
