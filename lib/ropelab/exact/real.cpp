#include "ropelab/exact/real.hpp"

#include <cmath>
#include <stdexcept>

#include "ropelab/exact/wide.hpp"

namespace ropelab {
namespace {

// The leading bits of a quotient: numerator/denominator is quotient * 2^exponent, plus less
// than 2^exponent if more.
struct Quotient {
  Integer quotient;
  long long exponent;
  bool more;
};

// With `bits` or bits + 1 bits in the quotient, numerator and denominator being positive.
Quotient leading_bits(Integer numerator, Integer denominator, int bits) {
  const long long exponent = wide::bit_length(numerator) - wide::bit_length(denominator) - bits;
  if (exponent < 0) {
    numerator <<= static_cast<unsigned>(-exponent);
  } else {
    denominator <<= static_cast<unsigned>(exponent);
  }
  Integer quotient;
  Integer rest;
  divide_qr(numerator, denominator, quotient, rest);
  return {quotient, exponent, rest != 0};
}

}  // namespace

Rational to_rational(double x) {
  if (!std::isfinite(x)) throw std::domain_error("an infinity or NaN is not rational");
  int exponent = 0;
  const auto significand = static_cast<long long>(std::ldexp(std::frexp(x, &exponent), 53));
  exponent -= 53;
  const Integer power = Integer(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent < 0 ? Rational(Integer(significand), power) : Rational(significand * power);
}

Rational to_rational(const Real& x) {
  if (!isfinite(x)) throw std::domain_error("an infinity or NaN is not rational");
  if (x == 0) return 0;
  Integer magnitude = wide::significand<Integer>(x);
  const long long exponent = wide::exponent(x) + static_cast<long long>(lsb(magnitude));
  magnitude >>= lsb(magnitude);
  if (x < 0) magnitude = -magnitude;
  if (exponent >= 0) return Rational(Integer(magnitude << static_cast<unsigned>(exponent)));
  return Rational(magnitude, Integer(1) << static_cast<unsigned>(-exponent));
}

Real to_real(const Rational& x) {
  if (x == 0) return 0;
  // Two bits more than Real has, the last one telling whether anything follows.
  Quotient top = leading_bits(abs(numerator(x)), denominator(x), 514);
  if (top.more) bit_set(top.quotient, 0);
  return wide::from_integer<Real>(top.quotient, top.exponent, x < 0);
}

double round_to(const Format& format, const Rational& x) {
  if (x == 0) return 0;
  const Quotient top = leading_bits(abs(numerator(x)), denominator(x), 63);
  return round_truncated(format, x < 0, static_cast<std::uint64_t>(top.quotient), top.exponent,
                         top.more);
}

double round_to(const Format& format, const Real& x) {
  if (x == 0 || !isfinite(x)) return round_to(format, x.convert_to<double>());
  const Integer bits = wide::significand<Integer>(x);
  constexpr unsigned kRest = 512 - 64;
  return round_truncated(format, x < 0, static_cast<std::uint64_t>(bits >> kRest),
                         wide::exponent(x) + kRest, lsb(bits) < kRest);
}

}  // namespace ropelab
