// What a model's config.json, as Hugging Face transformers writes it, says of its attention.
//
// [HF] transformers, src/transformers/models/*/configuration_*.py: names of keys, and what holds
// where one is not there; modeling_rope_utils.py: what the keys of a scaling mean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ropelab::app {

inline constexpr int kMostHeads = 65536;  // of a layer

// RoPE's grid of a model, as the options of that name take it.
struct ModelGrid {
  std::string base;
  int rope_dim = 0;     // even, at least 2
  std::string scaling;  // empty where there is none
};

struct ModelConfig {
  std::string file;
  std::string model_type;

  long long layers = 0;  // these five are at least 1
  long long heads = 0;
  long long key_value_heads = 0;  // a divisor of heads
  long long head_dim = 0;
  long long hidden_size = 0;
  bool projection_bias = false;  // whether W_q and W_k add one
  // The positions that the model is made for; where there are none, the name of the key that
  // would say so is in context_key all the same.
  std::optional<long long> context;
  std::string context_key;
  // How many keys back a query sees, where that is limited.
  std::optional<long long> sliding_window;

  bool alibi = false;
  // Where there is ALiBi: whether it is added before the scores are divided by sqrt(head_dim), and
  // the b of the slopes 2^(-b k/n), which is 8 in the paper.
  bool bias_before_scale = false;
  std::string alibi_bias_max = "8";
  // Where there is RoPE.
  std::optional<ModelGrid> grid;
};

// The model types that are known: llama, mistral, ...
std::vector<std::string_view> known_model_types();

// Reads such a file. Throws std::invalid_argument, in one sentence that begins with the path and
// names the key, its value and what would be right, where it cannot be read, is not JSON, is of
// another type of model, or where a key is missing, of the wrong kind or at odds with another.
ModelConfig read_model_config(const std::string& path);

// Throws UsageError of --model: what the file does not say, or says for nothing.
[[noreturn]] void refuse(const ModelConfig& model, const std::string& problem);

// All of it in one line: "llama: context=4096, heads=32, ...".
std::string summary(const ModelConfig& model);

}  // namespace ropelab::app
