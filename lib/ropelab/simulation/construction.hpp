// The construction: one extra pair of components per head whose rotated dot product stands
// in for ALiBi's bias.
#pragma once

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// The query part is (-N/K, 0), the key part (0, K); rotated by i*theta and j*theta their dot
// product is -N*sin((i-j)*theta), and divided by sqrt(head_dim) it is about -slope*(i-j).
// K, the key's share of N, is 1 in the source article.
struct Construction {
  Algebraic theta;       // rad per position
  Algebraic slope;       // logits per position that the scaled score is to lose
  long long head_dim;    // the dimension whose square root divides the scores
  Algebraic key_part{};  // K

  friend bool operator==(const Construction&, const Construction&) = default;
};

// How N is divided between query and key: K is sqrt(N), so that both parts have the same size,
// or else a power of two, which every format in range holds and multiplies by exactly. K = 1
// leaves N with the query, as in the source article.
struct Split {
  bool even = false;
  int key_exponent = 0;  // of K, unless even

  friend bool operator==(const Split&, const Split&) = default;
};

// K where N is divided so.
Algebraic key_part(const Split& split, const Algebraic& amplitude);

// N = slope * sqrt(head_dim) / theta.
Algebraic amplitude(const Construction& construction);

// A = slope / theta, logits per unit of absolute error in a rotated component.
Algebraic amplification(const Construction& construction);

}  // namespace ropelab
