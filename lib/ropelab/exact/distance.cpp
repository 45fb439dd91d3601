#include "ropelab/exact/distance.hpp"

#include <cmath>

namespace ropelab {
namespace {

bool exceeds(double bound, const Rational& x) { return to_rational(bound) > x; }
bool exceeds(double bound, const Real& x) { return Real(bound) > x; }
bool exceeds(double bound, const Algebraic& x) {
  return bound > 0 && x < Algebraic(to_rational(bound));
}

double nearest_double(const Rational& x) { return to_double(x); }
double nearest_double(const Real& x) { return to_double(x); }
double nearest_double(const Algebraic& x) { return x.to_double(); }

// Rounding may have reached the next power of two; the spacing is that below it.
template <class Exact>
double spacing_at(const Format& format, const Exact& magnitude) {
  const double nearest = nearest_double(magnitude);
  const bool is_above = std::isinf(nearest) || exceeds(nearest, magnitude);
  return ulp(format, is_above ? std::nextafter(nearest, 0.0) : nearest);
}

}  // namespace

double ulp_at(const Format& format, const Rational& exact) {
  return spacing_at(format, Rational(abs(exact)));
}
double ulp_at(const Format& format, const Real& exact) {
  return spacing_at(format, Real(abs(exact)));
}
double ulp_at(const Format& format, const Algebraic& exact) { return spacing_at(format, exact); }

double distance_in_ulp(const Format& format, double computed, const Rational& exact) {
  if (!std::isfinite(computed)) return std::abs(computed);
  const Rational difference = abs(to_rational(computed) - exact);
  return to_double(Rational(difference / to_rational(ulp_at(format, exact))));
}

double distance_in_ulp(const Format& format, double computed, const Real& exact) {
  if (!std::isfinite(computed)) return std::abs(computed);
  // The ulp is a power of two: only the subtraction rounds before the conversion does.
  return to_double(Real(abs(Real(computed) - exact) / Real(ulp_at(format, exact))));
}

double distance_in_ulp(const Format& format, double computed, const Algebraic& exact) {
  if (exact.is_rational()) return distance_in_ulp(format, computed, exact.radicand());
  return distance_in_ulp(format, computed, exact.to_real());
}

}  // namespace ropelab
