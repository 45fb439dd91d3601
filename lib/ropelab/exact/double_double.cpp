#include "ropelab/exact/double_double.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace ropelab {
namespace {

// [JMP] algorithm 1: exact where |a| >= |b|, or a = 0.
DoubleDouble fast_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// Exact: times a power of two, short of overflow and underflow.
DoubleDouble scaled(DoubleDouble a, double power) { return {a.high * power, a.low * power}; }

// The whole number nearest to x, |x| < 2^51, in the rounding mode that this library keeps.
double nearest_whole(double x) {
  constexpr double kShifter = 0x1.8p52;
  return (x + kShifter) - kShifter;
}

// Sine and cosine of k * pi/256.
struct TablePoint {
  DoubleDouble sine;
  DoubleDouble cosine;
};
constexpr int kSteps = 512;  // of pi/256 in a full turn

// pi/256 as a sum of three doubles, good to 2^-166, and what else every reduction needs.
struct SineTable {
  double step[3];
  double steps_per_radian;
  std::array<TablePoint, kSteps> points;
};

SineTable make_sine_table() {
  SineTable table;
  Real rest = pi() / 256;
  table.steps_per_radian = to_double(1 / rest);
  for (double& part : table.step) {
    part = to_double(rest);
    rest -= part;
  }
  // An eighth of a turn from Real, the rest by symmetry.
  for (int k = 0; k <= kSteps / 8; ++k) {
    const Real angle = pi() * k / 256;
    const DoubleDouble s = to_double_double(sine(angle));
    const DoubleDouble c = to_double_double(cosine(angle));
    const auto at = [&](int i) -> TablePoint& { return table.points[i & (kSteps - 1)]; };
    at(k) = {s, c};
    at(128 - k) = {c, s};
    at(128 + k) = {c, -s};
    at(256 - k) = {s, -c};
    at(256 + k) = {-s, -c};
    at(384 - k) = {-c, -s};
    at(384 + k) = {-c, s};
    at(512 - k) = {-s, c};
  }
  return table;
}

const SineTable& sine_table() {
  static const SineTable table = make_sine_table();
  return table;
}

// The first 26 bits of x.
double upper_half(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) >> 27 << 27);
}

// What quick_sine_cosine has for a SineTable. The high parts of its points have 26 bits.
struct QuickTable {
  double step[4];  // multiples of 2^-27, 2^-48, 2^-69, and the rest: each at most half the last
  double steps_per_radian;
  std::array<TablePoint, kSteps> points;
};

DoubleDouble with_upper_half(DoubleDouble x) {
  const double high = upper_half(x.high);
  return {high, (x.high - high) + x.low};
}

QuickTable make_quick_table() {
  QuickTable table;
  Real rest = pi() / 256;
  double grid = 0x1p-27;
  for (double& part : table.step) {
    part = &part == &table.step[3] ? to_double(rest) : nearest_whole(to_double(rest) / grid) * grid;
    rest -= part;
    grid *= 0x1p-21;
  }
  table.steps_per_radian = sine_table().steps_per_radian;
  for (std::size_t k = 0; k < kSteps; ++k) {
    const TablePoint& point = sine_table().points[k];
    table.points[k] = {with_upper_half(point.sine), with_upper_half(point.cosine)};
  }
  return table;
}

const QuickTable& quick_table() {
  static const QuickTable table = make_quick_table();
  return table;
}

// x - k * pi/256, which is below 2^-7.29, for |k| < 2^32 and |x| >= 2^-8 unless k = 0. The
// products with the first three parts are exact. So are both differences in `high`: they are
// multiples of 2^-60 (or of 2^-27 or 2^-48, if the ulp of x is coarser) below 2^53 of them.
// Both differences in `low` are below k 2^-48.9, and rounded by less than k 2^-101.9 each.
DoubleDouble quickly_reduced(DoubleDouble x, double k, const double (&step)[4]) {
  const double high = (x.high - k * step[0]) - k * step[1];
  const double low = (x.low - k * step[2]) - k * step[3];
  return exact_sum(high, low);
}

// a + b + c, for a = 0 or |a| > |b|, and c so small that only its own last bits are lost.
DoubleDouble three_sum(double a, double b, double c) {
  const DoubleDouble sum = fast_sum(a, b);
  return fast_sum(sum.high, sum.low + c);
}

// 1/n! to the accuracy of the type.
DoubleDouble reciprocal_factorial(int n) {
  Real product = 1;
  for (int k = 2; k <= n; ++k) product *= k;
  return to_double_double(1 / product);
}

constexpr int kFactorials = 32;
const std::array<DoubleDouble, kFactorials>& reciprocal_factorials() {
  static const auto values = [] {
    std::array<DoubleDouble, kFactorials> result;
    for (int n = 0; n < kFactorials; ++n) {
      result[static_cast<std::size_t>(n)] = reciprocal_factorial(n);
    }
    return result;
  }();
  return values;
}

// sin(r) and cos(r) - 1 for |r| <= 0.52 pi/256 < 2^-7.29, t = r^2 < 2^-14.58. Terms that weigh
// less than 2^-56 are computed in double: they add less than 2^-105 relative to r, and 2^-119
// to the cosine. The first terms left out are t^6/13! < 2^-119 relative to r and
// t^6/12! < 2^-116.
struct SmallAngle {
  DoubleDouble sine;
  DoubleDouble cosine_minus_one;
};
SmallAngle small_angle(DoubleDouble r) {
  const auto& f = reciprocal_factorials();
  const DoubleDouble t = r * r;
  const double d = t.high;
  const double s7 = -f[7].high + d * (f[9].high - d * f[11].high);
  const DoubleDouble s3 = t * (t * (f[5] + d * s7) - f[3]);
  const double c8 = f[8].high - d * f[10].high;
  const DoubleDouble c2 = t * (t * (f[4] + t * (-f[6] + d * c8)) - f[2]);
  return {r + r * s3, c2};
}

// 2^(j/64), j = 0 ... 63.
struct PowerTable {
  double step[3];  // ln 2 / 64 as a sum of three doubles
  double steps_per_unit;
  std::array<DoubleDouble, 64> power;
};

PowerTable make_power_table() {
  PowerTable table;
  Real rest = ln2() / 64;
  table.steps_per_unit = to_double(1 / rest);
  for (double& part : table.step) {
    part = to_double(rest);
    rest -= part;
  }
  for (int j = 0; j < 64; ++j) {
    table.power[static_cast<std::size_t>(j)] =
        to_double_double(natural_exponential(ln2() * j / 64));
  }
  return table;
}

const PowerTable& power_table() {
  static const PowerTable table = make_power_table();
  return table;
}

// x - k * (the sum of three doubles in `step`), |k| < 2^47: the products with the first two are
// exact, the third is below 2^-65 and rounded by less than 2^-118.
DoubleDouble reduced(DoubleDouble x, double k, const double (&step)[3]) {
  const DoubleDouble first = exact_product(k, step[0]);
  const DoubleDouble second = exact_product(k, step[1]);
  const DoubleDouble rest = exact_sum(x.high, -first.high);
  const DoubleDouble tail = exact_sum(x.low, -first.low) - second;
  return (rest + tail) + -(k * step[2]);
}

// e^r - 1 for |r| <= ln2/128 = 2^-7.53. The terms from r^6/6! < 2^-54 on are computed in
// double; the first one left out is r^13/13! < 2^-130.
DoubleDouble small_exponential_minus_one(DoubleDouble r) {
  const auto& f = reciprocal_factorials();
  const double d = r.high;
  double tail = f[12].high;
  for (std::size_t n = 11; n >= 6; --n) tail = f[n].high + d * tail;
  DoubleDouble sum = f[5] + d * tail;
  for (std::size_t n = 4; n >= 2; --n) sum = f[n] + r * sum;
  return r + r * (r * sum);
}

// e^x as 2^exponent * power * (1 + rest).
struct ExponentialParts {
  int exponent;
  DoubleDouble power;
  DoubleDouble rest;
};

ExponentialParts exponential_parts(DoubleDouble x) {
  const PowerTable& table = power_table();
  const double k = nearest_whole(x.high * table.steps_per_unit);
  const int step = static_cast<int>(k);
  const int index = step & 63;
  return {(step - index) / 64, table.power[static_cast<std::size_t>(index)],
          small_exponential_minus_one(reduced(x, k, table.step))};
}

}  // namespace

DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = exact_sum(a.high, b.high);
  const DoubleDouble t = exact_sum(a.low, b.low);
  const DoubleDouble v = fast_sum(s.high, s.low + t.high);
  return fast_sum(v.high, t.low + v.low);
}

DoubleDouble operator+(DoubleDouble a, double b) {
  const DoubleDouble s = exact_sum(a.high, b);
  return fast_sum(s.high, a.low + s.low);
}

DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = exact_product(a.high, b.high);
  const double low = std::fma(a.low, b.high, std::fma(a.high, b.low, a.low * b.low));
  return fast_sum(p.high, p.low + low);
}

DoubleDouble operator*(DoubleDouble a, double b) {
  const DoubleDouble p = exact_product(a.high, b);
  return fast_sum(p.high, std::fma(a.low, b, p.low));
}

DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double high = a.high / b.high;
  const DoubleDouble product = b * high;
  const double rest = (a.high - product.high) + (a.low - product.low);
  return fast_sum(high, rest / b.high);
}

DoubleDouble to_double_double(const Real& x) {
  const double high = to_double(x);
  if (!std::isfinite(high)) return {high, 0};
  return {high, to_double(Real(x - high))};
}

Real to_real(DoubleDouble x) { return Real(x.high) + x.low; }

// The error, u = 2^-53. The angle is reduced to r with an absolute error of 2^-108: two sums
// of numbers below 2^-6 (3u^2 each), a rounded product and the rest of pi/256 (2^-118 each).
// With S, C the table's sine and cosine (u^2/2 each), s = sin r, c = cos r - 1:
//   sin(angle) = S + (S c + C s),  cos(angle) = C + (C c - S s)
// |S c + C s| < 2^-7.3, so that its relative errors, some 25u^2, weigh less than 0.2u^2. The
// last sum is off by 3u^2. Together below 4.5u^2 < 2^-103.8.
SineCosine sine_cosine(DoubleDouble angle) {
  constexpr double kError = 0x1p-103;
  if (std::fabs(angle.high) < 0x1p-60) {  // keeps the sign of -0, and no product underflows
    return {angle, exact_sum(1, -0.5 * angle.high * angle.high), kError};
  }
  const SineTable& table = sine_table();
  const double k = nearest_whole(angle.high * table.steps_per_radian);
  const SmallAngle small = small_angle(reduced(angle, k, table.step));
  const TablePoint& point =
      table.points[static_cast<std::size_t>(static_cast<long long>(k) & (kSteps - 1))];
  const DoubleDouble s = small.sine;
  const DoubleDouble c = small.cosine_minus_one;
  return {point.sine + (point.sine * c + point.cosine * s),
          point.cosine + (point.cosine * c - point.sine * s), kError};
}

// The error, with r, S, C, s, c as above, u = 2^-53, |r| < 2^-7.29, |c| < 2^-15.5. The angle is
// reduced with an error of k 2^-100, see there. Of s, s_low leaves out r.low t/2 < u |r| 2^-15.5,
// and its roundings are 5u of |r| t/6 < 2^-17 |r|. Of c, r.high r.low is left out; with
// roundings, 5u of it. C.high upper has 52 bits, so it is exact, as is its sum with S.high. What
// is added to it, S c + C.high rest + ..., is below 2^-15.5 |S| + 2^-16.9 |r|; its own roundings
// are up to 5u of each. S and C are good to 2^-78. Together below 2^-65.1 |S| + 2^-66 |r|.
// Where S = 0, the result is at least 0.99 |r|. Else |S| >= sin(pi/256), so that |r| < 0.53 |S|
// and the result is at least 0.47 |S|. So the error is below 2^-63 of it. Cosine alike.
QuickSineCosine quick_sine_cosine(DoubleDouble angle) {
  const QuickTable& table = quick_table();
  const double k = nearest_whole(angle.high * table.steps_per_radian);
  const DoubleDouble r = quickly_reduced(angle, k, table.step);
  const double upper = upper_half(r.high);
  const double t = r.high * r.high;
  const double s_low = r.low + r.high * (t * (-1.0 / 6 + t * (1.0 / 120 - t * (1.0 / 5040))));
  const double rest = (r.high - upper) + s_low;
  const double s = r.high + s_low;
  const double c = t * (-0.5 + t * (1.0 / 24 - t * (1.0 / 720)));
  const TablePoint& point =
      table.points[static_cast<std::size_t>(static_cast<long long>(k) & (kSteps - 1))];
  const DoubleDouble& sine = point.sine;
  const DoubleDouble& cosine = point.cosine;
  return {
      three_sum(sine.high, cosine.high * upper,
                sine.low + ((sine.high + sine.low) * c + (cosine.high * rest + cosine.low * s))),
      three_sum(cosine.high, -(sine.high * upper),
                cosine.low + ((cosine.high + cosine.low) * c - (sine.high * rest + sine.low * s))),
      0x1p-100 * std::fabs(k)};
}

DoubleDouble sine_deficit(DoubleDouble x) {
  if (x.high > 1) return x - sine_cosine(x).sine;
  // x^3 (1/3! - t (1/5! - t (1/7! - ...))), t = x^2; what is left out is below 2^-120.
  const auto& f = reciprocal_factorials();
  const DoubleDouble t = x * x;
  DoubleDouble sum = f[31];
  for (std::size_t n = 29; n >= 3; n -= 2) sum = f[n] - t * sum;
  return x * t * sum;
}

DoubleDouble exponential(DoubleDouble x) {
  if (std::isnan(x.high)) return {x.high, 0};
  if (x.high < -700) return {};
  if (x.high > 700) return {std::numeric_limits<double>::infinity(), 0};
  const ExponentialParts parts = exponential_parts(x);
  return scaled(parts.power + parts.power * parts.rest, std::ldexp(1.0, parts.exponent));
}

DoubleDouble exponential_minus_one(DoubleDouble x) {
  if (std::isnan(x.high)) return {x.high, 0};
  if (x.high < -700) return {-1, 0};
  if (x.high > 700) return {std::numeric_limits<double>::infinity(), 0};
  if (std::fabs(x.high) < 0x1p-110) return x;  // products further on would underflow
  const ExponentialParts parts = exponential_parts(x);
  const DoubleDouble power = scaled(parts.power, std::ldexp(1.0, parts.exponent));
  // Where power is not 1, |power - 1| is at least twice |power * rest|: little cancels.
  return (power + -1.0) + power * parts.rest;
}

}  // namespace ropelab
