// Writes a checkpoint of a BLOOM model's shape with random weights: what takes time and memory does
// so as with real ones.
//   write_bloom_checkpoint /tmp/bloom-560m
//   write_bloom_checkpoint --layers 30 --hidden 4096 --heads 32 --shards 2 /tmp/bloom-7b1
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <map>

#include "benchmark/synthetic_checkpoint.hpp"

int main(int argc, char* argv[]) {
  using ropelab::TensorType;
  const std::map<std::string, TensorType> types = {{"bfloat16", TensorType::bfloat16},
                                                   {"float16", TensorType::float16},
                                                   {"float32", TensorType::float32}};
  ropelab::SyntheticCheckpoint checkpoint;
  checkpoint.config = ropelab::bloom_560m();
  std::string folder, type = "bfloat16";
  bool bare = false;

  CLI::App app("Writes a checkpoint of a BLOOM model's shape (BLOOM-560M's) with random weights");
  app.option_defaults()->always_capture_default();
  app.add_option("FOLDER", folder, "Where to; made if it is not there")->required();
  app.add_option("--layers", checkpoint.config.layers)->check(CLI::Range(1, 4096));
  app.add_option("--hidden", checkpoint.config.hidden_size)->check(CLI::Range(1, 1 << 22));
  app.add_option("--heads", checkpoint.config.heads)->check(CLI::Range(1, 1 << 16));
  app.add_option("--vocabulary", checkpoint.config.vocabulary)->check(CLI::Range(1, 1 << 30));
  app.add_option("--type", type)->check(CLI::IsMember(types));
  app.add_option("--shards", checkpoint.shards)->check(CLI::Range(1, 99999));
  app.add_option("--seed", checkpoint.seed);
  app.add_flag("--bare", bare, "Names without transformer. before them");
  CLI11_PARSE(app, argc, argv);

  try {
    if (checkpoint.config.hidden_size % checkpoint.config.heads != 0) {
      throw std::invalid_argument("--hidden must be a multiple of --heads");
    }
    checkpoint.type = types.at(type);
    checkpoint.prefix = !bare;
    write_checkpoint(checkpoint, folder);
  } catch (const std::exception& problem) {
    std::cerr << "write_bloom_checkpoint: " << problem.what() << '\n';
    return 1;
  }
}
