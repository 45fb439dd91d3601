#include "ropelab/exact/double_double.hpp"

#include <array>
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
