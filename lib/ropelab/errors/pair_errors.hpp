// The errors of the scores over all causal pairs: the measures of the error table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/reference.hpp"

namespace ropelab {

// A largest error and where it stands: the smallest i, then j, that reach it.
struct LargestError {
  double error;    // in the reference's unit; the correctly rounded magnitude
  long long i, j;  // positions
};

// Rounding error F - S and total error F - B, in the unit of the reference (logits, unless it is
// told otherwise), over the pairs looked at whose F is finite. What has no finite pair is empty.
struct PairErrors {
  std::optional<LargestError> rounding_maximum;
  std::optional<double> rounding_rms;
  std::optional<double> total_maximum;
  std::optional<double> total_rms;
  std::optional<double> visible_maximum;  // total error where slope * d <= 16 ln 2
  // Share of the pairs (i, j), j+1 <= i, for which not F(i,j) < F(i,j+1): the nearer of two
  // neighbouring keys does not score higher. 0 where no pair has such a neighbour.
  double order_lost = 0;
  std::uint64_t pairs = 0;
  std::uint64_t nonfinite_pairs = 0;
};

// Everything that is measured of one construction in one pipeline.
struct Measurement {
  PairErrors errors;
  // Total variation between the weights of the last query under B and under F; empty where
  // one of its scores is not finite.
  std::optional<double> weights_total_variation;
  // Among content only, whose scores join both sides: between the weights under B and under S.
  std::optional<double> exact_weights_total_variation{};
};

// 1/sqrt(head_dim), by which scores are multiplied.
ExactInput score_scale(const Construction& construction);

// Measurement::weights_total_variation of a table that begins with the reference's distance 0.
std::optional<double> last_query_total_variation(const Pipeline& pipeline,
                                                 const DistanceReference& reference,
                                                 const RotatedTable& table);

// Looks at every causal pair of positions first_position ... first_position + context - 1.
// Maxima are correctly rounded, rms correct to 1e-12 relative. Time O(context^2), or O(context)
// where no step rounds; memory O(context). Throws Interrupted.
Measurement measure_all_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                              long long first_position, const Interruption& interruption = {});

// The same of any rotated pair, whose table of positions 0 ... context-1 is given, held against a
// reference of as many distances, or of the fewer that a window sees. Scores are multiplied by
// `scale`; `visible` is the last visible distance.
Measurement measure_rotated_pair(const Pipeline& pipeline, const Algebraic& scale,
                                 RotatedTable table, const BiasReference& reference,
                                 std::size_t visible, const Interruption& interruption = {});

// The errors of measure_all_pairs for each of these ranges of distances by itself. Those of
// ranges that cover all distances once combine to the errors of all pairs: maxima by the
// largest, counts by the sum, squares of rms weighted by finite pairs, order_lost by pairs
// with d >= 1.
std::vector<PairErrors> errors_at(const std::vector<DistanceRange>& ranges,
                                  const Pipeline& pipeline, const DistanceReference& reference,
                                  long long first_position, const Interruption& interruption = {});

}  // namespace ropelab
