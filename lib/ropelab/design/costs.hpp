// What a bias that is made by dimensions beside a head's own costs a model.
#pragma once

#include "ropelab/design/method.hpp"
#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// What a model's attention looks like. Up to 2^12 layers, 2^16 heads, 2^22 hidden dimensions and 8
// bytes, so that with up to 2^6 extra dimensions nothing leaves a long long.
struct AttentionShape {
  long long layers;
  long long heads;
  long long key_value_heads;  // a divisor of heads
  long long head_dim;
  long long hidden_size;
  long long element_bytes;       // of the key-value cache
  bool projection_bias = false;  // whether W_q and W_k add one
};

// Per head, of the query and of the key: 2 for each rotated pair, also where its frequency is one
// that the model has; 2 for each term, one multiplied by a constant key and one by a constant
// query; none for native. Throws std::invalid_argument unless `parts` (pairs, or terms) is at least
// 1, or 1 for single; native has none to count.
long long extra_dimensions(Method method, long long parts);

// Of a linear map, counting its biases if it has any.
constexpr long long linear_parameters(long long in, long long out, bool bias) {
  return in * out + (bias ? out : 0);
}

// Bytes that so many dimensions of every key take in the cache, for each token.
long long key_bytes_per_token(const AttentionShape& shape, long long dimensions);

// What is needed beside what the model has.
struct BiasCosts {
  long long extra_dimensions;
  // The same with head_dim + extra_dimensions rounded up to a multiple of 8, as attention kernels
  // want it.
  long long padded_dimensions;
  // Where W_q and W_k are widened for them; none if the fixed vectors are constants.
  long long projection_parameters;
  // More of them for each query, key and head.
  long long multiplications_per_score;
  // Of the keys, in all layers.
  long long cache_bytes_per_token;
  // sqrt(head_dim/(head_dim + extra_dimensions)): what every score, of content and of the bias, is
  // multiplied by where a kernel divides by the root of the enlarged head dimension.
  Algebraic score_factor_if_unscaled;
};
BiasCosts bias_costs(const AttentionShape& shape, long long extra_dimensions);

// By how many logits a bias of -slope*d is then too weak at d = context - 1, the far end:
// slope (context - 1) (1 - score_factor_if_unscaled). To 2^-470 relative.
Real bias_error_if_unscaled(const BiasCosts& costs, const Algebraic& slope, long long context);

}  // namespace ropelab
