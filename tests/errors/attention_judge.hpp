// Attention weights, their statistics and changes by the plain definitions, in reals of 512 bits.
#pragma once

#include <algorithm>
#include <vector>

#include "ropelab/exact/real.hpp"

namespace ropelab {

// By distance, of scores by distance.
inline std::vector<Real> judged_weights(const std::vector<Real>& scores) {
  std::vector<Real> weights;
  Real sum = 0;
  for (const Real& score : scores) {
    weights.push_back(natural_exponential(score - scores.front()));
    sum += weights.back();
  }
  for (Real& weight : weights) weight /= sum;
  return weights;
}

struct JudgedStatistics {
  Real entropy = 0, greatest = 0, variance = 0;
  std::size_t half_distance = 0;
};

inline JudgedStatistics judged_statistics(const std::vector<Real>& scores) {
  const std::vector<Real> weights = judged_weights(scores);
  const Real mean = Real(1) / Real(weights.size());
  JudgedStatistics judged;
  Real sum = 0;
  for (const Real& w : weights) {
    judged.entropy -= w * natural_logarithm(w);
    judged.greatest = std::max(judged.greatest, w);
    judged.variance += (w - mean) * (w - mean) * mean;
    if (sum < Real(0.5)) ++judged.half_distance;
    sum += w;
  }
  --judged.half_distance;  // counted up to and with the key that makes half
  return judged;
}

struct JudgedChange {
  Real total_variation = 0, divergence = 0, largest = 0;
};

inline JudgedChange judged_change(const std::vector<Real>& p, const std::vector<Real>& q) {
  const std::vector<Real> a = judged_weights(p), b = judged_weights(q);
  JudgedChange judged;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const Real difference = abs(Real(a[d] - b[d]));
    judged.total_variation += difference / 2;
    judged.largest = std::max(judged.largest, difference);
    judged.divergence += a[d] * natural_logarithm(a[d] / b[d]);
  }
  return judged;
}

}  // namespace ropelab
