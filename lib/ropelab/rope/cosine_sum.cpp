#include "ropelab/rope/cosine_sum.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "ropelab/exact/double_double.hpp"

namespace ropelab {
namespace {

// cos(2 pi phase/2^64) within 2^-46. The phase becomes an angle x in [0, pi/2] within 2^-50. The
// series ends with x^20/20!; what is left is below x^22/22! < 2^-55, and Horner's scheme on
// numbers whose magnitudes add up to cosh(pi/2) < 2.6 loses less than 2 * 11 * 2.6 * 2^-53 < 2^-47.
double cosine_of_turn(std::uint64_t phase) {
  constexpr double unit = 2 * std::numbers::pi * 0x1p-64;
  constexpr std::uint64_t quarter = std::uint64_t{1} << 62;
  const std::uint64_t folded = std::min(phase, ~phase + 1);  // cos(-x) = cos(x)
  const bool far = folded > quarter;                         // cos(pi - x) = -cos(x)
  const double x = unit * static_cast<double>(far ? 2 * quarter - folded : folded);
  const double z = x * x;
  constexpr double coefficients[] = {1.0 / 6402373705728000,
                                     1.0 / 20922789888000,
                                     1.0 / 87178291200,
                                     1.0 / 479001600,
                                     1.0 / 3628800,
                                     1.0 / 40320,
                                     1.0 / 720,
                                     1.0 / 24,
                                     1.0 / 2,
                                     1.0};
  double sum = 1.0 / 2432902008176640000;
  for (const double coefficient : coefficients) sum = coefficient - z * sum;
  return far ? -sum : sum;
}

// x without its fraction, or 1 less; 0 <= x < 2^62.
std::uint64_t whole_units(DoubleDouble x) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x.high) +
                                    static_cast<std::int64_t>(std::floor(x.low)));
}

// The same in single precision, for a phase of 32 bits, within about 1e-6; in plain operations,
// so that the compiler can do several at a time.
float rough_cosine_of_turn(std::int32_t phase) {
  const float from_quarter = std::fabs(static_cast<float>(phase)) * 0x1p-32F - 0.25F;
  const float x = from_quarter * 6.2831853F, z = x * x;
  return -x * (1 + z * (-1.6666667e-1F +
                        z * (8.3333333e-3F +
                             z * (-1.9841270e-4F + z * (2.7557319e-6F - z * 2.5052108e-8F)))));
}

constexpr int kDistances = 256;  // at a time

struct RoughSums {
  float values[kDistances] = {};

  // f at the distances from `first` on.
  RoughSums(const std::vector<std::uint64_t>& turns, long long first) {
    for (const std::uint64_t turn : turns) {
      const std::uint64_t start = static_cast<std::uint64_t>(first) * turn;
      for (std::uint64_t n = 0; n < kDistances; ++n) {
        const auto phase = static_cast<std::uint32_t>((start + n * turn) >> 32);
        values[n] += rough_cosine_of_turn(static_cast<std::int32_t>(phase));
      }
    }
  }
};

}  // namespace

CosineSum::CosineSum(int rope_dim, double ratio) : ratio_(ratio) {
  if (rope_dim < 2 || rope_dim % 2 != 0) {
    throw std::invalid_argument(
        fmt::format("rope_dim is {}; it must be an even number from 2 on", rope_dim));
  }
  if (!(ratio > 0 && ratio <= 1)) {
    throw std::invalid_argument(
        fmt::format("the ratio of frequencies is {}; it must be above 0 and at most 1", ratio));
  }
  static const DoubleDouble units_per_radian = to_double_double(Real(ldexp(Real(1), 63) / pi()));
  DoubleDouble scaled = units_per_radian;
  for (int pair = 0; pair < rope_dim / 2; ++pair) {
    turns_.push_back(whole_units(scaled));
    scaled = scaled * ratio;
  }
}

// A cosine is off by 2^-46 of its own and by 2 * 2 pi * distance * 2^-64 of its phase; the
// additions lose less than pairs^2 * 2^-53.
Enclosure CosineSum::quickly(long long distance) const {
  double sum = 0;
  for (const std::uint64_t turn : turns_) {
    sum += cosine_of_turn(static_cast<std::uint64_t>(distance) * turn);
  }
  const double count = pairs();
  return {sum, count * (0x1p-46 + static_cast<double>(distance) * 0x1p-60 + count * 0x1p-52)};
}

// Real is good to 2^-500 relative for each phase below 2^32 and each cosine.
Enclosure CosineSum::closely(long long distance) const {
  Real sum = 0, phase = distance;
  for (int pair = 0; pair < pairs(); ++pair) {
    sum += cosine(phase);
    phase *= ratio_;
  }
  const double value = to_double(sum);
  return {value, std::max(std::fabs(value) * 0x1p-52, 0x1p-400)};
}

Enclosure CosineSum::at(long long distance) const {
  const auto is_certain = [](const Enclosure& f) { return f.error < std::fabs(f.value) / 16; };
  if (const Enclosure f = quickly(distance); is_certain(f)) return f;
  if (const Enclosure f = closely(distance); is_certain(f)) return f;
  throw std::logic_error("a sum of cosines is too close to 0");
}

std::vector<long long> CosineSum::negative_distances(long long first, long long end,
                                                     std::size_t count) const {
  const float threshold = static_cast<float>(pairs()) * 0x1p-13F;
  std::vector<long long> found;
  long long blocks = 32;  // at a time, more and more: most searches end early
  for (; first < end && found.size() < count;
       first += blocks * kDistances, blocks = std::min(2 * blocks, 512LL)) {
    std::vector<std::vector<long long>> of_block(static_cast<std::size_t>(blocks));
    tbb::parallel_for(std::size_t{0}, of_block.size(), [&](std::size_t block) {
      const long long start = first + static_cast<long long>(block) * kDistances;
      if (start >= end) return;
      const RoughSums sums(turns_, start);
      for (long long d = start; d < std::min(start + kDistances, end); ++d) {
        if (sums.values[d - start] < threshold && at(d).value < 0) of_block[block].push_back(d);
      }
    });
    for (const auto& distances : of_block) {
      found.insert(found.end(), distances.begin(), distances.end());
    }
  }
  found.resize(std::min(found.size(), count));
  return found;
}

double curvature_bound(int rope_dim, long long distance, double ratio) {
  const auto d = static_cast<double>(distance);
  double bound = 0;
  double before = 0, power = 1;  // t^(r-2), t^(r-1)
  for (int r = 1; r < rope_dim / 2; ++r) {
    const double slope = d * r * power;
    bound += slope * slope + d * r * (r - 1) * before;
    before = power;
    power *= ratio;
  }
  return 1.001 * bound;
}

}  // namespace ropelab
