#include "ropelab/simulation/construction.hpp"

namespace ropelab {

Algebraic key_part(const Split& split, const Algebraic& amplitude) {
  return split.even ? square_root(amplitude) : Algebraic::power(2, split.key_exponent, 1);
}

Algebraic amplitude(const Construction& construction) {
  return amplification(construction) * square_root(Rational(construction.head_dim));
}

Algebraic amplification(const Construction& construction) {
  return construction.slope / construction.theta;
}

}  // namespace ropelab
