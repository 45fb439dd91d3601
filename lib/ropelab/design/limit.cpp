#include "ropelab/design/limit.hpp"

namespace ropelab {

Rational single_pair_limit(int precision, long long context) {
  const long long shared = (1LL << (precision - 1)) + 1;  // D
  if (context <= 2 * shared - 1) return 0;
  const long long positions = context / 2 + context % 2;  // n
  if (positions <= shared) return Rational(1, 3);
  return Rational((positions + shared - 1) / shared - 1, 2);
}

}  // namespace ropelab
