// Inside this folder only: numbers rounded to decimal digits, before they become text.
#pragma once

#include "ropelab/exact/real.hpp"

namespace ropelab {

// digits * 10^(exponent - n + 1), n being how many digits `digits` has.
struct Decimal {
  Integer digits;
  long long exponent;
};

Integer power_of_ten(long long exponent);

// |x| to so many digits, ties to even; x is not 0.
Decimal round_to_decimal(const Rational& x, int digits);

std::string lay_out(const Decimal& x);

}  // namespace ropelab
