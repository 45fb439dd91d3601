// The all-pairs measurement among content: deviations of F - C from S, gathered by distance;
// internal to this room.
#pragma once

#include <vector>

#include "ropelab/errors/content_scores.hpp"
#include "ropelab/errors/kernel.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// For each distance d = 0 ... size-1, over the pairs (i, i-d): the moments and extremes of
// deviation(F, C, centers[d]) where F is finite, how many are not, and at how many keys the order
// of neighbours is lost in F.
//
// Scores are bit for bit those of score_among_content(). Moments are sums of doubles in a fixed
// order (content_kernel.hpp), so the result does not depend on threads, instruction set or
// compiler. Time O(size^2 head_dim), memory O(size head_dim). Throws Interrupted.
std::vector<kernel::Share> measure_deviations(const ContentScores& scores,
                                              const std::vector<DoubleDouble>& centers,
                                              const Interruption& interruption = {});

}  // namespace ropelab
