// The forward pass of models in BLOOM's layout.
// [HF] Hugging Face transformers v4.30.2, models/bloom/modeling_bloom.py, which defines the layout;
// written anew.
//
// Of a text x_0 ... x_(L-1), E being the word embeddings and p_i what position_vectors.hpp adds:
//   h = LN_emb(E[x] + p)
//   for each layer: n = LN_input(h); [q k v] = n W_qkv + b, [head][q, k, v][head_dim];
//     q and k are turned where the encoding is rotary;
//     a = r + W_dense attention(q, k, v) + b, with r = n if the checkpoint says
//       apply_residual_connection_post_layernorm, else h;
//     n = LN_post(a); h = r + W_out gelu(n W_in + b) + b, with r = n or a in the same way
//   hidden states = LN_f(h), logits = hidden states W^T, W the output layer, which is E if it is
//   tied
//
// Scalar is float or double: that of every number between weights and logits. Figures do not depend
// on how many threads the caller's TBB arena has, only on the processor's vectors and on OpenBLAS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ropelab/checkpoint/checkpoint.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/transformer/attention.hpp"
#include "ropelab/transformer/attention_bias.hpp"
#include "ropelab/transformer/key_value_cache.hpp"
#include "ropelab/transformer/matrix.hpp"
#include "ropelab/transformer/position_vectors.hpp"
#include "ropelab/transformer/rotary.hpp"
#include "ropelab/transformer/weights.hpp"

namespace ropelab {

using Token = std::int32_t;

// Statistics of every head of every layer, summed over the runs they were handed to.
class AttentionStatistics {
 public:
  // Layer and head from 0. Only after a run.
  const HeadStatistics& at(std::size_t layer, std::size_t head) const {
    return layers_.at(layer).at(head);
  }

 private:
  template <class>
  friend class Transformer;
  std::vector<std::vector<HeadStatistics>> layers_;
};

// What a run is asked for beyond the hidden states; all of it may be left out.
template <class Scalar>
struct RunOptions {
  // Position of the first token; those of a cache come before the tokens of the run.
  long long first_position = 0;
  // Added to the scores instead of what the model adds itself.
  const AttentionBias<Scalar>* bias = nullptr;
  // For the model's own turning of queries and keys; only for the encoding `rotary`.
  const Rotary<Scalar>* rotary = nullptr;
  // The tokens continue those that are in, and are put in.
  KeyValueCache<Scalar>* cache = nullptr;
  AttentionStatistics* statistics = nullptr;
  // Shown the states of all tokens: 0 after the embedding LayerNorm, k after layer k, and, as
  // number layers+1, after the final LayerNorm.
  std::function<void(int, const ConstMatrixView<Scalar>&)> show_states;
  Interruption interruption;
};

template <class Scalar>
class Transformer {
 public:
  // The checkpoint must outlive the transformer: weights that are stored as Scalar are used where
  // they lie, others widened a few rows at a time whenever they are used.
  explicit Transformer(const Checkpoint& checkpoint);
  ~Transformer();

  const BloomConfig& config() const { return config_; }

  // The hidden states after the final LayerNorm, a row for each token. Beside weights and cache it
  // holds about 10 * hidden_size numbers for each token, and no score matrix larger than 128 rows
  // of one head for each thread. A cache that a run leaves early by an exception is as it was
  // before. Throws std::invalid_argument, in one sentence, for a token outside the vocabulary, a
  // position that the model does not know, or rotary where there is nothing to turn; Interrupted.
  Matrix<Scalar> run(std::span<const Token> tokens, const RunOptions<Scalar>& options = {}) const;

  // The logits of each row of hidden states; `logits` has as many rows, and a column for each
  // word. As a vocabulary may be large, this is asked for some rows at a time.
  void logits(const ConstMatrixView<Scalar>& hidden_states, MatrixView<Scalar> logits) const;
  Matrix<Scalar> logits(const ConstMatrixView<Scalar>& hidden_states) const;

 private:
  struct Layer {
    LayerNorm<Scalar> input_norm;
    Linear<Scalar> query_key_value, dense;
    LayerNorm<Scalar> post_attention_norm;
    Linear<Scalar> inner, outer;
  };
  struct Turns;
  class Run;

  const BloomConfig& config_;
  const Tensor& words_;
  WeightMatrix<Scalar> output_layer_;
  PositionVectors<Scalar> position_vectors_;
  LayerNorm<Scalar> embedding_norm_, final_norm_;
  std::vector<Layer> layers_;
  std::unique_ptr<AttentionBias<Scalar>> native_bias_;
  std::unique_ptr<Rotary<Scalar>> native_rotary_;  // null where nothing is turned
};

}  // namespace ropelab
