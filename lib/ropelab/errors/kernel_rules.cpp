// What the kernels need to know of numbers, apart from vectors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "ropelab/errors/kernel.hpp"

namespace ropelab::kernel {

template <class Lane>
Rounding<Lane> rounding_to(const Format& format) {
  Rounding<Lane> to;
  to.least_power = static_cast<Lane>(std::ldexp(1.0, format.min_exponent));
  to.magic =
      static_cast<Lane>(std::ldexp(1.5, std::numeric_limits<Lane>::digits - format.precision));
  to.past_range = static_cast<Lane>(
      format.overflow == Overflow::infinity   ? std::numeric_limits<double>::infinity()
      : format.overflow == Overflow::saturate ? format.largest
                                              : std::numeric_limits<double>::quiet_NaN());
  // Half a last place beyond the largest number is a tie; which way it goes depends on the
  // format, so it is asked.
  const Lane tie = static_cast<Lane>(format.largest + ulp(format, format.largest) / 2);
  const bool tie_in_range = round_to(format, static_cast<double>(tie)) == format.largest &&
                            format.overflow != Overflow::saturate;
  to.last_in_range = tie_in_range ? tie : std::nextafter(tie, Lane{0});
  return to;
}

template Rounding<float> rounding_to<float>(const Format& format);
template Rounding<double> rounding_to<double>(const Format& format);

Centers centers_at(const std::array<double, block>& center) {
  Centers centers;
  centers.center = center;
  std::transform(center.begin(), center.end(), centers.quantum.begin(), quantum_of);
  centers.common_quantum = *std::min_element(centers.quantum.begin(), centers.quantum.end());
  for (const double x : center) centers.furthest = std::max(centers.furthest, std::abs(x));
  // Through the means of the first and the second half.
  constexpr std::size_t half = block / 2;
  const auto mean = [](auto from) { return std::accumulate(from, from + half, 0.0) / half; };
  const double near = mean(center.begin()), far = mean(center.begin() + half);
  centers.line_slope = (far - near) / half;
  centers.line_start = near - centers.line_slope * (half - 1) / 2;
  return centers;
}

bool lies_below(const Share& share, const Share& before) {
  return before.not_finite == 0 && share.greatest < before.least;
}

double quantum_of(double x) {
  if (x == 0 || !std::isfinite(x)) return x == 0 ? std::numeric_limits<double>::infinity() : 0;
  int exponent = 0;
  const auto significand =
      static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(x, &exponent)), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(significand));
}

Share nothing_finite(std::size_t pairs, std::uint64_t lost) {
  Share share;
  share.lost = lost;
  share.not_finite = pairs;
  return share;
}

bool is_certain(Sums, const Tables<double>&, const Stretch&, const Centers&, std::size_t,
                std::size_t, const Share& share) {
  return std::isfinite(share.sum_of_squares);
}

bool is_certain(Sums sums, const Tables<float>& tables, const Stretch& stretch,
                const Centers& centers, std::size_t n, std::size_t width, const Share& share) {
  if (!std::isfinite(share.sum_of_squares)) return false;
  // Squares of 2^10 deviations, whole numbers of quanta, add up to at most 2^53 in doubles, or to
  // 2^24 in each of the lanes of float.
  static_assert(longest_stretch<float> <= 1024);
  const double quanta_allowed =
      sums == Sums::narrow ? std::sqrt(0x1p14 * static_cast<double>(width)) : 0x1p21;
  const double furthest =
      std::max(share.greatest - centers.center[n], centers.center[n] - share.least);
  const auto exact_with = [&](double quantum) {
    // No square is subnormal.
    return quantum >= 0x1p-60 && furthest <= quanta_allowed * quantum;
  };
  if (!exact_with(centers.quantum[n])) return false;
  if (exact_with(stretch.quantum)) return true;
  const bool one_sign = share.least > 0 || share.greatest < 0;
  return one_sign && exact_with(ulp(tables.score_format,
                                    std::min(std::abs(share.least), std::abs(share.greatest))));
}

// Why the kernels may add so, fused or not, all being in quanta. The products are exact, and the
// second is a whole number, as is origin - center. So
//   a = origin - center + second
// is exact if it lies in [2^23, 2^24], and a + first is then the score plus origin - center,
// rounded to a whole number; since origin - center is even, ties go as for the score alone. This
// holds if the result lies within grid_reach of the origin: with an `a` outside, and a first
// product of at most 2^22 - grid_reach, it does not; as an integer neither, and to_share sees it.
Grid choose_grid(const Tables<float>& tables, const Stretch& stretch, const Centers& centers) {
  if (tables.arithmetic != Arithmetic::exact_products) return {};
  const double allowed = grid_fineness * centers.common_quantum;
  const double exact = std::min(stretch.first_quantum, stretch.second_quantum);
  const double quantum =
      std::max(std::min(exact, allowed), ulp(tables.score_format, centers.furthest));
  // No square of a deviation is subnormal, and grid_origin quanta are in the range of float.
  if (!(quantum >= 0x1p-60 && quantum <= 0x1p60) || allowed < quantum) return {};
  if (stretch.second_quantum < quantum) return {};
  if (stretch.first_greatest > (0x1p22 - grid_reach) * quantum) return {};
  const double start = centers.line_start / quantum, slope = centers.line_slope / quantum;
  if (!(std::abs(start) + std::abs(slope) * block < 0x1p24 && std::abs(slope) < grid_reach)) {
    return {};
  }
  Grid grid;
  grid.quantum = quantum;
  grid.rounds = quantum > exact;
  double before = 0;
  for (std::size_t n = 0; n < block; ++n) {
    // A multiple of 4, so that origin - center has 24 bits and is even.
    grid.center[n] = 4 * std::trunc((start + slope * static_cast<double>(n)) / 4);
    grid.start[n] = static_cast<float>((grid_origin - grid.center[n]) * quantum);
    grid.step[n] = static_cast<std::int16_t>(n == 0 ? 0 : before - grid.center[n]);
    before = grid.center[n];
  }
  return grid;
}

bool to_share(const GridShare& from, const Grid& grid, std::size_t n, double center,
              std::size_t pairs, Share& share) {
  const double least = grid.center[n] + from.least, greatest = grid.center[n] + from.greatest;
  const double shift = grid.center[n] - center / grid.quantum;
  // Sums are rounded to the grid where it is the last place of float; where they are on it anyway,
  // they are exact up to 2^24.
  const bool is_last_place = least > 0x1p23 || greatest < -0x1p23;
  const bool is_rounded_alike = is_last_place || !grid.rounds;
  const bool is_within_reach = from.least > -grid_reach && from.greatest < grid_reach;
  if (!is_within_reach || !is_rounded_alike || std::max(-least, greatest) > 0x1p24 ||
      std::abs(shift) > grid_reach) {
    return false;
  }
  // In units of quantum / grid_fineness a deviation from `center` has 21 bits, and 2^10 squares add
  // up to 52.
  static_assert(longest_stretch<float> <= 1024);
  const auto count = static_cast<double>(pairs), sum = static_cast<double>(from.sum);
  const auto squares = static_cast<double>(from.sum_of_squares);
  share.sum = (sum + count * shift) * grid.quantum;
  share.sum_of_squares =
      (squares + (2 * sum + count * shift) * shift) * (grid.quantum * grid.quantum);
  share.least = least * grid.quantum;
  share.greatest = greatest * grid.quantum;
  share.lost = pairs - static_cast<std::uint64_t>(from.kept);
  share.not_finite = 0;
  return true;
}

}  // namespace ropelab::kernel
