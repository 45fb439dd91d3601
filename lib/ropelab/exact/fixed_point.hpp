// Real numbers to any precision, with a proven error: for the rare question that the 512 bits
// of Real leave open. Slow; try Real first.
#pragma once

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/real.hpp"

namespace ropelab {

// Each of these is an integer less than 1 away from x * 2^bits, for bits up to 2^24.
Integer fixed_point(const Algebraic& x, unsigned bits);
Integer fixed_point_ln2(unsigned bits);
Integer fixed_point_half_pi(unsigned bits);

// Cosine and sine of multiplier * angle rad, in the same sense.
struct FixedPointTurn {
  Integer cosine;
  Integer sine;
};
FixedPointTurn fixed_point_turn(const Algebraic& angle, const Integer& multiplier, unsigned bits);

}  // namespace ropelab
