#include "ropelab/simulation/construction.hpp"

namespace ropelab {

Algebraic amplitude(const Construction& construction) {
  return amplification(construction) * square_root(Rational(construction.head_dim));
}

Algebraic amplification(const Construction& construction) {
  return construction.slope / construction.theta;
}

}  // namespace ropelab
