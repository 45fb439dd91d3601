// A checkpoint of a BLOOM model, as Hugging Face's save_pretrained leaves it in a folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/checkpoint/bloom_config.hpp"
#include "ropelab/checkpoint/safetensors.hpp"

namespace ropelab {

// It holds the tensors that bloom_tensors lists, each with or without "transformer." before its
// name.
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
  // a tensor of that list is missing, has another shape or a type that is not is_real; where there
  // is one that is not in the list (the causal_mask of old files aside); and where the index names
  // a shard outside the folder, a tensor that its shard does not have, or none of a shard's.
  explicit Checkpoint(const std::string& path);

  const BloomConfig& config() const { return config_; }

  // The tensor with that name, without "transformer.". Valid as long as the checkpoint lives.
  // Throws std::invalid_argument where the list has none.
  const Tensor& tensor(std::string_view name) const;

  // The weight of the output layer, [entries, hidden size]: word_embeddings.weight if it is tied.
  const Tensor& output_layer() const;

  // The paths of config.json, the index if there is one, and the files of weights.
  std::vector<std::string> files() const;

 private:
  struct Found {
    const SafetensorsFile* file;
    const Tensor* tensor;
  };

  void open(const std::string& weights);
  void open_shards(const std::string& index);
  void add(const SafetensorsFile& file, const Tensor& tensor);
  void require_listed() const;
  void require_tied() const;

  std::string path_;
  std::vector<std::string> read_;
  BloomConfig config_;
  std::vector<SafetensorsFile> weights_;
  std::map<std::string, Found, std::less<>> tensors_;  // by the name without "transformer."
};

}  // namespace ropelab
