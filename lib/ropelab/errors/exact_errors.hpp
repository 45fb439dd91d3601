// The errors of scores that depend on distance alone: those that nothing rounds, and others.
#pragma once

#include "ropelab/errors/pair_errors.hpp"

namespace ropelab {

// The errors over a range of distances where every score is S(d) itself: those of the truncation,
// over all pairs. O(context) time.
PairErrors exact_errors(DistanceRange distances, const DistanceReference& reference,
                        long long first_position);

// For each of these ranges.
std::vector<PairErrors> exact_errors_at(const std::vector<DistanceRange>& ranges,
                                        const DistanceReference& reference,
                                        long long first_position);

// The same over all distances, with the weights of the last query under S.
Measurement exact_measurement(const DistanceReference& reference, long long first_position);

// Over the causal pairs of positions 0 ... positions-1 at the distances that `scores` has a number
// for, F(i,j) = scores[i-j], finite or not. `reach` is the last visible distance.
Measurement measure_by_distance(const std::vector<DoubleDouble>& scores, std::size_t positions,
                                const BiasReference& reference, std::size_t reach);

}  // namespace ropelab
