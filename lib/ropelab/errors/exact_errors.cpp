#include "ropelab/errors/exact_errors.hpp"

#include <algorithm>
#include <cmath>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/error_measures.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

double share_lost(DistanceRange distances, const std::vector<DoubleDouble>& scores,
                  std::size_t positions) {
  std::uint64_t lost = 0, neighbours = 0;
  for (std::size_t d = std::max<std::size_t>(distances.first, 1); d <= distances.last; ++d) {
    const std::uint64_t pairs = positions - d;
    neighbours += pairs;
    if (!(scores[d] < scores[d - 1])) lost += pairs;
  }
  return neighbours == 0 ? 0 : to_double(Rational(lost, neighbours));
}

}  // namespace

PairErrors exact_errors(DistanceRange distances, const DistanceReference& reference,
                        long long first_position) {
  const TruncationError truncation = truncation_error(reference, distances);
  const std::size_t reach = visible_reach(reference.construction().slope, distances.last);
  PairErrors errors;
  // All errors are the same, so the first pair has the largest.
  errors.rounding_maximum = {0, first_position + static_cast<long long>(distances.first),
                             first_position};
  errors.rounding_rms = 0;
  const ErrorUnit& unit = reference.error_unit();
  errors.total_maximum = unit.rounded(truncation.maximum);
  errors.total_rms = unit.rounded(truncation.rms);
  if (reach >= distances.first) {
    errors.visible_maximum = unit.rounded(reference.exact_truncation(reach));
  }
  errors.order_lost = share_lost(distances, reference.simulated(), reference.context());
  errors.pairs = pairs_at(distances, reference.context());
  return errors;
}

std::vector<PairErrors> exact_errors_at(const std::vector<DistanceRange>& ranges,
                                        const DistanceReference& reference,
                                        long long first_position) {
  std::vector<PairErrors> errors;
  for (const DistanceRange& distances : ranges) {
    errors.push_back(exact_errors(distances, reference, first_position));
  }
  return errors;
}

Measurement measure_by_distance(const std::vector<DoubleDouble>& scores, std::size_t positions,
                                const BiasReference& reference, std::size_t reach) {
  const Target simulated(reference, Against::simulated), bias(reference, Against::bias);
  std::vector<DistanceScore> finite, visible;
  std::vector<Moments> moments;
  Measurement measured;
  for (std::size_t d = 0; d < scores.size(); ++d) {
    const std::uint64_t pairs = positions - d;
    measured.errors.pairs += pairs;
    if (!std::isfinite(scores[d].high)) {
      measured.errors.nonfinite_pairs += pairs;
      continue;
    }
    finite.push_back({d, scores[d]});
    if (d <= reach) visible.push_back(finite.back());
    moments.push_back({d, static_cast<double>(pairs), scores[d], 0, 0, 0});
  }
  if (const auto largest = largest_among(finite, simulated)) {
    // The first pair at a distance has query d and key 0.
    const std::size_t d = finite[largest->places.front()].distance;
    measured.errors.rounding_maximum = {simulated.unit().rounded(largest->error),
                                        static_cast<long long>(d), 0};
  }
  measured.errors.rounding_rms = root_mean_square(moments, simulated);
  measured.errors.total_maximum = largest_error(finite, bias);
  measured.errors.total_rms = root_mean_square(moments, bias);
  measured.errors.visible_maximum = largest_error(visible, bias);
  measured.errors.order_lost = share_lost({0, scores.size() - 1}, scores, positions);
  if (measured.errors.nonfinite_pairs == 0) {
    measured.weights_total_variation = total_variation(reference.native_weights(), softmax(scores));
  }
  return measured;
}

Measurement exact_measurement(const DistanceReference& reference, long long first_position) {
  return {exact_errors(reference.all_distances(), reference, first_position),
          total_variation(reference.native_weights(), softmax(reference.simulated()))};
}

}  // namespace ropelab
