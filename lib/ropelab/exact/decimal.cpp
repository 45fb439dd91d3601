// Decimal printing by integer arithmetic.
#include "ropelab/exact/decimal.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "ropelab/exact/wide.hpp"

namespace ropelab {
namespace {

// At most floor(log10(x)), and seldom more than 1 below; 0.30102 < log10(2) < 0.30103.
long long decimal_exponent_estimate(const Integer& numerator, const Integer& denominator) {
  const long long twos = wide::bit_length(numerator) - wide::bit_length(denominator) - 1;
  const long long scaled = twos * (twos < 0 ? 30103 : 30102);
  return scaled / 100000 - (scaled % 100000 < 0 ? 1 : 0);
}

std::string digits_of(Integer x) {
  constexpr std::uint64_t kChunk = 1'000'000'000'000'000'000;
  std::string result;
  for (; x >= kChunk; x /= kChunk) {
    result = fmt::format("{:018}{}", static_cast<std::uint64_t>(Integer(x % kChunk)), result);
  }
  return fmt::format("{}{}", static_cast<std::uint64_t>(x), result);
}

std::string with_exponent(std::string_view digits, long long exponent) {
  return fmt::format("{}{}{}e{}{:02}", digits.substr(0, 1), digits.size() > 1 ? "." : "",
                     digits.substr(1), exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string plain(std::string_view digits, long long exponent) {
  if (exponent < 0) return fmt::format("0.{:0>{}}{}", "", -exponent - 1, digits);
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return fmt::format("{:0<{}}", digits, whole);
  return fmt::format("{}.{}", digits.substr(0, whole), digits.substr(whole));
}

}  // namespace

Integer power_of_ten(long long exponent) {
  return pow(Integer(10), static_cast<unsigned>(exponent));
}

Decimal round_to_decimal(const Rational& x, int digits) {
  if (digits < 1) throw std::invalid_argument("a number needs at least one decimal digit");
  const Integer above = abs(numerator(x));
  const Integer below = denominator(x);
  const Integer limit = power_of_ten(digits);
  for (long long exponent = decimal_exponent_estimate(above, below);; ++exponent) {
    const long long scale = digits - 1 - exponent;
    Integer quotient;
    Integer rest;
    const Integer divisor = scale < 0 ? Integer(below * power_of_ten(-scale)) : below;
    divide_qr(scale > 0 ? Integer(above * power_of_ten(scale)) : above, divisor, quotient, rest);
    if (quotient >= limit) continue;  // the estimate was too low
    const int half = Integer(2 * rest).compare(divisor);
    if (half > 0 || (half == 0 && bit_test(quotient, 0))) ++quotient;
    if (quotient == limit) return {limit / 10, exponent + 1};
    return {quotient, exponent};
  }
}

std::string lay_out(const Decimal& x) {
  const std::string digits = digits_of(x.digits);
  return -4 <= x.exponent && x.exponent < 16 ? plain(digits, x.exponent)
                                             : with_exponent(digits, x.exponent);
}

std::string to_decimal(const Rational& x, int digits) {
  if (x == 0) return "0";
  return fmt::format("{}{}", x < 0 ? "-" : "", lay_out(round_to_decimal(x, digits)));
}

std::string to_decimal(const Real& x, int digits) {
  if (isnan(x)) return "nan";
  if (isinf(x)) return x < 0 ? "-inf" : "inf";
  return to_decimal(to_rational(x), digits);
}

}  // namespace ropelab
