#include "ropelab/errors/error_measures.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace ropelab {

DoubleDouble Target::quick(std::size_t distance) const {
  return against_ == Against::simulated ? reference_.simulated()[distance]
                                        : reference_.bias(distance);
}

double Target::quick_error(std::size_t distance) const {
  return against_ == Against::simulated ? reference_.simulated_error(distance)
                                        : reference_.bias_error(distance);
}

Real Target::exact(std::size_t distance) const {
  return against_ == Against::simulated ? reference_.exact_simulated(distance)
                                        : reference_.exact_bias(distance);
}

namespace {

// An error as double-doubles see it, and how far that may be off.
struct QuickError {
  double value, tolerance;
};

QuickError quick_error(const DistanceScore& s, const Target& target) {
  const double value = absolute(s.score - target.quick(s.distance)).high;
  return {value, value * 0x1p-50 + target.quick_error(s.distance) + 0x1p-1070};
}

}  // namespace

std::optional<LargestAmong> largest_among(const std::vector<DistanceScore>& scores,
                                          const Target& target) {
  if (scores.empty()) return std::nullopt;
  double threshold = 0;
  for (const DistanceScore& s : scores) {
    const QuickError error = quick_error(s, target);
    threshold = std::max(threshold, error.value - error.tolerance);
  }
  LargestAmong largest{-1, {}};
  for (std::size_t n = 0; n < scores.size(); ++n) {
    const QuickError quick = quick_error(scores[n], target);
    if (quick.value + quick.tolerance < threshold) continue;  // not so where it is NaN
    Real error = abs(to_real(scores[n].score) - target.exact(scores[n].distance));
    if (error < largest.error) continue;
    if (error > largest.error) largest = {std::move(error), {}};
    largest.places.push_back(n);
  }
  return largest;
}

std::optional<double> largest_error(const std::vector<DistanceScore>& scores,
                                    const Target& target) {
  const auto largest = largest_among(scores, target);
  if (!largest) return std::nullopt;
  return target.unit().rounded(largest->error);
}

namespace {

// About its centre c a set of n scores has
// sum (F-t)^2 = sum (F-c)^2 + 2(c-t) sum (F-c) + n (c-t)^2.
// Empty where the error of the target, or the range of a double, could spoil the sum.
std::optional<DoubleDouble> quick_sum_of_squares(const std::vector<Moments>& moments,
                                                 const Target& target) {
  DoubleDouble sum;
  double slack = 0;
  for (const Moments& m : moments) {
    if (m.exponent != 0) return std::nullopt;
    const DoubleDouble offset = m.center - target.quick(m.distance);
    sum = sum + (offset * offset * m.count + offset * (2 * m.sum) + m.sum_of_squares);
    const double error = target.quick_error(m.distance);
    slack += error * (2 * std::abs(offset.high * m.count + m.sum) + m.count * error);
  }
  const bool in_range = sum.high > 0x1p-900 && sum.high < 0x1p1000;
  if (!in_range || !(slack <= 0x1p-41 * sum.high)) return std::nullopt;
  return sum;
}

Real exact_sum_of_squares(const std::vector<Moments>& moments, const Target& target) {
  std::vector<Real> terms(moments.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, terms.size(), 64), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      const Moments& m = moments[n];
      const Real offset = to_real(m.center) - target.exact(m.distance);
      const Real sum = ldexp(Real(m.sum), m.exponent);
      terms[n] = offset * (offset * Real(m.count) + 2 * sum) +
                 ldexp(Real(m.sum_of_squares), 2 * m.exponent);
    }
  });
  Real sum = 0;
  for (const Real& term : terms) sum += term;
  return sum;
}

}  // namespace

bool squares_are_sound(double deviation) {
  return deviation == 0 || (deviation > 0x1p-480 && deviation < 0x1p480);
}

int unit_exponent(double x) { return std::isfinite(x) ? std::max(std::ilogb(x), -1000) : 1000; }

std::optional<double> root_mean_square(const std::vector<Moments>& moments, const Target& target) {
  DoubleDouble count;
  for (const Moments& m : moments) count = count + m.count;
  if (count.high == 0) return std::nullopt;
  if (const auto sum = quick_sum_of_squares(moments, target)) {
    return target.unit().rounded(std::sqrt((*sum / count).high));
  }
  const Real sum = exact_sum_of_squares(moments, target);
  return sum > 0 ? target.unit().rounded(sqrt(sum / to_real(count))) : 0.0;
}

}  // namespace ropelab
