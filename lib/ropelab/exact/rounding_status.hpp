// What rounding did to a number, in a word.
#pragma once

#include <string_view>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// "overflow" (past the largest number, also where the format saturates), "zero", "subnormal"
// (exact or not), else "exact" or "rounded". A zero does not come from a positive number that
// is representable; 0 itself is no Algebraic.
std::string_view rounding_status(const Format& format, const Algebraic& x);

}  // namespace ropelab
