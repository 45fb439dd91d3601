#include "ropelab/exact/rounding_status.hpp"

#include <cmath>

namespace ropelab {

std::string_view rounding_status(const Format& format, const Algebraic& x) {
  Format unlimited = format;
  unlimited.overflow = Overflow::infinity;
  const double rounded = round_to(unlimited, x);
  if (std::isinf(rounded)) return "overflow";
  if (rounded == 0) return "zero";
  if (rounded < std::ldexp(1.0, format.min_exponent)) return "subnormal";
  return x == Algebraic(to_rational(rounded)) ? "exact" : "rounded";
}

}  // namespace ropelab
