#include "ropelab/errors/reference.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

constexpr std::size_t grain = 256;

DoubleDouble quick_sine(const DoubleDouble& phase, const Real& theta, std::size_t distance) {
  if (phase.high <= largest_quick_angle) return sine_cosine(phase).sine;
  return to_double_double(sine(theta * Real(distance)));
}

DoubleDouble quick_deficit(const DoubleDouble& phase, const Real& theta, std::size_t distance) {
  if (phase.high <= largest_quick_angle) return sine_deficit(phase);
  return to_double_double(sine_deficit(theta * Real(distance)));
}

// Products of a few such numbers, and the low parts of double-doubles, lose nothing.
bool is_clear_of_the_ends(const DoubleDouble& x) { return x.high > 0x1p-850 && x.high < 0x1p850; }

}  // namespace

void BiasReference::weigh() {
  std::vector<DoubleDouble> biases(context());
  for (std::size_t d = 0; d < biases.size(); ++d) biases[d] = bias(d);
  native_weights_ = softmax(biases);
}

DistanceReference::DistanceReference(const Construction& construction, std::size_t context,
                                     const Interruption& interruption)
    : BiasReference(context),
      construction_(construction),
      theta_(construction.theta.to_real()),
      slope_(construction.slope.to_real()),
      amplification_(amplification(construction).to_real()),
      quick_theta_(to_double_double(theta_)),
      quick_slope_(to_double_double(slope_)),
      quick_amplification_(to_double_double(amplification_)),
      is_quick_(is_clear_of_the_ends(quick_theta_) && is_clear_of_the_ends(quick_slope_) &&
                is_clear_of_the_ends(quick_amplification_)) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, context, grain), [&](const auto& range) {
    interruption.check();
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      const DoubleDouble phase = quick_theta_ * static_cast<double>(d);
      const DoubleDouble a = quick_amplification_;
      simulated_[d] =
          is_quick_ ? -(a * quick_sine(phase, theta_, d)) : to_double_double(exact_simulated(d));
      truncation_[d] =
          is_quick_ ? a * quick_deficit(phase, theta_, d) : to_double_double(exact_truncation(d));
    }
  });
  weigh();
}

DoubleDouble DistanceReference::bias(std::size_t distance) const {
  if (!is_quick_) return to_double_double(exact_bias(distance));
  return -(quick_slope_ * static_cast<double>(distance));
}

// Relative errors, in u^2 = 2^-106: A, theta and the slope u^2/2 each, the phase 2.5u^2 with
// them; the sine 64u^2 below a phase of 2^-8 and 8u^2 absolute beyond; the last product 5u^2.
// That is less than 2^-99 of S, or 2^-101 (1 + phase) of A.
double DistanceReference::simulated_error(std::size_t distance) const {
  if (distance == 0) return 0;
  const double phase = quick_theta_.high * static_cast<double>(distance);
  const double size = std::abs(simulated_[distance].high);
  if (!is_quick_) return 0x1p-105 * size + 0x1p-1073;
  if (phase < 0x1p-9) return 0x1p-98 * size;
  return 0x1p-100 * quick_amplification_.high * (1 + phase);
}

double DistanceReference::bias_error(std::size_t distance) const {
  if (distance == 0) return 0;
  return 0x1p-103 * std::abs(bias(distance).high) + (is_quick_ ? 0 : 0x1p-1073);
}

Real DistanceReference::phase(std::size_t distance) const { return theta_ * Real(distance); }

Real DistanceReference::exact_simulated(std::size_t distance) const {
  return -(amplification_ * sine(phase(distance)));
}

Real DistanceReference::exact_bias(std::size_t distance) const {
  return -(slope_ * Real(distance));
}

Real DistanceReference::exact_truncation(std::size_t distance) const {
  return amplification_ * sine_deficit(phase(distance));
}

namespace {

// 1 - sin(x)/x is greatest where sin(x)/x is least: at x = 4.4934... among all x, hence at the
// last distance before that, or else at one of a few that double-double tells apart.
Real relative_maximum(const DistanceReference& reference, DistanceRange distances) {
  const std::size_t first = std::max<std::size_t>(distances.first, 1), last = distances.last;
  if (last == 0) return 0;
  const auto relative = [&](std::size_t d) -> Real {
    return -reference.exact_truncation(d) / reference.exact_bias(d);
  };
  const Real theta = reference.construction().theta.to_real();
  if (theta * Real(last) <= Real("4.4934")) return relative(last);
  // Of the phase alone: bias and truncation may be beyond a double.
  const DoubleDouble quick_theta = to_double_double(theta);
  std::vector<double> quick(last + 1, 0);
  for (std::size_t d = first; d <= last; ++d) {
    const DoubleDouble phase = quick_theta * static_cast<double>(d);
    quick[d] = quick_deficit(phase, theta, d).high / phase.high;
  }
  const double greatest = *std::max_element(quick.begin(), quick.end());
  Real best = 0;
  for (std::size_t d = first; d <= last; ++d) {
    if (quick[d] >= greatest * (1 - 0x1p-44)) best = std::max(best, relative(d));
  }
  return best;
}

double truncation_rms(const DistanceReference& reference, DistanceRange distances,
                      const Real& maximum) {
  const std::size_t context = reference.context();
  if (distances.last == 0) return 0;
  const Real phase = reference.construction().theta.to_real() * Real(distances.last);
  const bool is_quick = maximum > ldexp(Real(1), -400) && maximum < ldexp(Real(1), 450) &&
                        phase > ldexp(Real(1), -250);
  if (!is_quick) return to_double(exact_truncation_rms(reference, distances));
  DoubleDouble sum;
  for (std::size_t d = distances.first; d <= distances.last; ++d) {
    const DoubleDouble error = reference.truncation()[d];
    sum = sum + error * error * static_cast<double>(context - d);
  }
  const auto pairs = static_cast<double>(pairs_at(distances, context));
  const DoubleDouble mean = sum / DoubleDouble{pairs, 0};
  return std::sqrt(mean.high);
}

}  // namespace

TruncationError truncation_error(const DistanceReference& reference, DistanceRange distances) {
  const Real maximum = reference.exact_truncation(distances.last);
  return {maximum, relative_maximum(reference, distances),
          truncation_rms(reference, distances, maximum)};
}

TruncationError truncation_error(const DistanceReference& reference) {
  return truncation_error(reference, reference.all_distances());
}

Real exact_truncation_rms(const DistanceReference& reference, DistanceRange distances,
                          const Interruption& interruption) {
  const auto [first, last] = distances;
  const std::size_t context = reference.context();
  std::vector<Real> terms(last - first + 1);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, terms.size(), grain),
                    [&, first = first](const auto& range) {
                      interruption.check();
                      for (std::size_t n = range.begin(); n != range.end(); ++n) {
                        const Real error = reference.exact_truncation(first + n);
                        terms[n] = error * error * Real(context - first - n);
                      }
                    });
  Real sum = 0;
  for (const Real& term : terms) sum += term;
  return sqrt(sum / Real(pairs_at(distances, context)));
}

}  // namespace ropelab
