// Keys ahead of the query: their scores as those of causal pairs; internal to this room.
#pragma once

#include "ropelab/design/head_design.hpp"

namespace ropelab {

// The pair (i, j), j > i, has the score of the causal pair (j, i) with the roles of query and key
// exchanged, and the bias B(-(j - i)): the task and the design of these pairs. The task has keys
// ahead.
HeadTask seen_by_keys(HeadTask task);
HeadDesign exchanged(HeadDesign design);

// Of the pairs (i, i), which both sides have: sums of the squares of S - B, and of F - S and F - B
// where F is finite.
struct SquaresOfDiagonal {
  std::uint64_t pairs = 0, finite_pairs = 0;
  DoubleDouble truncation, rounding, total;
};

// Of all pairs, as DesignErrors says, from the errors of the causal ones and of those exchanged.
DesignErrors of_both_sides(const DesignErrors& behind, const DesignErrors& ahead,
                           const SquaresOfDiagonal& diagonal);

}  // namespace ropelab
