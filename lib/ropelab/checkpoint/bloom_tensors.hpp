// The tensors that a BLOOM model is made of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ropelab/checkpoint/bloom_config.hpp"

namespace ropelab {

struct TensorShape {
  std::string name;
  std::vector<std::size_t> shape;
};

// With hidden size D, V entries and, in layer n from 0 on, "h.n." before the name:
//   word_embeddings.weight                        [V, D]
//   word_embeddings_layernorm.weight, .bias       [D]
//   h.n.input_layernorm.weight, .bias             [D]
//   h.n.self_attention.query_key_value.weight     [3 D, D]; .bias [3 D]
//                    rows head*3*d + c*d + component, d = D/heads, c = 0, 1, 2: query, key, value
//   h.n.self_attention.dense.weight               [D, D]; .bias [D]
//   h.n.post_attention_layernorm.weight, .bias    [D]
//   h.n.mlp.dense_h_to_4h.weight                  [4 D, D]; .bias [4 D]
//   h.n.mlp.dense_4h_to_h.weight                  [D, 4 D]; .bias [D]
//   ln_f.weight, .bias                            [D]
//   lm_head.weight                                [V, D], if the output layer is not tied
//   position_embeddings.weight                    [max_positions, D], if learned
//   relative_attention_bias.weight                [t5_buckets, heads], if t5
// Matrices are [out, in].
std::vector<TensorShape> bloom_tensors(const BloomConfig& config);

}  // namespace ropelab
