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
// correctly rounded; sine, cosine, exp, log and pow of this header are good to 2^-500
// relative to their value (sine and cosine: for angles up to 2^64; power: while the result
// lies between 2^-2^30 and 2^2^30), which a test holds against MPFI's enclosures.
using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<512, boost::multiprecision::digit_base_2>,
    boost::multiprecision::et_off>;

// Largest angle, in rad, that sine and cosine take: 2^64.
const Real& largest_angle();

// Sine and cosine of an angle in rad. Throw std::domain_error beyond largest_angle().
Real sine(const Real& x);
Real cosine(const Real& x);

// x - sin(x) without cancellation, for any x in [0, largest_angle()]: by its series below 1.
// Good to 2^-500 relative. Throws std::domain_error for other x.
Real sine_deficit(const Real& x);

const Real& pi();
const Real& ln2();

// base^exponent for base > 0; whole exponents up to 64 in magnitude by multiplication, exact
// where the result has at most 512 bits. natural_exponential gives 0 and infinity beyond
// |x| = 1.4e9. Power and logarithm throw std::domain_error for numbers that are not positive.
Real power(const Real& base, const Real& exponent);
Real natural_exponential(const Real& x);
Real natural_logarithm(const Real& x);

// The same number as a rational. Throw std::domain_error if x is not finite.
Rational to_rational(double x);
Rational to_rational(const Real& x);

// Rounded once to 512 bits, ties to even. (A double becomes a Real exactly by itself.)
Real to_real(const Rational& x);

// Rounded once to the nearest number of the format, ties to even. A rational is rounded
// exactly. A Real is taken at its word: its 512 bits are the value.
double round_to(const Format& format, const Rational& x);
double round_to(const Format& format, const Real& x);
inline double to_double(const Rational& x) { return round_to(float64_format(), x); }
inline double to_double(const Real& x) { return round_to(float64_format(), x); }

// `digits` significant decimal digits, correctly rounded, ties to even, laid out as fmt's `{}`
// lays out a double: plain for decimal exponents from -4 to 15, else with an exponent of at
// least two digits ("3.7e-06"). Trailing zeros are kept, so that the count of digits shows
// (a plain whole number with fewer digits than it has places is filled up with zeros). 0 is
// "0"; a Real may also be "inf", "-inf" or "nan". The exponent should be one that a few
// thousand digits can write out: time and memory grow with it.
std::string to_decimal(const Rational& x, int digits);
std::string to_decimal(const Real& x, int digits);

}  // namespace ropelab
