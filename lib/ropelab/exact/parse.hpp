// Numbers as users write them, read exactly: nothing passes through a double.
#pragma once

#include <optional>
#include <string_view>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// What users may write for a number (white space around it is not part of it; the locale
// plays no role; a leading + or - is allowed):
//   decimals             0.1  1e-6  .5  5.
//   fractions            1/3  0.1/65536      (of two decimals or binary multiples)
//   powers of two        2^-20  2^(-1/2)  2^(0.5)   (a bare 2^-1/2 is refused as ambiguous)
//   hexadecimal floats   0x1.8p-3
//   binary multiples     64K  1M             (1024 and 1048576, after an integer or decimal)
// The value must be 0 or lie, in magnitude, within the range of float64 (subnormals
// included); exponents with more than 6 digits, and powers whose exponent has a denominator
// over 4096, are refused.
//
// Each function throws std::invalid_argument with one sentence that quotes the text and says what
// would be right, e.g.
// "'0,5' is not a number; write 0.5, 1e-6, 1/3, 2^-20, 2^(-1/2), 0x1p-13 or 64K".

// Any sign, and 0; refuses irrational values.
Rational parse_rational(std::string_view text);
// Strictly positive numbers; powers of two may be irrational.
Algebraic parse_positive(std::string_view text);
// A whole number in [least, most]; 64K, 1e3 and 2^10 count as whole numbers.
long long parse_integer(std::string_view text, long long least, long long most);

// What Algebraic::to_powers writes: powers of whole numbers from 1 on, with whole or fractional
// exponents, and stars between them ("2^(-1/2)*3*5^-1"), without white space inside.
Algebraic parse_powers(std::string_view text);

}  // namespace ropelab
