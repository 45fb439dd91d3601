// A checkpoint of a BLOOM model, as Hugging Face's save_pretrained leaves it in a folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/checkpoint/bloom_config.hpp"
#include "ropelab/checkpoint/safetensors.hpp"

namespace ropelab {

// With hidden size D, V entries and, in layer n from 0 on, "h.n." before the name, it holds
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
// each with or without "transformer." before it. Matrices are [out, in].
class Checkpoint {
 public:
  // The path is that of a folder with config.json and either model.safetensors or, where that is
  // not there, model.safetensors.index.json and the shards that it names; or that of one such file
  // of weights, or of one index, with config.json beside it.
  //
  // Files are mapped, and of their data nothing is read, but for lm_head.weight: where the output
  // layer is tied, most files leave it out, and it must have the bytes of word_embeddings.weight.
  // Throws std::invalid_argument, in one sentence that begins with the path of a file or folder,
  // where any of these cannot be read or is refused by read_bloom_config or SafetensorsFile; where
  // a tensor of the list is missing, has another shape or a type that is not is_real; where there
  // is one that is not in the list (the causal_mask of old files aside); and where the index names
  // a shard outside the folder, a tensor that its shard does not have, or none of a shard's.
  explicit Checkpoint(const std::string& path);

  const BloomConfig& config() const { return config_; }

  // The tensor with that name, without "transformer.". Valid as long as the checkpoint lives.
  // Throws std::invalid_argument where the list has none.
  const Tensor& tensor(std::string_view name) const;

  // [V, D]: the weight of the output layer, which is word_embeddings.weight if it is tied.
  const Tensor& output_layer() const;

  // The paths of config.json, the index if there is one, and the files of weights.
  std::vector<std::string> files() const;

 private:
  void open(const std::string& weights);
  void open_shards(const std::string& index);
  void add(const SafetensorsFile& file, const Tensor& tensor);
  void require_listed() const;
  void require_tied() const;

  struct Found {
    const SafetensorsFile* file;
    const Tensor* tensor;
  };

  std::string path_;
  std::vector<std::string> read_;
  BloomConfig config_;
  std::vector<SafetensorsFile> weights_;
  std::map<std::string, Found, std::less<>> tensors_;  // by the name without "transformer."
};

}  // namespace ropelab
