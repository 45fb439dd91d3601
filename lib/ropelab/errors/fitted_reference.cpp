#include "ropelab/errors/fitted_reference.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace ropelab {
namespace {

// One pair's share of the simulated bias.
struct Wave {
  Real theta, cosine, sine;  // amplitudes in logits
  DoubleDouble quick_theta, quick_cosine, quick_sine;

  Real exact(std::size_t distance) const {
    const Real phase = theta * Real(distance);
    return cosine * ropelab::cosine(phase) + sine * ropelab::sine(phase);
  }

  DoubleDouble quick(std::size_t distance) const {
    const DoubleDouble phase = quick_theta * static_cast<double>(distance);
    if (!(phase.high <= largest_quick_angle)) return to_double_double(exact(distance));
    const SineCosine turn = sine_cosine(phase);
    return quick_cosine * turn.cosine + quick_sine * turn.sine;
  }

  // Theta u^2/2, the phase 2.5u^2 with it, sine and cosine 8u^2 absolute, products and sum some
  // 15u^2 relative: with u^2 = 2^-106, below 2^-101 (1 + phase) of the amplitudes.
  double error(std::size_t distance) const {
    const double phase = quick_theta.high * static_cast<double>(distance);
    return 0x1p-100 * (1 + phase) * (std::fabs(quick_cosine.high) + std::fabs(quick_sine.high));
  }
};

Wave wave_of(const RotatedPair& pair, const Real& scale) {
  const auto product = [](double a, double b) -> Real { return Real(a) * Real(b); };
  const Real theta = pair.theta.to_real();
  const Real cosine =
      scale * (product(pair.query[0], pair.key[0]) + product(pair.query[1], pair.key[1]));
  const Real sine =
      scale * (product(pair.query[0], pair.key[1]) - product(pair.query[1], pair.key[0]));
  return {theta,
          cosine,
          sine,
          to_double_double(theta),
          to_double_double(cosine),
          to_double_double(sine)};
}

}  // namespace

DistanceFunction linear_bias(const Algebraic& slope) {
  const Real exact = slope.to_real();
  const DoubleDouble quick = to_double_double(exact);
  return {[exact](std::size_t d) -> Real { return -(exact * Real(d)); },
          [quick](std::size_t d) { return -(quick * static_cast<double>(d)); },
          [quick](std::size_t d) { return 0x1p-103 * quick.high * static_cast<double>(d); }};
}

DistanceFunction shifted(const DistanceFunction& function, const Real& constant) {
  const DoubleDouble quick = to_double_double(constant);
  const auto size = [function, quick](std::size_t d) {
    return std::fabs(function.quick(d).high) + std::fabs(quick.high);
  };
  return {[=](std::size_t d) -> Real { return function.exact(d) + constant; },
          [=](std::size_t d) { return function.quick(d) + quick; },
          [=](std::size_t d) { return function.error(d) + 0x1p-103 * size(d); }};
}

DistanceFunction simulated_by(const std::vector<RotatedPair>& pairs, const Algebraic& scale) {
  std::vector<Wave> waves;
  for (const RotatedPair& pair : pairs) waves.push_back(wave_of(pair, scale.to_real()));
  return {[waves](std::size_t d) {
            Real sum = 0;
            for (const Wave& wave : waves) sum += wave.exact(d);
            return sum;
          },
          [waves](std::size_t d) {
            DoubleDouble sum;
            for (const Wave& wave : waves) sum = sum + wave.quick(d);
            return sum;
          },
          [waves](std::size_t d) {
            double sum = 0;
            for (const Wave& wave : waves) sum += wave.error(d);
            return sum * (1 + 0x1p-3 * static_cast<double>(waves.size()));
          }};
}

FittedReference::FittedReference(DistanceFunction simulated, DistanceFunction bias,
                                 std::size_t distances, const Interruption& interruption)
    : BiasReference(distances), simulated_of_(std::move(simulated)), bias_(std::move(bias)) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, distances, 256), [&](const auto& range) {
    interruption.check();
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      simulated_[d] = simulated_of_.quick(d);
      truncation_[d] = simulated_[d] - bias_.quick(d);
    }
  });
  weigh();
}

FittedTruncation fitted_truncation(const BiasReference& reference, std::size_t positions) {
  const std::size_t distances = reference.context();
  const auto size = [&](std::size_t d) { return std::fabs(reference.truncation()[d].high); };
  const auto error = [&](std::size_t d) {
    return reference.simulated_error(d) + reference.bias_error(d) + 0x1p-50 * size(d);
  };
  double threshold = 0, relative = 0;
  DoubleDouble squares;
  for (std::size_t d = 0; d < distances; ++d) {
    threshold = std::max(threshold, size(d) - error(d));
    const double bias = std::fabs(reference.bias(d).high);
    if (bias > 0) relative = std::max(relative, size(d) / bias);
    const DoubleDouble here = reference.truncation()[d];
    squares = squares + here * here * static_cast<double>(positions - d);
  }
  Real maximum = 0;
  for (std::size_t d = 0; d < distances; ++d) {
    if (size(d) + error(d) < threshold) continue;
    maximum = std::max(maximum, Real(abs(reference.exact_truncation(d))));
  }
  const auto pairs = static_cast<double>(pairs_at(reference.all_distances(), positions));
  const double rms = std::sqrt((squares / DoubleDouble{pairs, 0}).high);
  return {reference.error_unit().rounded(maximum), relative, reference.error_unit().rounded(rms)};
}

}  // namespace ropelab
