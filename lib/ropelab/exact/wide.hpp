// Inside this folder only: binary expansions taken apart and put together, and elementary
// functions with more bits than Real has.
#pragma once

#include <limits>

#include "ropelab/exact/real.hpp"

namespace ropelab::wide {

// A number with 128 guard bits over Real.
using Wide = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<640, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

// Integers of up to 2048 bits, which need no memory allocation.
using Fixed = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<2048, 2048, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::unchecked, void>,
    boost::multiprecision::et_off>;

// How many bits a non-negative integer has; 0 has none.
template <class Int>
long long bit_length(const Int& x) {
  return x == 0 ? 0 : static_cast<long long>(msb(x)) + 1;
}

// x / 2^shift for x >= 0, to nearest, ties to even.
template <class Int>
Int shift_right_rounded(const Int& x, unsigned shift) {
  if (shift == 0) return x;
  Int result = x >> shift;
  if (bit_test(x, shift - 1) && (bit_test(result, 0) || lsb(x) != shift - 1)) ++result;
  return result;
}

// magnitude * 2^exponent, magnitude >= 0, rounded to the bits of Float.
template <class Float, class Int>
Float from_integer(const Int& magnitude, long long exponent, bool negative = false) {
  using Significand = boost::multiprecision::number<typename Float::backend_type::rep_type>;
  constexpr long long kBits = std::numeric_limits<Float>::digits;
  if (magnitude == 0) return Float(0);
  Int significand = magnitude;
  long long excess = bit_length(significand) - kBits;
  if (excess > 0) {
    significand = shift_right_rounded(significand, static_cast<unsigned>(excess));
    if (bit_length(significand) > kBits) {  // rounded up to a power of two
      significand >>= 1;
      ++excess;
    }
  } else {
    significand <<= static_cast<unsigned>(-excess);
  }
  Float result;
  result.backend().bits() = static_cast<Significand>(significand).backend();
  result.backend().exponent() = static_cast<int>(exponent + excess + kBits - 1);
  result.backend().sign() = negative;
  return result;
}

// The integer significand of a finite float that is not 0: |x| = significand * 2^exponent(x).
template <class Int, class Float>
Int significand(const Float& x) {
  using Significand = boost::multiprecision::number<typename Float::backend_type::rep_type>;
  return static_cast<Int>(Significand(x.backend().bits()));
}
template <class Float>
long long exponent(const Float& x) {
  return x.backend().exponent() - (std::numeric_limits<Float>::digits - 1LL);
}

// |x| * 2^fraction_bits without its fraction, for |x| * 2^fraction_bits < 2^2047.
template <class Float>
Fixed to_fixed(const Float& x, int fraction_bits) {
  if (x == 0) return 0;
  const long long shift = exponent(x) + fraction_bits;
  const Fixed magnitude = significand<Fixed>(x);
  if (shift >= 0) return magnitude << static_cast<unsigned>(shift);
  return shift < -2048 ? Fixed(0) : magnitude >> static_cast<unsigned>(-shift);
}

// Between Real and Wide, which is exact, and back, which rounds.
inline Wide widened(const Real& x) {
  if (x == 0 || !isfinite(x)) return Wide(x.convert_to<double>());
  return from_integer<Wide>(significand<Fixed>(x), exponent(x), x < 0);
}
inline Real narrowed(const Wide& x) {
  if (x == 0 || !isfinite(x)) return Real(x.convert_to<double>());
  return from_integer<Real>(significand<Fixed>(x), exponent(x), x < 0);
}

// e^x: relative error below 2^-630 + |x| * 2^-639. Infinity and 0 where Wide ends.
Wide exponential(const Wide& x);
// ln(x), x > 0: relative error below 2^-630.
Wide logarithm(const Wide& x);

}  // namespace ropelab::wide
