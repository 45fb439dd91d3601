// What the attention weights of one query are like, and how far two sets of them are apart.
#pragma once

#include <vector>

#include "ropelab/exact/double_double.hpp"

namespace ropelab {

// The weights w(d) = e^score(d) / sum of them that a query gives to the keys at distances
// d = 0 ... size-1.
class AttentionWeights {
 public:
  // Of at least one score, all finite, in order of distance. Throws std::invalid_argument for
  // anything else. O(size) time, a few tenths of a microsecond a key.
  explicit AttentionWeights(std::vector<DoubleDouble> scores);

  std::size_t size() const { return scores_.size(); }
  // As softmax() gives them.
  const std::vector<DoubleDouble>& weights() const { return weights_; }
  // ln w(d), finite also where w(d) itself is below every double.
  DoubleDouble logarithm(std::size_t distance) const;

 private:
  std::vector<DoubleDouble> scores_, weights_;
  DoubleDouble greatest_;            // score
  DoubleDouble greatest_logarithm_;  // ln of its weight
};

// Of the n weights w of one query. Names and definitions are those in use for what is read off
// attention maps: the variance is that of the population of the n keys.
struct WeightStatistics {
  double entropy;        // -sum w ln w, nats; 0 ln 0 = 0
  double greatest;       // the largest w
  double variance;       // 1/n sum (w - 1/n)^2
  double half_distance;  // the smallest D with w(0) + ... + w(D) >= 1/2
};
// Absolute errors are below 2^-70, before the last rounding to double; a sum within 2^-80 of 1/2
// counts as half.
WeightStatistics statistics_of(const AttentionWeights& weights);

// How far the weights q are from the weights p of the same query.
struct WeightChange {
  double total_variation;  // 1/2 sum |p - q|, in [0, 1]
  // KL(p || q) = sum p ln(p/q), nats; finite, since every weight is positive.
  double divergence;
  double largest;  // the largest |p - q|
};
// p and q are of one size. total_variation and largest are good to 2^-85 absolute; the divergence
// to 2^-40 relative down to 2^-100, and to 2^-140 absolute below: no term of the sum that is taken,
// p (q/p - 1 - ln(q/p)), is negative, where sum p ln(p/q) would lose all that is below the
// precision of the weights.
WeightChange change_between(const AttentionWeights& p, const AttentionWeights& q);

}  // namespace ropelab
