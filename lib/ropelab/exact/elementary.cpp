// Elementary functions of Real, by fixed-point series of integers: every result is the same
// on every machine. Angles are reduced with 1280 bits of pi, so that the remainder keeps its
// relative accuracy: a 512-bit angle below 2^64 would have to come within 2^-730 of a
// multiple of pi/2 to lose more than Real's guard.
#include <algorithm>
#include <stdexcept>

#include "ropelab/exact/wide.hpp"

namespace ropelab {
namespace {

using wide::bit_length;
using wide::Fixed;
using wide::from_integer;
using wide::narrowed;
using wide::to_fixed;
using wide::Wide;
using wide::widened;

constexpr int kSineBits = 576;       // fraction bits of the series of sine and cosine
constexpr int kSeriesBits = 704;     // and of exponential and logarithm, which serve Wide
constexpr int kAngleBits = 1280;     // fraction bits of reduced angles
constexpr int kConstantBits = 1344;  // fraction bits of pi and ln 2 while they are made

// atan(1/n), or atanh(1/n) if all signs are plus, with kConstantBits fraction bits.
Fixed arctangent_of_reciprocal(unsigned n, bool alternating) {
  Fixed power = (Fixed(1) << kConstantBits) / n;
  Fixed sum = power;
  for (unsigned k = 3; power != 0; k += 2) {
    power /= n * n;
    const bool minus = alternating && k % 4 == 3;
    sum = minus ? Fixed(sum - power / k) : Fixed(sum + power / k);
  }
  return sum;
}

// pi/2 with kAngleBits fraction bits, by Machin: pi/4 = 4 atan(1/5) - atan(1/239).
const Fixed& half_pi_fixed() {
  static const Fixed value = [] {
    const Fixed quarter =
        4 * arctangent_of_reciprocal(5, true) - arctangent_of_reciprocal(239, true);
    return Fixed(quarter >> (kConstantBits - kAngleBits - 1));
  }();
  return value;
}

// ln 2 = 2 atanh(1/3), with kConstantBits fraction bits.
const Fixed& ln2_fixed() {
  static const Fixed value = 2 * arctangent_of_reciprocal(3, false);
  return value;
}

const Wide& ln2_wide() {
  static const Wide value = from_integer<Wide>(ln2_fixed(), -kConstantBits);
  return value;
}

// 1 - t/(a(a+1)) (1 - t/((a+2)(a+3)) (1 - ...)), t in [0, 1], with kSineBits fraction bits.
// cos x, sin x / x and (x - sin x) 6/x^3 are this of t = x^2 with a = 1, 2 and 4.
Fixed alternating_series(const Fixed& t, unsigned a) {
  const Fixed one = Fixed(1) << kSineBits;
  // The last term needed is the first that falls below the last fraction bit.
  const long long bits_each = kSineBits - bit_length(t);
  unsigned last = a;
  for (long long bits = 0; bits <= kSineBits; last += 2) {
    bits += bits_each + bit_length(Fixed(last * (last + 1))) - 1;
  }
  Fixed sum = one;
  for (unsigned k = last; k >= a + 2; k -= 2) {
    sum = one - ((t * sum) >> kSineBits) / ((k - 2) * (k - 1));
  }
  return sum;
}

// An angle as quadrant * pi/2 + remainder, |remainder| <= pi/4.
struct ReducedAngle {
  Real remainder;
  unsigned quadrant;  // modulo 4
};

ReducedAngle reduce(const Real& x) {
  const Real magnitude = abs(x);
  if (!(magnitude <= largest_angle())) throw std::domain_error("an angle beyond 2^64 rad");
  if (magnitude < 0.75) return {x, 0};
  const Fixed angle = to_fixed(magnitude, kAngleBits);  // exact: at least 2^-1 and 512 bits
  const Fixed& half_pi = half_pi_fixed();
  const Fixed quotient = (2 * angle + half_pi) / (2 * half_pi);
  const Fixed rest = angle - quotient * half_pi;
  const Real remainder = from_integer<Real>(abs(rest), -kAngleBits, rest < 0);
  const unsigned quadrant = static_cast<unsigned>(quotient & 3);
  return x < 0 ? ReducedAngle{-remainder, (4 - quadrant) % 4} : ReducedAngle{remainder, quadrant};
}

// The series of x^2, to the bits of Real.
Real series_of_square(const Real& x, unsigned a) {
  return from_integer<Real>(alternating_series(to_fixed(Real(x * x), kSineBits), a), -kSineBits);
}

// Sine and cosine of an angle in quadrant 0.
Real sine_near_zero(const Real& x) { return x * series_of_square(x, 2); }
Real cosine_near_zero(const Real& x) { return series_of_square(x, 1); }

// Sine of remainder + quadrant * pi/2.
Real sine_of(const ReducedAngle& angle) {
  const Real value =
      angle.quadrant % 2 == 0 ? sine_near_zero(angle.remainder) : cosine_near_zero(angle.remainder);
  return angle.quadrant >= 2 ? Real(-value) : value;
}

// e^r, r in [0, 1) with kSeriesBits fraction bits: Taylor of r/2^9, squared nine times.
Fixed exponential_fixed(const Fixed& r) {
  constexpr int kHalvings = 9;
  constexpr unsigned kTerms = 55;  // (2^-9)^55 / 55! < 2^-737
  const Fixed one = Fixed(1) << kSeriesBits;
  const Fixed small = r >> kHalvings;
  Fixed sum = one;
  for (unsigned k = kTerms; k >= 1; --k) sum = one + ((small * sum) >> kSeriesBits) / k;
  for (int i = 0; i < kHalvings; ++i) sum = (sum * sum) >> kSeriesBits;
  return sum;
}

// atanh(z)/z = 1 + t/3 + t^2/5 + ..., t = z^2 <= 0.03, with kSeriesBits fraction bits.
Fixed arctanh_series(const Fixed& t) {
  const Fixed one = Fixed(1) << kSeriesBits;
  const long long bits_each = std::max(5LL, kSeriesBits - bit_length(t));
  Fixed sum = 0;
  for (long long k = kSeriesBits / bits_each + 1; k >= 0; --k) {
    sum = one / (2 * k + 1) + ((t * sum) >> kSeriesBits);
  }
  return sum;
}

Real power_of_integer(Real base, unsigned exponent) {
  Real result = 1;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result *= base;
    if (exponent > 1) base *= base;
  }
  return result;
}

void require_positive(const Real& x) {
  if (!(x > 0)) throw std::domain_error("the logarithm of a number that is not positive");
}

}  // namespace

namespace wide {

Wide exponential(const Wide& x) {
  constexpr double kLimit = 1.4e9;  // e^kLimit is about 2^(2.02e9); exponents are ints
  if (x > kLimit) return std::numeric_limits<Wide>::infinity();
  if (x < -kLimit) return 0;
  const auto k = static_cast<Wide>(floor(x / ln2_wide())).convert_to<long long>();
  const Fixed magnitude = to_fixed(x, kSeriesBits);
  const Fixed ln2_short = ln2_fixed() >> (kConstantBits - kSeriesBits);
  const Fixed rest = (x < 0 ? Fixed(-magnitude) : magnitude) - k * ln2_short;
  // Truncation may leave it a little below 0, or k one off: e^rest is continuous, so both end
  // within the stated error.
  return from_integer<Wide>(exponential_fixed(std::max(rest, Fixed(0))), k - kSeriesBits);
}

Wide logarithm(const Wide& x) {
  Wide mantissa = x;
  mantissa.backend().exponent() = 0;
  long long k = x.backend().exponent();
  if (mantissa > 1.4142) {  // keep |ln mantissa| < ln2 / 2, so that k ln2 never cancels
    mantissa.backend().exponent() = -1;
    ++k;
  }
  const Wide z = (mantissa - 1) / (mantissa + 1);
  const Fixed series = arctanh_series(to_fixed(Wide(z * z), kSeriesBits));
  return k * ln2_wide() + 2 * z * from_integer<Wide>(series, -kSeriesBits);
}

}  // namespace wide

const Real& largest_angle() {
  static const Real value = from_integer<Real>(Fixed(1), 64);
  return value;
}

const Real& pi() {
  static const Real value = from_integer<Real>(half_pi_fixed(), 1 - kAngleBits);
  return value;
}

const Real& ln2() {
  static const Real value = from_integer<Real>(ln2_fixed(), -kConstantBits);
  return value;
}

Real sine(const Real& x) { return sine_of(reduce(x)); }

Real cosine(const Real& x) {
  ReducedAngle angle = reduce(x);
  angle.quadrant = (angle.quadrant + 1) % 4;
  return sine_of(angle);
}

Real sine_deficit(const Real& x) {
  if (x < 0) throw std::domain_error("the sine deficit of a negative angle");
  if (x >= 1) return x - sine(x);
  return x * x * x / 6 * series_of_square(x, 4);
}

Real natural_exponential(const Real& x) { return narrowed(wide::exponential(widened(x))); }

Real natural_logarithm(const Real& x) {
  require_positive(x);
  return narrowed(wide::logarithm(widened(x)));
}

Real power(const Real& base, const Real& exponent) {
  require_positive(base);
  // Small whole exponents by multiplication: exact wherever the result can be.
  const int n = abs(exponent) <= 64 ? exponent.convert_to<int>() : 0;
  if (n == exponent) {
    const Real value = power_of_integer(base, static_cast<unsigned>(n < 0 ? -n : n));
    return n < 0 ? Real(1 / value) : value;
  }
  return narrowed(wide::exponential(widened(exponent) * wide::logarithm(widened(base))));
}

}  // namespace ropelab
