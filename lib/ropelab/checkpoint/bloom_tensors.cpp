#include "ropelab/checkpoint/bloom_tensors.hpp"

#include <fmt/format.h>

namespace ropelab {
namespace {

std::size_t size_of(long long count) { return static_cast<std::size_t>(count); }

// Adds tensors whose name begins with `start`.
class List {
 public:
  List(std::vector<TensorShape>& tensors, std::string start)
      : tensors_(tensors), start_(std::move(start)) {}

  void matrix(const char* name, std::size_t rows, std::size_t columns) {
    tensors_.push_back({start_ + name + ".weight", {rows, columns}});
  }
  void affine(const char* name, std::size_t out, std::size_t in) {
    matrix(name, out, in);
    tensors_.push_back({start_ + name + ".bias", {out}});
  }
  void norm(const char* name, std::size_t size) {
    tensors_.push_back({start_ + name + ".weight", {size}});
    tensors_.push_back({start_ + name + ".bias", {size}});
  }

 private:
  std::vector<TensorShape>& tensors_;
  std::string start_;
};

void add_layer(List layer, std::size_t hidden) {
  layer.norm("input_layernorm", hidden);
  layer.affine("self_attention.query_key_value", 3 * hidden, hidden);
  layer.affine("self_attention.dense", hidden, hidden);
  layer.norm("post_attention_layernorm", hidden);
  layer.affine("mlp.dense_h_to_4h", 4 * hidden, hidden);
  layer.affine("mlp.dense_4h_to_h", hidden, 4 * hidden);
}

}  // namespace

std::vector<TensorShape> bloom_tensors(const BloomConfig& config) {
  const std::size_t hidden = size_of(config.hidden_size), entries = size_of(config.vocabulary);
  std::vector<TensorShape> tensors;
  List top(tensors, "");
  top.matrix("word_embeddings", entries, hidden);
  top.norm("word_embeddings_layernorm", hidden);
  for (long long n = 0; n < config.layers; ++n) {
    add_layer(List(tensors, fmt::format("h.{}.", n)), hidden);
  }
  top.norm("ln_f", hidden);
  if (!config.tied_output_layer) top.matrix("lm_head", entries, hidden);
  if (config.encoding == PositionEncoding::learned) {
    top.matrix("position_embeddings", size_of(config.max_positions), hidden);
  }
  if (config.encoding == PositionEncoding::t5) {
    top.matrix("relative_attention_bias", size_of(config.t5_buckets), size_of(config.heads));
  }
  return tensors;
}

}  // namespace ropelab
