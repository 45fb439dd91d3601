#include "ropelab/exact/fixed_point.hpp"

namespace ropelab {
namespace {

// Bits carried beyond those asked for. Every error below is under 100 (bits + guard), so that
// 2^guard is more than twice as much.
constexpr unsigned guard = 40;

unsigned bit_length(const Integer& x) { return x == 0 ? 0 : static_cast<unsigned>(msb(x)) + 1; }

// floor(x / 2^shift), also for negative x, which >> of cpp_int cuts towards zero.
Integer floor_shift(const Integer& x, unsigned shift) {
  if (x >= 0) return x >> shift;
  return -((-x + (Integer(1) << shift) - 1) >> shift);
}

// Drops the guard bits: to nearest, so that the result is less than 1 off.
Integer without_guard(const Integer& x) {
  return floor_shift(x + (Integer(1) << (guard - 1)), guard);
}

// sum over odd k of s^((k-1)/2) / (k n^k): atanh(1/n) for s = 1, atan(1/n) for s = -1. There
// are fewer than bits/4 + 2 terms for n >= 5; each is cut twice, and the rest is below 2.
Integer inverse_tangent(unsigned n, int s, unsigned bits) {
  Integer power = (Integer(1) << bits) / n;
  Integer sum = 0;
  int sign = 1;
  for (unsigned k = 1; power != 0; k += 2, sign *= s) {
    sum += sign * (power / k);
    power /= n * n;
  }
  return sum;
}

// Cosine and sine of an angle in [-1, 1] that is at most 3 off. The factor `angle` shrinks the
// error of the term before and adds at most 5 to it, for fewer than `bits` terms.
FixedPointTurn series(const Integer& angle, unsigned bits) {
  FixedPointTurn turn;
  Integer term = Integer(1) << bits;
  for (unsigned k = 0; term != 0; ++k) {
    Integer& sum = k % 2 == 0 ? turn.cosine : turn.sine;
    if (k % 4 < 2) {
      sum += term;
    } else {
      sum -= term;
    }
    term = floor_shift(term * angle, bits) / (k + 1);
  }
  return turn;
}

FixedPointTurn add_quarter_turns(const FixedPointTurn& turn, unsigned quarters) {
  switch (quarters) {
    case 1:
      return {-turn.sine, turn.cosine};
    case 2:
      return {-turn.cosine, -turn.sine};
    case 3:
      return {turn.sine, -turn.cosine};
    default:
      return turn;
  }
}

}  // namespace

// floor(x 2^bits), an integer root, by Newton's method: from above it decreases to it.
Integer fixed_point(const Algebraic& x, unsigned bits) {
  const unsigned root = x.root();
  Integer target = (numerator(x.radicand()) << (bits * root)) / denominator(x.radicand());
  if (root == 1 || target == 0) return target;
  // to_real() is good to 2^-500, so this start lies above the root.
  const Real start = ldexp(x.to_real(), static_cast<int>(bits)) * (1 + ldexp(Real(1), -490));
  Integer r = Integer(start) + 1;
  for (;;) {
    const Integer next = (r * (root - 1) + target / pow(r, root - 1)) / root;
    if (next >= r) return r;
    r = next;
  }
}

// ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749) = 0.69314718...
Integer fixed_point_ln2(unsigned bits) {
  const unsigned wide = bits + guard;
  return without_guard(18 * inverse_tangent(26, 1, wide) - 2 * inverse_tangent(4801, 1, wide) +
                       8 * inverse_tangent(8749, 1, wide));
}

// pi/2 = 8 atan(1/5) - 2 atan(1/239) (Machin) = 1.57079632...
Integer fixed_point_half_pi(unsigned bits) {
  const unsigned wide = bits + guard;
  return without_guard(8 * inverse_tangent(5, -1, wide) - 2 * inverse_tangent(239, -1, wide));
}

FixedPointTurn fixed_point_turn(const Algebraic& angle, const Integer& multiplier, unsigned bits) {
  // 1. x = |multiplier| angle and pi/2 with so many bits more that those above the point,
  //    which multiply their errors, do not matter.
  const Integer times = abs(multiplier);
  const unsigned above = bit_length(fixed_point(angle, 0)) + bit_length(times) + 2;
  const unsigned wide = bits + guard + above;
  const Integer x = times * fixed_point(angle, wide);
  const Integer half_pi = fixed_point_half_pi(wide);
  // 2. The nearest multiple of pi/2 is taken off: the rest is at most 3 * 2^above off.
  const Integer quarters = (x + half_pi / 2) / half_pi;
  const Integer rest = floor_shift(x - quarters * half_pi, above);
  // 3. Series, quadrant, and the sign of the multiplier.
  const FixedPointTurn turn =
      add_quarter_turns(series(rest, bits + guard), static_cast<unsigned>(Integer(quarters % 4)));
  const Integer sine = without_guard(turn.sine);
  return {without_guard(turn.cosine), multiplier < 0 ? Integer(-sine) : sine};
}

}  // namespace ropelab
