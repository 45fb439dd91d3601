#include "ropelab/alibi/slope.hpp"

#include <stdexcept>
#include <string>

#include "ropelab/exact/fixed_point.hpp"

namespace ropelab {
namespace {

// 2^(-8 head/heads), the rule for a power of two.
Algebraic geometric_slope(int heads, int head) {
  return Algebraic::power(Rational(2), -8LL * head, static_cast<unsigned>(heads));
}

int largest_power_of_two_up_to(int n) {
  int p = 1;
  while (p <= n / 2) p *= 2;
  return p;
}

// Whether slope * d <= 16 ln 2, by enclosures of both sides that are narrowed until they part.
bool is_visible(const Algebraic& slope, const Integer& d) {
  for (unsigned bits = 1024;; bits *= 2) {
    const Integer bias = d * fixed_point(slope, bits);  // less than d off
    const Integer limit = 16 * fixed_point_ln2(bits);   // less than 16 off
    if (abs(Integer(bias - limit)) >= d + 16) return bias < limit;
  }
}

// 16 ln 2 / slope to within 1, for slopes from 2^-1100 on: the quotient d = a/b of integers less
// than 16 and 1 off is off by at most (16 + d)/b, and b is about 2^1100 times greater than d.
Integer long_quotient(const Algebraic& slope) {
  constexpr unsigned bits = 3300;
  return 16 * fixed_point_ln2(bits) / fixed_point(slope, bits);
}

}  // namespace

Algebraic alibi_slope(int heads, int head) {
  if (heads < 1) {
    throw std::invalid_argument("heads is " + std::to_string(heads) + "; it must be at least 1");
  }
  if (head < 1 || head > heads) {
    throw std::invalid_argument("head is " + std::to_string(head) + "; it must be from 1 to " +
                                std::to_string(heads));
  }
  const int p = largest_power_of_two_up_to(heads);
  if (head <= p) return geometric_slope(p, head);
  // The odd places 1, 3, 5, ... among twice as many heads.
  const int place = 2 * (head - p) - 1;
  return Algebraic::power(Rational(2), -4LL * place, static_cast<unsigned>(p));
}

Integer visible_reach(const Algebraic& slope) {
  const Real reach = 16 * ln2() / slope.to_real();
  // The quotient is good to 2^-470 relative, so it may be off by a little from its integer part.
  const bool fits = reach < ldexp(Real(1), 400);
  Integer d = fits ? Integer(floor(reach + Real(0.5))) : long_quotient(slope);
  if (fits && abs(reach - Real(d)) > ldexp(Real(1), -60))
    return Real(d) < reach ? d : Integer(d - 1);
  while (!is_visible(slope, d)) --d;
  while (is_visible(slope, d + 1)) ++d;
  return d;
}

std::size_t visible_reach(const Algebraic& slope, std::size_t last) {
  const Integer reach = visible_reach(slope);
  return reach < last ? static_cast<std::size_t>(reach) : last;
}

}  // namespace ropelab
