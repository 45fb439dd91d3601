#include "ropelab/checkpoint/checkpoint.hpp"

#include <stdexcept>

#include "catch.hpp"

using namespace ropelab;

namespace {

std::string model(const std::string& name) { return ROPELAB_TEST_DATA "/bloom/" + name; }

}  // namespace

TEST_CASE("a trained checkpoint is loaded in each of its types") {
  for (const char* file : {"", "/model-bf16.safetensors", "/model-fp16.safetensors"}) {
    const Checkpoint checkpoint(model("tiny-kjv") + file);
    CHECK(checkpoint.config().hidden_size == 128);
    CHECK(checkpoint.tensor("h.3.self_attention.query_key_value.weight").count() == 3 * 128 * 128);
    CHECK(&checkpoint.output_layer() == &checkpoint.tensor("word_embeddings.weight"));
  }
}
