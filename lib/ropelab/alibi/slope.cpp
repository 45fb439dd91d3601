#include "ropelab/alibi/slope.hpp"

#include <limits>
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

long long visible_reach(const Algebraic& slope) {
  constexpr long long longest = std::numeric_limits<long long>::max();
  const Real reach = 16 * ln2() / slope.to_real();
  if (reach >= Real(longest)) return longest;
  // Right for all but slopes made to be close: the quotient is good to 2^-470 relative.
  const long long nearest = static_cast<long long>(floor(reach + 0.5));
  const bool is_settled = abs(reach - nearest) > ldexp(Real(1), -400);
  const bool sees_nearest = is_settled ? nearest < reach : is_visible(slope, nearest);
  return sees_nearest ? nearest : nearest - 1;
}

}  // namespace ropelab
