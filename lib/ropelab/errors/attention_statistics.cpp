#include "ropelab/errors/attention_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

// What a sum of weights may be short of a half that it has.
constexpr double half_tolerance = 0x1p-80;

std::vector<DoubleDouble> checked(std::vector<DoubleDouble> scores) {
  const auto finite = [](DoubleDouble s) { return std::isfinite(s.high); };
  if (scores.empty() || !std::all_of(scores.begin(), scores.end(), finite)) {
    throw std::invalid_argument("attention weights need at least one score, and finite ones");
  }
  return scores;
}

double half_distance(const std::vector<DoubleDouble>& weights) {
  DoubleDouble sum;
  for (std::size_t d = 0; d < weights.size(); ++d) {
    sum = sum + weights[d];
    if (!(sum < DoubleDouble{0.5, -half_tolerance})) return static_cast<double>(d);
  }
  return static_cast<double>(weights.size() - 1);
}

// p (q/p - 1 - ln(q/p)), given t = ln(q/p).
DoubleDouble divergence_term(DoubleDouble p, DoubleDouble q, DoubleDouble t) {
  // Near 0 the difference of weights has lost what counts.
  const bool is_small = std::abs(t.high) < 1;
  return is_small ? p * (exponential_minus_one(t) - t) : (q - p) - p * t;
}

}  // namespace

AttentionWeights::AttentionWeights(std::vector<DoubleDouble> scores)
    : scores_(checked(std::move(scores))), weights_(softmax(scores_)) {
  const auto greatest = std::max_element(scores_.begin(), scores_.end());
  greatest_ = *greatest;
  const DoubleDouble weight = weights_[static_cast<std::size_t>(greatest - scores_.begin())];
  greatest_logarithm_ = to_double_double(natural_logarithm(to_real(weight)));
}

DoubleDouble AttentionWeights::logarithm(std::size_t distance) const {
  return (scores_[distance] - greatest_) + greatest_logarithm_;
}

WeightStatistics statistics_of(const AttentionWeights& weights) {
  const std::vector<DoubleDouble>& w = weights.weights();
  const DoubleDouble size{static_cast<double>(w.size()), 0};
  const DoubleDouble mean = DoubleDouble{1, 0} / size;
  DoubleDouble entropy, squares, greatest;
  for (std::size_t d = 0; d < w.size(); ++d) {
    const DoubleDouble deviation = w[d] - mean;
    squares = squares + deviation * deviation;
    greatest = std::max(greatest, w[d]);
    if (w[d].high != 0) entropy = entropy - w[d] * weights.logarithm(d);
  }
  return {entropy.high, greatest.high, (squares / size).high, half_distance(w)};
}

WeightChange change_between(const AttentionWeights& p, const AttentionWeights& q) {
  DoubleDouble divergence, largest;
  for (std::size_t d = 0; d < p.size(); ++d) {
    const DoubleDouble a = p.weights()[d], b = q.weights()[d];
    if (a.high == 0 && b.high == 0) continue;
    largest = std::max(largest, absolute(a - b));
    divergence = divergence + divergence_term(a, b, q.logarithm(d) - p.logarithm(d));
  }
  return {total_variation(p.weights(), q.weights()), std::max(divergence.high, 0.0), largest.high};
}

}  // namespace ropelab
