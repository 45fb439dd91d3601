#include "ropelab/errors/error_unit.hpp"

#include <cmath>
#include <limits>

namespace ropelab {

Real ErrorUnit::of(const Real& error) const {
  if (!logits_ || error == 0) return error;
  const Real quotient = error / *logits_;
  const int shift = 399 - static_cast<int>(ilogb(quotient));
  return ldexp(round(ldexp(quotient, shift)), -shift);
}

std::optional<double> ErrorUnit::bound(const std::optional<double>& bound) const {
  if (!bound || !std::isfinite(*bound)) return bound;
  const Real exact = of(*bound);
  const double nearest = to_double(exact);
  if (Real(nearest) >= exact) return nearest;
  return std::nextafter(nearest, std::numeric_limits<double>::infinity());
}

}  // namespace ropelab
