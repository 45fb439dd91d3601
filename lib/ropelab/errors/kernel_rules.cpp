// What the kernels need to know of numbers, apart from vectors.
#include <algorithm>
#include <bit>
#include <cmath>

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

}  // namespace ropelab::kernel
