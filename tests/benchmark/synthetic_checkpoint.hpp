// Checkpoints of any BLOOM shape, for timing and for tests: the weights are random, everything else
// is as Hugging Face's save_pretrained leaves it.
#pragma once

#include <cstdint>
#include <string>

#include "ropelab/checkpoint/bloom_config.hpp"
#include "ropelab/checkpoint/tensor.hpp"

namespace ropelab {

struct SyntheticCheckpoint {
  BloomConfig config;                      // written to config.json, whatever the encoding
  TensorType type = TensorType::bfloat16;  // or float16, float32
  bool prefix = true;                      // "transformer." before names
  int shards = 1;  // more: files of about the same size, and model.safetensors.index.json
  std::uint64_t seed = 1;
};

// BLOOM-560M's: 24 layers, 1024 wide, 16 heads, 250,880 entries.
BloomConfig bloom_560m();

// Writes it into the folder, which is made if it is not there; files of those names are replaced.
// Matrices and biases are N(0, 0.02), LayerNorm's weights N(1, 0.02), of 65,536 values each at
// equal steps of probability, rounded to the type. The weights depend on the config, the type and
// the seed alone, neither on the shards nor on the machine's libraries. Throws std::runtime_error,
// naming the file, where one cannot be written.
void write_checkpoint(const SyntheticCheckpoint& checkpoint, const std::string& folder);

}  // namespace ropelab
