// The errors of scores among content: the measures of the error table, with C(i,j), the exact
// score of the content as it is stored, on both sides. The rounding error is F - (S + C), the
// total error F - (B + C): of content only what its sum suffers is counted, not what storing it
// cost. The weights of the last query are those under B + C, S + C and F. Order is that of F.
#pragma once

#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/simulation/content.hpp"
#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

// As measure_all_pairs; maxima are correctly rounded. Time O(context^2 head_dim), memory
// O(context head_dim).
Measurement measure_all_pairs_among_content(const Pipeline& pipeline,
                                            const DistanceReference& reference,
                                            long long first_position, const Content& content,
                                            const Interruption& interruption = {});

// As measure_sampled_pairs, over the same sample.
Measurement measure_sampled_pairs_among_content(const Pipeline& pipeline,
                                                const DistanceReference& reference,
                                                long long first_position, const Content& content,
                                                std::uint64_t count, std::uint64_t seed,
                                                const Interruption& interruption = {});

// The same of scores that are sums of any products, without content: those of a table of positions
// 0 ... context-1, multiplied by `scale`, held against a reference of as many distances, or of
// the fewer that a window sees. `reach` is the last visible distance. Time O(context distances
// terms).
Measurement measure_all_products(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table,
                                 const BiasReference& reference, std::size_t reach,
                                 const Interruption& interruption = {});

// As errors_at: the errors of measure_all_pairs_among_content for each of these ranges of
// distances by itself.
std::vector<PairErrors> errors_at_among_content(const std::vector<DistanceRange>& ranges,
                                                const Pipeline& pipeline,
                                                const DistanceReference& reference,
                                                long long first_position, const Content& content,
                                                const Interruption& interruption = {});

// As sampled_errors_at.
std::vector<PairErrors> sampled_errors_at_among_content(
    const std::vector<DistanceRange>& ranges, const Pipeline& pipeline,
    const DistanceReference& reference, long long first_position, const Content& content,
    std::uint64_t count, std::uint64_t seed, const Interruption& interruption = {});

}  // namespace ropelab
