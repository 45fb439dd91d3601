#include "ropelab/errors/exact_errors.hpp"

#include <algorithm>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

double share_lost(DistanceRange distances, const DistanceReference& reference) {
  const auto& scores = reference.simulated();
  std::uint64_t lost = 0, neighbours = 0;
  for (std::size_t d = std::max<std::size_t>(distances.first, 1); d <= distances.last; ++d) {
    const std::uint64_t pairs = reference.context() - d;
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
  errors.total_maximum = to_double(truncation.maximum);
  errors.total_rms = truncation.rms;
  if (reach >= distances.first) {
    errors.visible_maximum = to_double(reference.exact_truncation(reach));
  }
  errors.order_lost = share_lost(distances, reference);
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

Measurement exact_measurement(const DistanceReference& reference, long long first_position) {
  return {exact_errors(reference.all_distances(), reference, first_position),
          total_variation(reference.native_weights(), softmax(reference.simulated()))};
}

}  // namespace ropelab
