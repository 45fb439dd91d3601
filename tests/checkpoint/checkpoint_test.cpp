#include "ropelab/checkpoint/checkpoint.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "benchmark/synthetic_checkpoint.hpp"
#include "catch.hpp"
#include "checkpoint/safetensors_text.hpp"
#include "ropelab/checkpoint/bloom_tensors.hpp"
#include "ropelab/formats/format.hpp"
#include "ropelab/table/text_file.hpp"
#include "temporary_folder.hpp"

using namespace ropelab;
using Json = nlohmann::ordered_json;

namespace {

std::string model(const std::string& name) { return ROPELAB_TEST_DATA "/bloom/" + name; }

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> all(tensor.count());
  widen(tensor, std::span(all));
  return all;
}

// The smallest models there are.
SyntheticCheckpoint smallest() {
  SyntheticCheckpoint checkpoint;
  checkpoint.config.hidden_size = 4;
  checkpoint.config.layers = 2;
  checkpoint.config.heads = 2;
  checkpoint.config.vocabulary = 6;
  return checkpoint;
}

// A file taken apart, to be put together otherwise.
struct Parts {
  explicit Parts(const std::string& path) {
    const std::string file = read_text_file(path);
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), 8);
    header = Json::parse(file.substr(8, length));
    data = file.substr(8 + length);
  }
  std::string file() const { return safetensors(header.dump(), 0) + data; }

  void rename(const std::string& from, const std::string& to) {
    Json renamed;
    for (const auto& [name, entry] : header.items()) renamed[name == from ? to : name] = entry;
    header = renamed;
  }
  void append(const std::string& name, const std::string& dtype, const Json& shape,
              const std::string& bytes) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  std::string bytes_of(const std::string& name) const {
    const auto& offsets = header.at(name).at("data_offsets");
    return data.substr(offsets[0], offsets[1].get<std::size_t>() - offsets[0].get<std::size_t>());
  }

  Json header;
  std::string data;
};

// What is said of a folder that `change` was done to.
template <class Change>
std::string checkpoint_refusal(const SyntheticCheckpoint& checkpoint, Change change) {
  const TemporaryFolder folder;
  write_checkpoint(checkpoint, folder.path());
  change(folder);
  try {
    const Checkpoint taken(folder.path());
    return "it was taken";
  } catch (const std::invalid_argument& problem) {
    // The folder's path, which differs from run to run.
    std::string sentence = problem.what();
    const std::string start = "'" + folder.path();
    CHECK(sentence.substr(0, start.size()) == start);
    return "'" + sentence.substr(start.size());
  }
}

// The same where one file of weights was changed, or the config.
template <class Change>
std::string refusal_of_weights(const SyntheticCheckpoint& checkpoint, Change change) {
  return checkpoint_refusal(checkpoint, [&](const TemporaryFolder& folder) {
    Parts parts(folder / "model.safetensors");
    change(parts);
    folder.write("model.safetensors", parts.file());
  });
}

template <class Change>
std::string refusal_of_index(Change change) {
  SyntheticCheckpoint checkpoint = smallest();
  checkpoint.shards = 3;
  return checkpoint_refusal(checkpoint, [&](const TemporaryFolder& folder) {
    Json index = Json::parse(read_text_file(folder / "model.safetensors.index.json"));
    change(index);
    folder.write("model.safetensors.index.json", index.dump());
  });
}

void change_config(const TemporaryFolder& folder, const std::string& members) {
  Json config = Json::parse(read_text_file(folder / "config.json"));
  config.merge_patch(Json::parse(members));
  folder.write("config.json", config.dump());
}

const char* const kQueries = "transformer.h.1.self_attention.query_key_value.weight";

}  // namespace

TEST_CASE("the small trained models are loaded, in each type and with each encoding") {
  for (const char* file :
       {"tiny-kjv", "tiny-kjv/model-bf16.safetensors", "tiny-kjv/model-fp16.safetensors",
        "alibi-256-kjv", "none-kjv", "sinusoidal-kjv", "sinusoidal-wide-kjv", "rotary-kjv"}) {
    const Checkpoint checkpoint(model(file));
    CHECK(checkpoint.config().layers == 4);
    CHECK(checkpoint.tensor("h.3.self_attention.query_key_value.weight").count() == 3 * 128 * 128);
    CHECK(&checkpoint.output_layer() == &checkpoint.tensor("word_embeddings.weight"));
  }
  const std::vector<std::size_t> table = {32, 4}, positions = {256, 128};
  CHECK(Checkpoint(model("t5-kjv")).tensor("relative_attention_bias.weight").shape == table);
  CHECK(Checkpoint(model("learned-kjv")).tensor("position_embeddings.weight").shape == positions);
  const Checkpoint awkward(model("random-6head"));
  CHECK(awkward.config().head_dim() == 16);
  CHECK(awkward.files() == std::vector<std::string>{model("random-6head/config.json"),
                                                    model("random-6head/model.safetensors")});
  CHECK_THROWS_WITH(awkward.tensor("h.2.ln"),
                    "'" + model("random-6head") + "': there is no tensor 'h.2.ln' in it");
}

TEST_CASE("the rounded weights of the trained model are its float32 ones, rounded") {
  const Checkpoint float32(model("tiny-kjv"));
  const std::pair<const char*, const char*> rounded[] = {{"bfloat16", "/model-bf16.safetensors"},
                                                         {"float16", "/model-fp16.safetensors"}};
  for (const auto& [format, file] : rounded) {
    const Checkpoint checkpoint(model("tiny-kjv") + file);
    std::size_t wrong = 0, count = 0;
    for (const auto& [name, shape] : bloom_tensors(float32.config())) {
      std::vector<double> wanted = values(float32.tensor(name));
      for (double& value : wanted) value = round_to(find_format(format), value);
      count += wanted.size();
      wrong += values(checkpoint.tensor(name)) == wanted ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(count == 826368);  // parameters
  }
}

TEST_CASE("shards, bare names and types change nothing but the files") {
  SyntheticCheckpoint synthetic = smallest();
  synthetic.type = TensorType::float32;
  const TemporaryFolder folder;
  write_checkpoint(synthetic, folder / "whole");
  synthetic.shards = 5;
  synthetic.prefix = false;
  write_checkpoint(synthetic, folder / "shards");
  synthetic.type = TensorType::float16;
  write_checkpoint(synthetic, folder / "float16");

  const Checkpoint whole(folder / "whole");
  Checkpoint first(folder / "shards/model.safetensors.index.json");
  const Checkpoint shards = std::move(first);
  const Checkpoint half(folder / "float16/");
  CHECK(shards.files().size() == 7);
  CHECK(shards.files()[1] == folder / "shards/model.safetensors.index.json");
  CHECK(shards.files()[6] == folder / "shards/model-00005-of-00005.safetensors");
  std::size_t different = 0;
  for (const auto& [name, shape] : bloom_tensors(whole.config())) {
    std::vector<double> wanted = values(whole.tensor(name));
    different += values(shards.tensor(name)) == wanted ? 0 : 1;
    // Both are one value rounded once: half an ulp of float16 apart, and of float32.
    std::vector<double> got = values(half.tensor(name));
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      const double ulp_of_both = ulp(find_format("float16"), wanted[n]);
      different += std::fabs(got[n] - wanted[n]) <= 0.5001 * ulp_of_both ? 0 : 1;
    }
  }
  CHECK(different == 0);
}

TEST_CASE("random weights have the mean and spread that they are said to have") {
  SyntheticCheckpoint synthetic = smallest();
  synthetic.config.hidden_size = 256;
  synthetic.config.vocabulary = 1000;
  const TemporaryFolder folder;
  write_checkpoint(synthetic, folder.path());
  const Checkpoint checkpoint(folder.path());
  const auto moments = [&](const char* name) {
    const std::vector<double> all = values(checkpoint.tensor(name));
    double sum = 0, squares = 0;
    for (const double value : all) sum += value;
    const double mean = sum / static_cast<double>(all.size());
    for (const double value : all) squares += (value - mean) * (value - mean);
    return std::pair(mean, std::sqrt(squares / static_cast<double>(all.size())));
  };
  // Five standard errors: of 256,000 values 0.02/506 for the mean, 0.02/715 for the deviation.
  const auto [mean, deviation] = moments("word_embeddings.weight");
  CHECK(std::fabs(mean) < 2e-4);
  CHECK(std::fabs(deviation - 0.02) < 1.4e-4);
  // Of 256 values, which bfloat16 holds to 1/128: 0.02/16.
  CHECK(std::fabs(moments("ln_f.weight").first - 1) < 6.3e-3);
  CHECK(std::fabs(moments("h.1.input_layernorm.bias").first) < 6.3e-3);
  CHECK(values(checkpoint.tensor("h.0.mlp.dense_4h_to_h.weight")) !=
        values(checkpoint.tensor("h.1.mlp.dense_4h_to_h.weight")));
}

TEST_CASE("an output layer of its own, or a copy of the embeddings, is taken") {
  SyntheticCheckpoint synthetic = smallest();
  synthetic.config.tied_output_layer = false;
  const TemporaryFolder folder;
  write_checkpoint(synthetic, folder.path());
  const Checkpoint untied(folder.path());
  CHECK(&untied.output_layer() == &untied.tensor("lm_head.weight"));
  CHECK(values(untied.output_layer()) != values(untied.tensor("word_embeddings.weight")));

  const auto with_head = [](const std::string& dtype, bool same) {
    return refusal_of_weights(smallest(), [&](Parts& parts) {
      std::string bytes = parts.bytes_of("transformer.word_embeddings.weight");
      if (!same) bytes.back() = static_cast<char>(bytes.back() ^ 1);
      parts.append("lm_head.weight", dtype, {6, 4}, bytes);
    });
  };
  const std::string differs =
      "'/model.safetensors': tensor 'lm_head.weight' differs from 'word_embeddings.weight', to "
      "which it is tied; the same, or tie_word_embeddings false in config.json, would be right";
  CHECK(with_head("BF16", true) == "it was taken");
  CHECK(with_head("BF16", false) == differs);
  CHECK(with_head("F16", true) == differs);
  CHECK(checkpoint_refusal(smallest(), [](const TemporaryFolder& changed) {
          change_config(changed, R"({"tie_word_embeddings": false})");
        }) == "'': there is no tensor 'lm_head.weight'; one of shape [6, 4] would be right");
}

TEST_CASE("the masks that old files hold are passed over") {
  CHECK(refusal_of_weights(smallest(), [](Parts& parts) {
          parts.append("transformer.h.0.self_attention.scale_mask_softmax.causal_mask", "BOOL",
                       {1, 1, 2, 2}, std::string(4, '\1'));
        }) == "it was taken");
}

TEST_CASE("weights that do not make the model of the config are refused in a sentence") {
  CHECK(refusal_of_weights(
            smallest(),
            [](Parts& parts) { parts.rename(kQueries, "transformer.h.1.attn.weight"); }) ==
        "'': there is no tensor 'h.1.self_attention.query_key_value.weight'; "
        "one of shape [12, 4] would be right");
  CHECK(refusal_of_weights(smallest(),
                           [](Parts& parts) {
                             parts.header[kQueries]["shape"] = {4, 12};
                           }) ==
        "'/model.safetensors': tensor '" + std::string(kQueries) +
            "' has shape [4, 12]; [12, 4], by config.json, would be right");
  CHECK(refusal_of_weights(
            smallest(),
            [](Parts& parts) { parts.header["transformer.ln_f.bias"]["dtype"] = "I16"; }) ==
        "'/model.safetensors': tensor 'transformer.ln_f.bias' is of type I16; "
        "F16, BF16, F32 or F64 would be right");
  CHECK(refusal_of_weights(
            smallest(),
            [](Parts& parts) { parts.append("ln_f.bias", "BF16", {4}, std::string(8, '\0')); }) ==
        "'/model.safetensors': tensor 'ln_f.bias' is there twice, with 'transformer.' before "
        "its name or in another file; once would be right");
  CHECK(refusal_of_weights(smallest(),
                           [](Parts& parts) {
                             parts.append("score.weight", "BF16", {4}, std::string(8, '\0'));
                           }) ==
        "'/model.safetensors': tensor 'score.weight' has no place in the model of "
        "config.json; a config.json that calls for it would be right");
  CHECK(refusal_of_weights(smallest(), [](Parts& parts) { parts.data += "x"; }) ==
        "'/model.safetensors': bytes 1056 to 1056 of its data belong to no tensor; "
        "every byte in one would be right");
  // A config of other sizes than the weights.
  const auto with_config = [](const std::string& members) {
    return checkpoint_refusal(
        smallest(), [&](const TemporaryFolder& folder) { change_config(folder, members); });
  };
  CHECK(with_config(R"({"n_layer": 1})") ==
        "'/model.safetensors': tensor 'transformer.h.1.input_layernorm.bias' has no place in the "
        "model of config.json; a config.json that calls for it would be right");
  CHECK(with_config(R"({"n_layer": 3})") ==
        "'': there is no tensor 'h.2.input_layernorm.weight'; one of shape [4] would be right");
  CHECK(with_config(R"({"vocab_size": 7})") ==
        "'/model.safetensors': tensor 'transformer.word_embeddings.weight' has shape [6, 4]; "
        "[7, 4], by config.json, would be right");
  CHECK(with_config(R"({"position_encoding": "learned", "max_positions": 8})") ==
        "'': there is no tensor 'position_embeddings.weight'; one of shape [8, 4] would be right");
  SyntheticCheckpoint t5 = smallest();
  t5.config.encoding = PositionEncoding::t5;
  t5.config.t5_buckets = 32;
  t5.config.t5_max_distance = 128;
  CHECK(checkpoint_refusal(t5,
                           [](const TemporaryFolder& folder) {
                             change_config(folder,
                                           R"({"position_encoding": null, "t5_buckets": null,
                                    "t5_max_distance": null})");
                           }) ==
        "'/model.safetensors': tensor 'transformer.relative_attention_bias.weight' has no "
        "place in the model of config.json; a config.json that calls for it would be right");
}

TEST_CASE("a folder without what a checkpoint needs is refused in a sentence") {
  const TemporaryFolder folder;
  const std::string here = "'" + folder.path();
  CHECK_THROWS_WITH(Checkpoint(folder / "nowhere"),
                    here + "/nowhere': there is no such file or folder");
  CHECK_THROWS_WITH(Checkpoint(folder.path()),
                    here +
                        "': it has neither model.safetensors nor model.safetensors.index.json; "
                        "one of them would be right");
  folder.write("pytorch_model.bin", "PK");
  CHECK_THROWS_WITH(Checkpoint(folder.path()),
                    here +
                        "': it has neither model.safetensors nor model.safetensors.index.json, "
                        "only PyTorch's own files, which save_pretrained(..., "
                        "safe_serialization=True) converts; one of them would be right");
  folder.write("model.safetensors", safetensors("{}", 0));
  CHECK_THROWS_WITH(Checkpoint(folder.path()), here + "/config.json': No such file or directory");
}

TEST_CASE("an index that does not fit its shards is refused in a sentence") {
  const std::string index = "'/model.safetensors.index.json': ",
                    third = "model-00003-of-00003.safetensors";
  const auto with_shard = [](const std::string& name) {
    return refusal_of_index([&](Json& json) { json["weight_map"][kQueries] = name; });
  };
  const auto outside = [&](const std::string& name) {
    return index + "weight_map has '" + name + "' for tensor '" + kQueries +
           "'; the name of a file in the same folder would be right";
  };
  for (const char* name : {"../model.safetensors", "/etc/passwd", "sub/model.safetensors",
                           "./model.safetensors", "..", ".", "", "a\\b"}) {
    CHECK(with_shard(name) == outside(name));
  }
  CHECK(with_shard(std::string("a\0b", 3)) == outside("a\\x00b"));
  CHECK(with_shard("model-00009-of-00003.safetensors") ==
        "'/model-00009-of-00003.safetensors': No such file or directory");
  CHECK(with_shard("config.json").substr(0, 40) == "'/config.json': its header is said to ta");
  CHECK(with_shard("model-00001-of-00003.safetensors") ==
        index + "weight_map has 'model-00001-of-00003.safetensors' for tensor '" + kQueries +
            "', which is not in that file; the file that it is in would be right");
  CHECK(refusal_of_index([&](Json& json) { json["weight_map"].erase(kQueries); }) ==
        index + "weight_map does not have '" + third + "' for tensor '" + kQueries +
            "', which is in that file; each tensor in one file, and named, would be right");
  CHECK(refusal_of_index([](Json& json) { json["weight_map"][kQueries] = 2; }) ==
        index + "weight_map has 2 for tensor '" + kQueries +
            "'; the name of a file in the same folder would be right");
  const std::string right = "; an object that gives the file of each tensor would be right";
  CHECK(refusal_of_index([](Json& json) { json.erase("weight_map"); }) ==
        index + "there is no weight_map" + right);
  CHECK(refusal_of_index([](Json& json) { json["weight_map"] = Json::array(); }) ==
        index + "weight_map is a list" + right);
  CHECK(refusal_of_index([](Json& json) { json["weight_map"] = Json::object(); }) ==
        index + "weight_map is empty" + right);

  SyntheticCheckpoint checkpoint = smallest();
  checkpoint.shards = 2;
  CHECK(checkpoint_refusal(checkpoint, [](const TemporaryFolder& folder) {
          std::string text = read_text_file(folder / "model.safetensors.index.json");
          const auto place = text.rfind("\n  }");
          text.insert(place, ",\n    \"transformer.ln_f.bias\": \"other.safetensors\"");
          folder.write("model.safetensors.index.json", text);
        }) == index + "it has 'transformer.ln_f.bias' more than once; once would be right");
  // The same tensor in two shards, both named by the index, once with and once without the prefix.
  CHECK(checkpoint_refusal(checkpoint,
                           [](const TemporaryFolder& folder) {
                             const std::string first = folder / "model-00001-of-00002.safetensors";
                             Parts parts(first);
                             parts.append("ln_f.bias", "BF16", {4}, std::string(8, '\0'));
                             folder.write("model-00001-of-00002.safetensors", parts.file());
                             Json json = Json::parse(
                                 read_text_file(folder / "model.safetensors.index.json"));
                             json["weight_map"]["ln_f.bias"] = "model-00001-of-00002.safetensors";
                             folder.write("model.safetensors.index.json", json.dump());
                           }) ==
        "'/model-00002-of-00002.safetensors': tensor 'ln_f.bias' is there twice, with "
        "'transformer.' before its name or in another file; once would be right");
}

TEST_CASE("the shape of the largest BLOOM is listed in full") {
  BloomConfig large;
  large.hidden_size = 14336;
  large.layers = 70;
  large.heads = 112;
  large.vocabulary = 250880;
  std::size_t parameters = 0;
  for (const auto& [name, shape] : bloom_tensors(large)) {
    std::size_t count = 1;
    for (const std::size_t size : shape) count *= size;
    parameters += count;
  }
  CHECK(parameters == 176'247'271'424);  // [HF] the model card of bigscience/bloom
  parameters = 0;
  for (const auto& [name, shape] : bloom_tensors(bloom_560m())) {
    std::size_t count = 1;
    for (const std::size_t size : shape) count *= size;
    parameters += count;
  }
  CHECK(parameters == 559'214'592);  // [HF] the model card of bigscience/bloom-560m
}
