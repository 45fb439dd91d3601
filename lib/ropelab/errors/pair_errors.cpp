#include "ropelab/errors/pair_errors.hpp"

#include <algorithm>
#include <cmath>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

// An error measure: what F is compared with, quickly and exactly.
enum class Against { simulated, bias };

// The largest |F - target| over diagonals 0 ... last. On a diagonal it is reached by the least
// or the greatest F. Double-double picks the few diagonals whose errors are worth computing
// exactly.
class LargestErrorSearch {
 public:
  LargestErrorSearch(const DistanceReference& reference, const std::vector<Diagonal>& diagonals,
                     Against against, std::size_t last)
      : reference_(reference), diagonals_(diagonals), against_(against), last_(last) {}

  struct Extreme {
    Real error;
    std::size_t distance;
    DoubleDouble score;
  };

  // All scores that share the exact largest error; empty where no score is finite.
  std::vector<Extreme> run() const {
    std::vector<Extreme> largest;
    const double threshold = quick_threshold();
    for (std::size_t d = 0; d <= last_; ++d) {
      if (diagonals_[d].finite == 0) continue;
      consider(largest, d, diagonals_[d].least, threshold);
      consider(largest, d, diagonals_[d].greatest, threshold);
    }
    return largest;
  }

 private:
  DoubleDouble quick_target(std::size_t d) const {
    return against_ == Against::simulated ? reference_.simulated()[d] : reference_.bias(d);
  }

  double quick(std::size_t d, DoubleDouble score) const {
    return absolute(score - quick_target(d)).high;
  }

  double quick_threshold() const {
    double greatest = 0;
    for (std::size_t d = 0; d <= last_; ++d) {
      if (diagonals_[d].finite == 0) continue;
      greatest =
          std::max({greatest, quick(d, diagonals_[d].least), quick(d, diagonals_[d].greatest)});
    }
    return greatest * (1 - 0x1p-50) - 4 * reference_.simulated_error();
  }

  void consider(std::vector<Extreme>& largest, std::size_t d, DoubleDouble score,
                double threshold) const {
    if (quick(d, score) < threshold) return;
    const Real target =
        against_ == Against::simulated ? reference_.exact_simulated(d) : reference_.exact_bias(d);
    Extreme extreme{abs(to_real(score) - target), d, score};
    if (!largest.empty() && extreme.error < largest.front().error) return;
    if (!largest.empty() && extreme.error > largest.front().error) largest.clear();
    largest.push_back(std::move(extreme));
  }

  const DistanceReference& reference_;
  const std::vector<Diagonal>& diagonals_;
  Against against_;
  std::size_t last_;
};

// The rms of F - target over all finite pairs: about its centre c a diagonal of n scores has
// sum (F-t)^2 = sum (F-c)^2 + 2(c-t) sum (F-c) + n (c-t)^2.
std::optional<double> root_mean_square(const DistanceReference& reference,
                                       const std::vector<Diagonal>& diagonals, Against against) {
  DoubleDouble sum;
  std::uint64_t count = 0;
  for (std::size_t d = 0; d < diagonals.size(); ++d) {
    const Diagonal& diagonal = diagonals[d];
    if (diagonal.finite == 0) continue;
    const DoubleDouble target =
        against == Against::simulated ? reference.simulated()[d] : reference.bias(d);
    const DoubleDouble offset = diagonal.center - target;
    const DoubleDouble here = offset * offset * static_cast<double>(diagonal.finite) +
                              offset * (2 * diagonal.sum) + diagonal.sum_of_squares;
    sum = sum + here;
    count += diagonal.finite;
  }
  if (count == 0) return std::nullopt;
  return std::sqrt(std::max(0.0, (sum / DoubleDouble{static_cast<double>(count), 0}).high));
}

std::optional<double> largest_error(const DistanceReference& reference,
                                    const std::vector<Diagonal>& diagonals, Against against,
                                    std::size_t last) {
  const auto largest = LargestErrorSearch(reference, diagonals, against, last).run();
  if (largest.empty()) return std::nullopt;
  return to_double(largest.front().error);
}

struct Scores {
  const Pipeline& pipeline;
  const ExactInput& scale;
  const RotatedTable& table;
};

std::optional<LargestError> locate(const std::vector<LargestErrorSearch::Extreme>& largest,
                                   const Scores& scores, long long first_position) {
  if (largest.empty()) return std::nullopt;
  std::pair<std::size_t, std::size_t> best{scores.table.size(), 0};
  for (const auto& extreme : largest) {
    const std::size_t i = first_query_with(scores.pipeline, scores.scale, scores.table,
                                           extreme.distance, extreme.score);
    best = std::min(best, {i, i - extreme.distance});
  }
  return LargestError{to_double(largest.front().error),
                      first_position + static_cast<long long>(best.first),
                      first_position + static_cast<long long>(best.second)};
}

void count_pairs(const std::vector<Diagonal>& diagonals, PairErrors& errors) {
  std::uint64_t lost = 0;
  for (const Diagonal& diagonal : diagonals) {
    errors.pairs += diagonal.pairs;
    errors.nonfinite_pairs += diagonal.pairs - diagonal.finite;
    lost += diagonal.order_lost;
  }
  const std::uint64_t neighbours = errors.pairs - diagonals.size();
  if (neighbours > 0) errors.order_lost = to_double(Rational(lost, neighbours));
}

PairErrors gather(const DistanceReference& reference, const std::vector<Diagonal>& diagonals,
                  const Scores& scores, long long first_position) {
  const std::size_t last = diagonals.size() - 1;
  const auto reach = static_cast<unsigned long long>(visible_reach(reference.construction().slope));
  PairErrors errors;
  count_pairs(diagonals, errors);
  errors.rounding_maximum =
      locate(LargestErrorSearch(reference, diagonals, Against::simulated, last).run(), scores,
             first_position);
  errors.rounding_rms = root_mean_square(reference, diagonals, Against::simulated);
  errors.total_maximum = largest_error(reference, diagonals, Against::bias, last);
  errors.total_rms = root_mean_square(reference, diagonals, Against::bias);
  errors.visible_maximum =
      largest_error(reference, diagonals, Against::bias,
                    static_cast<std::size_t>(std::min<unsigned long long>(reach, last)));
  return errors;
}

}  // namespace

ExactInput score_scale(const Construction& construction) {
  return ExactInput(Algebraic() / square_root(Rational(construction.head_dim)));
}

std::optional<double> last_query_total_variation(const Pipeline& pipeline,
                                                 const DistanceReference& reference,
                                                 const RotatedTable& table) {
  const ExactInput scale = score_scale(reference.construction());
  const std::size_t last = table.size() - 1;
  std::vector<DoubleDouble> row(table.size());
  for (std::size_t d = 0; d <= last; ++d) {
    row[d] = score_at(pipeline, scale, table, last, last - d);
    if (!std::isfinite(row[d].high)) return std::nullopt;
  }
  return total_variation(reference.native_weights(), softmax(row));
}

Measurement measure_all_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                              long long first_position, const Interruption& interruption) {
  const Construction& construction = reference.construction();
  const ExactInput scale = score_scale(construction);
  const RotatedTable table =
      rotated_table(pipeline, construction, first_position, reference.context());
  const Scores scores{pipeline, scale, table};
  const auto diagonals =
      measure_diagonals(pipeline, scale, table, reference.simulated(), interruption);
  return {gather(reference, diagonals, scores, first_position),
          last_query_total_variation(pipeline, reference, table)};
}

}  // namespace ropelab
