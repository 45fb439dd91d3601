// Unevaluated sums of two doubles: about 106 bits, for tables too long for Real.
//
// Only additions, multiplications, divisions, square roots and std::fma of doubles are used,
// all of which IEEE 754 fixes to the bit, so results are the same on every machine. The
// build must not contract a*b+c (-ffp-contract=off).
// [JMP] Joldes, Muller, Popescu: Tight and rigorous error bounds for basic building blocks
// of double-word arithmetic, ACM TOMS 44 (2017). u = 2^-53.
#pragma once

#include <cmath>

#include "ropelab/exact/real.hpp"

namespace ropelab {

// high is the sum rounded to double; |low| <= ulp(high)/2. Non-finite values have low = 0.
struct DoubleDouble {
  double high = 0;
  double low = 0;
};

// Exact: a + b, for any a and b; a * b unless it underflows or overflows.
inline DoubleDouble exact_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline DoubleDouble exact_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

// [JMP] algorithms 6 (relative error 3u^2 + 13u^3), 4, 12 (5u^2), 9 (2u^2) and 17 (15u^2).
DoubleDouble operator+(DoubleDouble a, DoubleDouble b);
DoubleDouble operator+(DoubleDouble a, double b);
DoubleDouble operator*(DoubleDouble a, DoubleDouble b);
DoubleDouble operator*(DoubleDouble a, double b);
DoubleDouble operator/(DoubleDouble a, DoubleDouble b);
inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
inline DoubleDouble absolute(DoubleDouble a) { return a.high < 0 ? -a : a; }
// False where either is NaN. == compares the values, since the parts of a value are unique.
inline bool operator<(DoubleDouble a, DoubleDouble b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}
inline bool operator==(DoubleDouble a, DoubleDouble b) {
  return a.high == b.high && a.low == b.low;
}

// Rounded to nearest; the error is at most 2^-107 relative (or half the least subnormal).
DoubleDouble to_double_double(const Real& x);
Real to_real(DoubleDouble x);

// The largest angle, in rad, that the quick functions below take.
inline constexpr double largest_quick_angle = 0x1p40;

// Sine and cosine of `angle` rad, |angle| <= 2^40. The absolute error of each is below
// `error`, which is 2^-103, and below 2^-100 relative to itself while |angle| <= 2^-8.
// Takes about 0.1 us; the first call fills a table, which takes about a millisecond.
struct SineCosine {
  DoubleDouble sine;
  DoubleDouble cosine;
  double error;  // absolute, of either
};
SineCosine sine_cosine(DoubleDouble angle);

// The same to 63 bits, for 2^-900 <= |angle| <= 2^25, several times as quick, and without
// std::fma. Either is off by less than 2^-63 of itself, plus `error`: below 2^-93 * (|angle| + 1),
// and 0 for |angle| < 2^-8.
struct QuickSineCosine {
  DoubleDouble sine;
  DoubleDouble cosine;
  double error;
};
QuickSineCosine quick_sine_cosine(DoubleDouble angle);

// x - sin(x) for x in [0, 2^40], without cancellation: relative error below 2^-100 in
// [2^-280, 1], absolute below 2^-102 * (1 + x) beyond 1. Below 2^-280 it underflows gradually.
DoubleDouble sine_deficit(DoubleDouble x);

// e^x, relative error below 2^-100, for x in [-670, 700]; below, down to -700, an absolute
// error of 2^-1073 joins it, since `low` turns subnormal. 0 below -700, infinity above 700.
DoubleDouble exponential(DoubleDouble x);
// e^x - 1, relative error below 2^-96, for x <= 700; infinity above.
DoubleDouble exponential_minus_one(DoubleDouble x);

}  // namespace ropelab
