#include "ropelab/checkpoint/bloom_config.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "catch.hpp"
#include "temporary_folder.hpp"

using namespace ropelab;

namespace {

// A small config with these members put in, or with null taken out.
std::string changed(const std::string& members) {
  auto json = nlohmann::json::parse(R"({"model_type": "bloom", "hidden_size": 128, "n_layer": 4,
      "n_head": 4, "vocab_size": 256})");
  json.merge_patch(nlohmann::json::parse(members));
  return json.dump();
}

BloomConfig read(const std::string& text) {
  const TemporaryFolder folder;
  return read_bloom_config(folder.write("config.json", text));
}

BloomConfig with(const std::string& members) { return read(changed(members)); }

std::string refusal_of(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.write("config.json", text), start = "'" + path + "': ";
  try {
    read_bloom_config(path);
    return "it was taken";
  } catch (const std::invalid_argument& problem) {
    const std::string sentence = problem.what();
    CHECK(sentence.substr(0, start.size()) == start);
    return sentence.substr(start.size());
  }
}

std::string config_refusal(const std::string& members) { return refusal_of(changed(members)); }

}  // namespace

TEST_CASE("what BLOOM's config.json leaves out is as Hugging Face has it") {
  const BloomConfig config = with("{}");
  CHECK(config.hidden_size == 128);
  CHECK(config.layers == 4);
  CHECK(config.heads == 4);
  CHECK(config.head_dim() == 32);
  CHECK(config.vocabulary == 256);
  CHECK(config.layer_norm_epsilon == 1e-5);
  CHECK_FALSE(config.residual_after_layer_norm);
  CHECK(config.tied_output_layer);
  CHECK(config.encoding == PositionEncoding::alibi);
  CHECK(with(R"({"layer_norm_epsilon": 2.5e-6})").layer_norm_epsilon == 2.5e-6);
  CHECK(with(R"({"apply_residual_connection_post_layernorm": true})").residual_after_layer_norm);
  CHECK_FALSE(with(R"({"tie_word_embeddings": false})").tied_output_layer);
  CHECK(with(R"({"position_encoding": null, "rope_base": null})").encoding ==
        PositionEncoding::alibi);
}

TEST_CASE("the shapes of BLOOM's family are read, by older names of keys too") {
  // [HF] huggingface.co/bigscience/bloom: the keys of its config.json that shape the model, and
  // some that do not.
  const BloomConfig large = read(R"({
    "apply_residual_connection_post_layernorm": false, "attention_dropout": 0.0,
    "attention_softmax_in_fp32": true, "bias_dropout_fusion": true, "hidden_dropout": 0.0,
    "layer_norm_epsilon": 1e-05, "masked_softmax_fusion": true, "model_type": "bloom",
    "n_embed": 14336, "n_inner": null, "n_layer": 70, "num_attention_heads": 112,
    "offset_alibi": 100, "pretraining_tp": 4, "seq_length": 2048, "slow_but_exact": false,
    "vocab_size": 250880})");
  CHECK(large.hidden_size == 14336);
  CHECK(large.layers == 70);
  CHECK(large.heads == 112);
  CHECK(large.head_dim() == 128);
  CHECK(large.vocabulary == 250880);

  const BloomConfig old = read(R"({"model_type": "bloom", "n_embd": 1024, "num_hidden_layers": 24,
      "num_attention_heads": 16, "n_head": 16, "vocab_size": 250880})");
  CHECK(old.hidden_size == 1024);
  CHECK(old.layers == 24);
  CHECK(old.heads == 16);
}

TEST_CASE("the position encodings of the small models are read") {
  const auto config = [](const std::string& model) {
    return read_bloom_config(ROPELAB_TEST_DATA "/bloom/" + model + "/config.json");
  };
  CHECK(config("tiny-kjv").encoding == PositionEncoding::alibi);
  CHECK(config("random-6head").residual_after_layer_norm);
  CHECK(config("random-6head").head_dim() == 16);
  CHECK(config("alibi-256-kjv").encoding == PositionEncoding::alibi);
  CHECK(config("none-kjv").encoding == PositionEncoding::none);
  CHECK(config("sinusoidal-kjv").encoding == PositionEncoding::sinusoidal);
  CHECK(config("sinusoidal-wide-kjv").encoding == PositionEncoding::sinusoidal);
  CHECK(config("learned-kjv").encoding == PositionEncoding::learned);
  CHECK(config("learned-kjv").max_positions == 256);
  CHECK(config("rotary-kjv").encoding == PositionEncoding::rotary);
  CHECK(config("rotary-kjv").rope_base == 10000);
  CHECK(config("t5-kjv").encoding == PositionEncoding::t5);
  CHECK(config("t5-kjv").t5_buckets == 32);
  CHECK(config("t5-kjv").t5_max_distance == 128);
  CHECK(name_of(PositionEncoding::sinusoidal) == "sinusoidal");
}

TEST_CASE("a config that does not describe a BLOOM model is refused in a sentence") {
  struct Case {
    const char *members, *sentence;
  };
  const Case cases[] = {
      {R"({"model_type": null})", "there is no model_type; \"bloom\" would be right"},
      {R"({"model_type": "gpt2"})", "model_type is \"gpt2\"; \"bloom\" would be right"},
      {R"({"model_type": 1})", "model_type is 1; a text would be right"},
      {R"({"hidden_size": null})",
       "there is no hidden_size or n_embed or n_embd; a whole number from 1 to 4194304 would be "
       "right"},
      {R"({"hidden_size": "128"})", "hidden_size is \"128\"; a number would be right"},
      {R"({"hidden_size": 128.0})",
       "hidden_size is 128.0; a whole number from 1 to 4194304 would be right"},
      {R"({"hidden_size": 0})",
       "hidden_size is 0; a whole number from 1 to 4194304 would be right"},
      {R"({"hidden_size": 1e20})",
       "hidden_size is 1e+20; a whole number from 1 to 4194304 would be right"},
      {R"({"n_embed": 64})",
       "hidden_size is 128 and n_embed is 64; only one of them, or the same, would be right"},
      {R"({"n_layer": null})",
       "there is no n_layer or num_hidden_layers; a whole number from 1 to 4096 would be right"},
      {R"({"n_layer": -1})", "n_layer is -1; a whole number from 1 to 4096 would be right"},
      {R"({"num_hidden_layers": 5})",
       "n_layer is 4 and num_hidden_layers is 5; only one of them, or the same, would be right"},
      {R"({"n_head": null})",
       "there is no n_head or num_attention_heads; a whole number from 1 to 65536 would be right"},
      {R"({"num_attention_heads": 8})",
       "n_head is 4 and num_attention_heads is 8; only one of them, or the same, would be right"},
      {R"({"n_head": 5})",
       "hidden_size is 128 and there are 5 heads; a multiple of the heads would be right"},
      {R"({"n_head": true})", "n_head is true; a number would be right"},
      {R"({"vocab_size": null})",
       "there is no vocab_size; a whole number from 1 to 2147483648 would be right"},
      {R"({"vocab_size": [256]})", "vocab_size is a list; a number would be right"},
      {R"({"layer_norm_epsilon": 0})",
       "layer_norm_epsilon is 0; a number above 0 and below 1 would be right"},
      {R"({"layer_norm_epsilon": -1e-5})",
       "layer_norm_epsilon is -1e-05; a number above 0 and below 1 would be right"},
      {R"({"layer_norm_epsilon": "1e-5"})",
       "layer_norm_epsilon is \"1e-5\"; a number would be right"},
      {R"({"apply_residual_connection_post_layernorm": "false"})",
       "apply_residual_connection_post_layernorm is \"false\"; true or false would be right"},
      {R"({"tie_word_embeddings": 1})", "tie_word_embeddings is 1; true or false would be right"},
      {R"({"position_encoding": "rope"})",
       "position_encoding is \"rope\"; one of alibi, none, sinusoidal, learned, rotary, t5 would "
       "be "
       "right"},
      {R"({"position_encoding": 1})", "position_encoding is 1; a text would be right"},
      {R"({"position_encoding": "rotary"})",
       "there is no rope_base; a number above 0 would be right"},
      {R"({"position_encoding": "rotary", "rope_base": 0})",
       "rope_base is 0; a number above 0 would be right"},
      {R"({"position_encoding": "rotary", "rope_base": "1e4"})",
       "rope_base is \"1e4\"; a number would be right"},
      {R"({"position_encoding": "rotary", "rope_base": 1e4, "hidden_size": 12})",
       "a head has 3 components and position_encoding is \"rotary\", which takes them in pairs; "
       "an even number would be right"},
      {R"({"position_encoding": "sinusoidal", "hidden_size": 3, "n_head": 1})",
       "hidden_size is 3 and position_encoding is \"sinusoidal\", which takes components in pairs; "
       "an even number would be right"},
      {R"({"rope_base": 10000})",
       "rope_base is 10000, but position_encoding is \"alibi\"; rotary, or no rope_base, would be "
       "right"},
      {R"({"position_encoding": "t5", "t5_buckets": 32})",
       "there is no t5_max_distance; a whole number from 17 to 1073741824 would be right"},
      {R"({"position_encoding": "t5", "t5_max_distance": 128})",
       "there is no t5_buckets; a whole number from 2 to 1048576 would be right"},
      {R"({"position_encoding": "t5", "t5_buckets": 31, "t5_max_distance": 128})",
       "t5_buckets is 31; an even number would be right"},
      {R"({"position_encoding": "t5", "t5_buckets": 32, "t5_max_distance": 16})",
       "t5_max_distance is 16; a whole number from 17 to 1073741824 would be right"},
      {R"({"position_encoding": "none", "t5_buckets": 32})",
       "t5_buckets is 32, but position_encoding is \"none\"; t5, or no t5_buckets, would be right"},
      {R"({"position_encoding": "learned"})",
       "there is no max_positions; a whole number from 1 to 2147483648 would be right"},
      {R"({"position_encoding": "rotary", "rope_base": 1e4, "max_positions": 256})",
       "max_positions is 256, but position_encoding is \"rotary\"; learned, or no max_positions, "
       "would be right"},
  };
  for (const Case& each : cases) CHECK(config_refusal(each.members) == each.sentence);
}

TEST_CASE("a config that is no JSON object is refused in a sentence") {
  CHECK_THAT(refusal_of("{\n\"n_layer\": 4,\n}"), ContainsSubstring("line 3: this is not JSON: "));
  CHECK_THAT(refusal_of(""), ContainsSubstring("line 1: this is not JSON: "));
  CHECK(refusal_of("[]") == "it holds a list; an object, {...}, would be right");
  CHECK(refusal_of(R"({"n_layer": 4, "n_layer": 4})") ==
        "it has 'n_layer' more than once; once would be right");
  CHECK_THAT(refusal_of("{\"n_layer\": " + std::string(100000, '[')),
             ContainsSubstring("nests more than 100 levels deep"));
  const TemporaryFolder folder;
  const std::string missing = folder / "config.json";
  CHECK_THROWS_WITH(read_bloom_config(missing), "'" + missing + "': No such file or directory");
}
