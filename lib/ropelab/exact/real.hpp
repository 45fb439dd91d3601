// Exact integers and rationals, and reals of a stated precision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include "ropelab/formats/format.hpp"

namespace ropelab {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

// A real with a significand of 512 bits. Sums, products, quotients and square roots are
// correctly rounded; sine, cosine, exp, log and pow of this header are good to 2^-480
// relative to their value for arguments below 2^32 in magnitude, which a test holds
// against MPFI's enclosures.
using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<512, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

// Largest angle, in rad, that sine and cosine take: 2^64. Beyond 2^32 the error is absolute,
// 2^-480 * |x|.
const Real& largest_angle();

// Sine and cosine of an angle in rad. Throw std::domain_error beyond largest_angle().
Real sine(const Real& x);
Real cosine(const Real& x);

// x - sin(x) without cancellation, for any x in [0, largest_angle()]: by its series below 1.
Real sine_deficit(const Real& x);

const Real& pi();
const Real& ln2();

// base^exponent for base > 0.
Real power(const Real& base, const Real& exponent);
Real natural_exponential(const Real& x);
Real natural_logarithm(const Real& x);

// An exact double as a rational or a real. Throw std::domain_error if x is not finite.
Rational to_rational(double x);

// Rounded once to the nearest number of the format, ties to even. A rational is rounded
// exactly. A Real is taken at its word: its 512 bits are the value.
double round_to(const Format& format, const Rational& x);
double round_to(const Format& format, const Real& x);
inline double to_double(const Rational& x) { return round_to(float64_format(), x); }
inline double to_double(const Real& x) { return round_to(float64_format(), x); }

// `digits` significant decimal digits, correctly rounded, ties to even, laid out as Python's
// and fmt's `{}` lay out a double: plain for exponents from -5 to 15, else with an exponent
// of at least two digits ("3.7e-06"). Trailing zeros are kept, so that the count of digits shows.
std::string to_decimal(const Rational& x, int digits);
std::string to_decimal(const Real& x, int digits);

}  // namespace ropelab
