// An a-priori bound on the rounding error of the construction's scores.
#pragma once

#include <optional>

#include "ropelab/simulation/content.hpp"

namespace ropelab {

// What the bound depends on; doubles, since a bound is rounded up anyway.
struct BoundInputs {
  double theta;      // rad per position
  double amplitude;  // N
  double key_part;   // K, the key's share of N
  double head_dim;
  double first_position;
  double context;
  std::optional<PairPlace> among_content{};  // where the pair stands among head_dim products
  // K is sqrt(N): it is rounded like any number, even where the double above is a power of two,
  // and follows N where that changes (context_limit.hpp).
  bool even_split = false;
};

// |F(i,j) - S(i-j)| <= bound, in logits, for all positions first_position <= j <= i <
// first_position + context; among content |F - (S + C)| <= bound, whatever it is. Empty where a
// step may leave the range of its format. Does not decrease as the context grows with theta and N
// held fixed.
std::optional<double> rounding_bound(const Pipeline& pipeline, const BoundInputs& inputs);

}  // namespace ropelab
