// A seeded sample of the causal pairs, for contexts too long to look at all of them.
#pragma once

#include "ropelab/errors/pair_errors.hpp"

namespace ropelab {

struct SampledPair {
  std::uint64_t i, j;  // within the context: 0 <= j <= i < context
  double weight;       // how many pairs it stands for
};

// `count` distinct causal pairs (all of them if there are no more), in order of distance and
// then of i: (0,0), (L-1,0) and (L-1,L-1) first of all, each for itself, and the rest in equal
// numbers from the strata d = 0, 1, 2-3, 4-7, ... (a stratum with too few pairs is taken whole
// and leaves its share to the others), uniformly within a stratum. The weights add up to the
// number of all pairs. The same seed gives the same sample everywhere.
std::vector<SampledPair> sample_pairs(std::uint64_t context, std::uint64_t count,
                                      std::uint64_t seed);

// As measure_all_pairs, over such a sample: maxima and nonfinite_pairs are of the pairs looked
// at, rms and order_lost estimate those of all pairs. order_lost looks at (i, j+1) beside each
// (i, j) with j < i. The weights of the last query are not sampled, and where no
// step rounds, the errors of all pairs are known.
Measurement measure_sampled_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                                  long long first_position, std::uint64_t count, std::uint64_t seed,
                                  const Interruption& interruption = {});

// The errors of measure_sampled_pairs for each of these ranges of distances by itself, as
// errors_at gives them for all pairs.
std::vector<PairErrors> sampled_errors_at(const std::vector<DistanceRange>& ranges,
                                          const Pipeline& pipeline,
                                          const DistanceReference& reference,
                                          long long first_position, std::uint64_t count,
                                          std::uint64_t seed,
                                          const Interruption& interruption = {});

}  // namespace ropelab
