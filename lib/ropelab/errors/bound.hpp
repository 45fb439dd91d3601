// An a-priori bound on the rounding error of the construction's scores.
#pragma once

#include <optional>

#include "ropelab/simulation/pipeline.hpp"

namespace ropelab {

// What the bound depends on; doubles, since a bound is rounded up anyway.
struct BoundInputs {
  double theta;      // rad per position
  double amplitude;  // N
  double key_part;   // K, the key's share of N
  double head_dim;
  double first_position;
  double context;
};

// |F(i,j) - S(i-j)| <= bound, in logits, for all positions first_position <= j <= i <
// first_position + context. Empty where a step may leave the range of its format. Does not
// decrease as the context grows with theta and N held fixed.
std::optional<double> rounding_bound(const Pipeline& pipeline, const BoundInputs& inputs);

}  // namespace ropelab
