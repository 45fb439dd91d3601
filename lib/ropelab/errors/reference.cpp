#include "ropelab/errors/reference.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

constexpr std::size_t grain = 256;
constexpr double largest_quick_angle = 0x1p40;

DoubleDouble quick_sine(const DoubleDouble& phase, const Real& theta, std::size_t distance) {
  if (phase.high <= largest_quick_angle) return sine_cosine(phase).sine;
  return to_double_double(sine(theta * Real(distance)));
}

DoubleDouble quick_deficit(const DoubleDouble& phase, const Real& theta, std::size_t distance) {
  if (phase.high <= largest_quick_angle) return sine_deficit(phase);
  return to_double_double(sine_deficit(theta * Real(distance)));
}

}  // namespace

DistanceReference::DistanceReference(const Construction& construction, std::size_t context,
                                     const Interruption& interruption)
    : construction_(construction),
      theta_(construction.theta.to_real()),
      slope_(construction.slope.to_real()),
      amplification_(amplification(construction).to_real()),
      slope_double_double_(to_double_double(slope_)),
      simulated_(context),
      truncation_(context) {
  const DoubleDouble theta = to_double_double(theta_), a = to_double_double(amplification_);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, context, grain), [&](const auto& range) {
    interruption.check();
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      const DoubleDouble phase = theta * static_cast<double>(d);
      simulated_[d] = -(a * quick_sine(phase, theta_, d));
      truncation_[d] = a * quick_deficit(phase, theta_, d);
    }
  });
  simulated_error_ = 0x1p-95 * a.high * (1 + theta.high * static_cast<double>(context));
  std::vector<DoubleDouble> biases(context);
  for (std::size_t d = 0; d < context; ++d) biases[d] = bias(d);
  native_weights_ = softmax(biases);
}

DoubleDouble DistanceReference::bias(std::size_t distance) const {
  return -(slope_double_double_ * static_cast<double>(distance));
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
Real relative_maximum(const DistanceReference& reference) {
  const std::size_t last = reference.context() - 1;
  if (last == 0) return 0;
  const auto relative = [&](std::size_t d) -> Real {
    return -reference.exact_truncation(d) / reference.exact_bias(d);
  };
  const Real theta = reference.construction().theta.to_real();
  if (theta * Real(last) <= Real("4.4934")) return relative(last);
  const auto quick = [&](std::size_t d) {
    return reference.truncation()[d].high / -reference.bias(d).high;
  };
  double greatest = 0;
  for (std::size_t d = 1; d <= last; ++d) greatest = std::max(greatest, quick(d));
  Real best = 0;
  for (std::size_t d = 1; d <= last; ++d) {
    if (quick(d) >= greatest * (1 - 0x1p-44)) best = std::max(best, relative(d));
  }
  return best;
}

}  // namespace

TruncationError truncation_error(const DistanceReference& reference) {
  const std::size_t context = reference.context();
  DoubleDouble sum;
  for (std::size_t d = 0; d < context; ++d) {
    const DoubleDouble error = reference.truncation()[d];
    sum = sum + error * error * static_cast<double>(context - d);
  }
  const double pairs = static_cast<double>(context) * static_cast<double>(context + 1) / 2;
  const DoubleDouble mean = sum / DoubleDouble{pairs, 0};
  return {reference.exact_truncation(context - 1), relative_maximum(reference),
          std::sqrt(mean.high)};
}

Real exact_truncation_rms(const DistanceReference& reference, const Interruption& interruption) {
  const std::size_t context = reference.context();
  std::vector<Real> terms(context);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, context, grain), [&](const auto& range) {
    interruption.check();
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      const Real error = reference.exact_truncation(d);
      terms[d] = error * error * Real(context - d);
    }
  });
  Real sum = 0;
  for (const Real& term : terms) sum += term;
  return sqrt(sum / (Real(context) * Real(context + 1) / 2));
}

}  // namespace ropelab
