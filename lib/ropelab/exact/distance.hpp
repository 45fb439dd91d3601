// How far a computed number is from the exact one.
#pragma once

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/real.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab {

// ulp(exact): the format's spacing at the exact value, not at the computed or rounded one,
// which may lie in the next binade.
double ulp_at(const Format& format, const Rational& exact);
double ulp_at(const Format& format, const Real& exact);
double ulp_at(const Format& format, const Algebraic& exact);

// |computed - exact| / ulp(exact), correctly rounded to double. Infinite if `computed` is,
// NaN if it is NaN. A Real is taken at its word.
double distance_in_ulp(const Format& format, double computed, const Rational& exact);
double distance_in_ulp(const Format& format, double computed, const Real& exact);
double distance_in_ulp(const Format& format, double computed, const Algebraic& exact);

}  // namespace ropelab
