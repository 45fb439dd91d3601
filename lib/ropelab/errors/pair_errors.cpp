#include "ropelab/errors/pair_errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/error_measures.hpp"
#include "ropelab/errors/exact_errors.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/simulation/budget.hpp"

namespace ropelab {
namespace {

struct Scores {
  const Pipeline& pipeline;
  const ExactInput& scale;
  const RotatedTable& table;
};

// The scores at these distances that can have the largest error: on a diagonal the least or the
// greatest has it.
std::vector<DistanceScore> extremes(const std::vector<Diagonal>& diagonals,
                                    DistanceRange distances) {
  std::vector<DistanceScore> scores;
  for (std::size_t d = distances.first; d <= distances.last; ++d) {
    if (diagonals[d].finite == 0) continue;
    scores.push_back({d, diagonals[d].least});
    scores.push_back({d, diagonals[d].greatest});
  }
  return scores;
}

std::optional<LargestError> locate_largest(const std::vector<DistanceScore>& extremes,
                                           const Target& target, const Scores& scores,
                                           long long first_position) {
  const auto largest = largest_among(extremes, target);
  if (!largest) return std::nullopt;
  std::pair<std::size_t, std::size_t> best{scores.table.size(), 0};
  for (const std::size_t place : largest->places) {
    const auto [distance, score] = extremes[place];
    const std::size_t i =
        first_query_with(scores.pipeline, scores.scale, scores.table, distance, score);
    best = std::min(best, {i, i - distance});
  }
  return LargestError{target.unit().rounded(largest->error),
                      first_position + static_cast<long long>(best.first),
                      first_position + static_cast<long long>(best.second)};
}

// The moments again, by the plain definition and in a unit of their own.
Moments moments_in_unit(const Scores& scores, std::size_t distance, const Diagonal& diagonal,
                        int exponent) {
  const double per_unit = std::ldexp(1.0, -exponent);
  const auto in_units = [&](DoubleDouble x) {
    return DoubleDouble{x.high * per_unit, x.low * per_unit};
  };
  const DoubleDouble center =
      std::isfinite(diagonal.center.high) ? diagonal.center : diagonal.least;
  Moments moments{distance, static_cast<double>(diagonal.finite), center, 0, 0, exponent};
  for (std::size_t i = distance; i < scores.table.size(); ++i) {
    const DoubleDouble f = score_at(scores.pipeline, scores.scale, scores.table, i, i - distance);
    if (!std::isfinite(f.high)) continue;
    const double deviation = (in_units(f) - in_units(center)).high;
    moments.sum += deviation;
    moments.sum_of_squares += deviation * deviation;
  }
  return moments;
}

Moments moments_of(const Scores& scores, std::size_t distance, const Diagonal& diagonal) {
  const double deviation = absolute(diagonal.greatest - diagonal.center).high +
                           absolute(diagonal.least - diagonal.center).high;
  if (!squares_are_sound(deviation)) {
    return moments_in_unit(scores, distance, diagonal, unit_exponent(deviation));
  }
  return {distance,
          static_cast<double>(diagonal.finite),
          diagonal.center,
          diagonal.sum,
          diagonal.sum_of_squares,
          0};
}

std::vector<Moments> moments_at(DistanceRange distances, const Scores& scores,
                                const std::vector<Diagonal>& diagonals,
                                const Interruption& interruption) {
  std::vector<Moments> moments(distances.last - distances.first + 1);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, moments.size(), 64), [&](const auto& range) {
    interruption.check();
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      const std::size_t d = distances.first + n;
      if (diagonals[d].finite > 0) moments[n] = moments_of(scores, d, diagonals[d]);
    }
  });
  return moments;
}

void count_pairs(const std::vector<Diagonal>& diagonals, DistanceRange distances,
                 PairErrors& errors) {
  std::uint64_t lost = 0, neighbours = 0;
  for (std::size_t d = distances.first; d <= distances.last; ++d) {
    const Diagonal& diagonal = diagonals[d];
    errors.pairs += diagonal.pairs;
    errors.nonfinite_pairs += diagonal.pairs - diagonal.finite;
    lost += diagonal.order_lost;
    if (d > 0) neighbours += diagonal.pairs;
  }
  if (neighbours > 0) errors.order_lost = to_double(Rational(lost, neighbours));
}

// `visible` is the last visible distance.
PairErrors gather(DistanceRange distances, const BiasReference& reference, std::size_t visible,
                  const std::vector<Diagonal>& diagonals, const Scores& scores,
                  long long first_position, const Interruption& interruption) {
  const std::size_t reach = std::min(visible, distances.last);
  const Target simulated(reference, Against::simulated), bias(reference, Against::bias);
  const auto all = extremes(diagonals, distances);
  const auto moments = moments_at(distances, scores, diagonals, interruption);
  PairErrors errors;
  count_pairs(diagonals, distances, errors);
  errors.rounding_maximum = locate_largest(all, simulated, scores, first_position);
  errors.rounding_rms = root_mean_square(moments, simulated);
  errors.total_maximum = largest_error(all, bias);
  errors.total_rms = root_mean_square(moments, bias);
  errors.visible_maximum = largest_error(extremes(diagonals, {distances.first, reach}), bias);
  return errors;
}

std::optional<double> total_variation_of_last_query(const Pipeline& pipeline,
                                                    const ExactInput& scale,
                                                    const BiasReference& reference,
                                                    const RotatedTable& table) {
  const std::size_t last = table.size() - 1;
  std::vector<DoubleDouble> row(reference.context());
  for (std::size_t d = 0; d < row.size(); ++d) {
    row[d] = score_at(pipeline, scale, table, last, last - d);
    if (!std::isfinite(row[d].high)) return std::nullopt;
  }
  return total_variation(reference.native_weights(), softmax(row));
}

// The scores of all causal pairs, by distance.
class AllPairs {
 public:
  AllPairs(const Pipeline& pipeline, const DistanceReference& reference, long long first_position,
           const Interruption& interruption)
      : pipeline_(pipeline),
        reference_(reference),
        first_position_(first_position),
        interruption_(interruption),
        scale_(score_scale(reference.construction())),
        visible_(visible_reach(reference.construction().slope, reference.context() - 1)),
        table_(
            rotated_table(pipeline, reference.construction(), first_position, reference.context())),
        diagonals_(
            measure_diagonals(pipeline, scale_, table_, reference.simulated(), interruption)) {}
  AllPairs(const Pipeline& pipeline, const Algebraic& scale, RotatedTable table,
           const BiasReference& reference, std::size_t visible, const Interruption& interruption)
      : pipeline_(pipeline),
        reference_(reference),
        first_position_(0),
        interruption_(interruption),
        scale_(scale),
        visible_(visible),
        table_(std::move(table)),
        diagonals_(
            measure_diagonals(pipeline, scale_, table_, reference.simulated(), interruption)) {}

  PairErrors errors(DistanceRange distances) const {
    return gather(distances, reference_, visible_, diagonals_, {pipeline_, scale_, table_},
                  first_position_, interruption_);
  }

  Measurement measurement() const {
    return {errors(reference_.all_distances()),
            total_variation_of_last_query(pipeline_, scale_, reference_, table_)};
  }

 private:
  const Pipeline& pipeline_;
  const BiasReference& reference_;
  long long first_position_;
  const Interruption& interruption_;
  ExactInput scale_;
  std::size_t visible_;
  RotatedTable table_;
  std::vector<Diagonal> diagonals_;
};

}  // namespace

ExactInput score_scale(const Construction& construction) {
  return ExactInput(Algebraic() / square_root(Rational(construction.head_dim)));
}

std::optional<double> last_query_total_variation(const Pipeline& pipeline,
                                                 const DistanceReference& reference,
                                                 const RotatedTable& table) {
  return total_variation_of_last_query(pipeline, score_scale(reference.construction()), reference,
                                       table);
}

Measurement measure_all_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                              long long first_position, const Interruption& interruption) {
  if (is_exact(pipeline)) return exact_measurement(reference, first_position);
  return AllPairs(pipeline, reference, first_position, interruption).measurement();
}

Measurement measure_rotated_pair(const Pipeline& pipeline, const Algebraic& scale,
                                 RotatedTable table, const BiasReference& reference,
                                 std::size_t visible, const Interruption& interruption) {
  return AllPairs(pipeline, scale, std::move(table), reference, visible, interruption)
      .measurement();
}

std::vector<PairErrors> errors_at(const std::vector<DistanceRange>& ranges,
                                  const Pipeline& pipeline, const DistanceReference& reference,
                                  long long first_position, const Interruption& interruption) {
  if (is_exact(pipeline)) return exact_errors_at(ranges, reference, first_position);
  const AllPairs pairs(pipeline, reference, first_position, interruption);
  std::vector<PairErrors> errors;
  for (const DistanceRange& distances : ranges) errors.push_back(pairs.errors(distances));
  return errors;
}

}  // namespace ropelab
