// The config.json of a BLOOM checkpoint: what the model looks like.
//
// [HF] huggingface/transformers, src/transformers/models/bloom/configuration_bloom.py: names of
// keys, and what holds where one is not there.
#pragma once

#include <string>

namespace ropelab {

// How a model is told where its tokens stand. BLOOM has ALiBi; the others are the same model with
// that taken out and something else put in.
enum class PositionEncoding { alibi, none, sinusoidal, learned, rotary, t5 };

struct BloomConfig {
  long long hidden_size = 0;  // these four are at least 1
  long long layers = 0;
  long long heads = 0;  // a divisor of hidden_size
  long long vocabulary = 0;
  long long head_dim() const { return hidden_size / heads; }

  double layer_norm_epsilon = 1e-5;        // above 0 and below 1
  bool residual_after_layer_norm = false;  // each residual is the LayerNorm's output, not its input
  bool tied_output_layer = true;           // the output layer is the word embeddings

  PositionEncoding encoding = PositionEncoding::alibi;
  double rope_base = 0;         // rotary, whose head_dim is even: above 0
  int t5_buckets = 0;           // t5: even, at least 2
  int t5_max_distance = 0;      // t5: above t5_buckets/2
  long long max_positions = 0;  // learned: rows of its table, at least 1
};

// Reads such a file. A key goes by any of its names:
//   hidden_size, n_embed, n_embd          required
//   n_layer, num_hidden_layers            required
//   n_head, num_attention_heads           required
//   vocab_size                            required
//   layer_norm_epsilon                    1e-5
//   apply_residual_connection_post_layernorm   false
//   tie_word_embeddings                   true
//   position_encoding                     "alibi"; or "none", "sinusoidal" (hidden_size is even),
//                                         "learned", "rotary", "t5"
//   rope_base, t5_buckets and t5_max_distance, max_positions    required of the encodings that have
//                                         them, and of no other
// and model_type must be "bloom". null counts as not being there, and other keys are not looked at:
// none of them changes what a BLOOM model computes.
// Throws std::invalid_argument, in one sentence that begins with the path and names the key, its
// value and what would be right, where the file cannot be read, is no JSON object or nests or
// repeats names, or where a key is missing, of the wrong kind or at odds with another.
BloomConfig read_bloom_config(const std::string& path);

// What config.json calls it: "alibi".
std::string name_of(PositionEncoding encoding);

}  // namespace ropelab
