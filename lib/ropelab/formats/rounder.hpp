// round_to for one format and many numbers: inline, its constants made once.
#pragma once

#include <bit>
#include <cmath>

#include "ropelab/formats/format.hpp"

namespace ropelab {

class Rounder {
 public:
  explicit Rounder(const Format& format)
      : format_(format),
        smallest_normal_(std::ldexp(1.0, format.min_exponent)),
        shift_(format.precision == 53 ? 0 : std::ldexp(1.5, 53 - format.precision)) {}

  const Format& format() const { return format_; }

  // round_to(format(), x) for any x.
  double operator()(double x) const {
    // Adding 1.5 * 2^52 ulps leaves only whole ulps, rounded to nearest even by the hardware.
    // float64 adds 0. Infinities and NaN fail the comparison, as does what overflows.
    const double magnitude = std::fabs(x);
    const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & exponent_bits);
    const double shifter = (power > smallest_normal_ ? power : smallest_normal_) * shift_;
    const double rounded = (magnitude + shifter) - shifter;
    if (!(rounded <= format_.largest)) return round_to(format_, x);
    return std::copysign(rounded, x);
  }

 private:
  static constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52;

  Format format_;
  double smallest_normal_;
  double shift_;  // from the power of two below a number to what is added to it
};

}  // namespace ropelab
