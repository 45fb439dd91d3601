// Exact values as cells of a table.
#pragma once

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/table/table.hpp"

namespace ropelab::app {

// A value with as many digits as --digits asks for: the double nearest to it for 17, else a
// decimal number of that many significant digits.
inline Cell exact_cell(const Rational& x, int digits) {
  return digits <= 17 ? Cell(to_double(x)) : Cell(ExactNumber{to_decimal(x, digits)});
}
inline Cell exact_cell(const Real& x, int digits) {
  return digits <= 17 ? Cell(to_double(x)) : Cell(ExactNumber{to_decimal(x, digits)});
}
inline Cell exact_cell(const Algebraic& x, int digits) {
  return digits <= 17 ? Cell(x.to_double()) : Cell(ExactNumber{x.to_decimal(digits)});
}

}  // namespace ropelab::app
