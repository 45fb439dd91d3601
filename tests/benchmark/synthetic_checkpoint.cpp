#include "benchmark/synthetic_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "ropelab/checkpoint/bloom_tensors.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDraws = 65536;

struct PlacedTensor {
  TensorShape shape;
  std::size_t count;
  std::uint64_t seed;
};

const Format& format_of(TensorType type) {
  return find_format(type == TensorType::float16    ? "float16"
                     : type == TensorType::bfloat16 ? "bfloat16"
                                                    : "float32");
}

// Encodings of the values of N(center, 0.02), one for each of the equally likely draws.
template <class Stored>
std::vector<Stored> encoded_values(TensorType type, double center) {
  const Format& format = format_of(type);
  const boost::math::normal normal(center, 0.02);
  std::vector<Stored> values(kDraws);
  for (std::size_t n = 0; n < kDraws; ++n) {
    const double value = quantile(normal, (static_cast<double>(n) + 0.5) / kDraws);
    values[n] = static_cast<Stored>(encode(format, round_to(format, value)));
  }
  return values;
}

bool is_norm_weight(const std::string& name) {
  return name.find("layernorm.weight") != std::string::npos || name == "ln_f.weight";
}

class File {
 public:
  explicit File(std::string path) : path_(std::move(path)), file_(path_, std::ios::binary) {}

  template <class Stored>
  void write(const Stored* values, std::size_t count) {
    file_.write(reinterpret_cast<const char*>(values),
                static_cast<std::streamsize>(count * sizeof(Stored)));
  }
  void write(const std::string& text) { write(text.data(), text.size()); }
  void close() {
    file_.close();
    if (!file_) throw std::runtime_error(fmt::format("'{}' cannot be written", path_));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

template <class Stored>
class Writer {
 public:
  explicit Writer(const SyntheticCheckpoint& checkpoint)
      : checkpoint_(checkpoint),
        around_zero_(encoded_values<Stored>(checkpoint.type, 0)),
        around_one_(encoded_values<Stored>(checkpoint.type, 1)) {}

  void write(std::span<const PlacedTensor> tensors, const std::string& path) {
    File file(path);
    const std::string header = header_of(tensors);
    const std::uint64_t length = header.size();
    file.write(&length, 1);
    file.write(header);
    for (const PlacedTensor& tensor : tensors) write(tensor, file);
    file.close();
  }

 private:
  std::string header_of(std::span<const PlacedTensor> tensors) const {
    Json header = {{"__metadata__", {{"format", "pt"}}}};
    std::size_t begin = 0;
    for (const auto& [shape, count, seed] : tensors) {
      const std::size_t end = begin + count * sizeof(Stored);
      header[(checkpoint_.prefix && shape.name != "lm_head.weight" ? "transformer." : "") +
             shape.name] = {{"dtype", name_of(checkpoint_.type)},
                            {"shape", shape.shape},
                            {"data_offsets", {begin, end}}};
      begin = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  }

  void write(const PlacedTensor& tensor, File& file) {
    const auto& values = is_norm_weight(tensor.shape.name) ? around_one_ : around_zero_;
    std::mt19937_64 random(tensor.seed);
    std::size_t left = tensor.count;
    while (left > 0) {
      for (std::size_t n = 0; n < buffer_.size(); n += 4) {
        const std::uint64_t bits = random();
        for (std::size_t part = 0; part < 4; ++part) {
          buffer_[n + part] = values[(bits >> (16 * part)) & 0xffff];
        }
      }
      const std::size_t now = std::min(left, buffer_.size());
      file.write(buffer_.data(), now);
      left -= now;
    }
  }

  const SyntheticCheckpoint& checkpoint_;
  std::vector<Stored> around_zero_, around_one_;
  std::array<Stored, 16384> buffer_{};
};

std::vector<PlacedTensor> tensors_of(const SyntheticCheckpoint& checkpoint) {
  std::vector<TensorShape> shapes = bloom_tensors(checkpoint.config);
  std::sort(shapes.begin(), shapes.end(),
            [](const TensorShape& a, const TensorShape& b) { return a.name < b.name; });
  std::mt19937_64 seeds(checkpoint.seed);
  std::vector<PlacedTensor> tensors;
  for (TensorShape& shape : shapes) {
    std::size_t count = 1;
    for (const std::size_t size : shape.shape) count *= size;
    tensors.push_back({std::move(shape), count, seeds()});
  }
  return tensors;
}

// Where each shard ends, so that each has about its share of the elements, and at least a tensor.
std::vector<std::size_t> ends_of_shards(const std::vector<PlacedTensor>& tensors, int shards) {
  std::size_t all = 0, before = 0;
  for (const PlacedTensor& tensor : tensors) all += tensor.count;
  std::vector<std::size_t> ends;
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    before += tensors[n].count;
    const std::size_t made = ends.size(), wanted = static_cast<std::size_t>(shards);
    const bool full = before * wanted >= all * (made + 1);
    const bool needed = tensors.size() - n <= wanted - made;  // a tensor for each one to come
    if (made + 1 < wanted && (full || needed)) ends.push_back(n + 1);
  }
  ends.push_back(tensors.size());
  return ends;
}

template <class Stored>
void write_weights(const SyntheticCheckpoint& checkpoint, const std::filesystem::path& folder) {
  const std::vector<PlacedTensor> tensors = tensors_of(checkpoint);
  Writer<Stored> writer(checkpoint);
  if (checkpoint.shards <= 1) return writer.write(tensors, folder / "model.safetensors");

  Json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", Json::object()}};
  const auto ends = ends_of_shards(tensors, checkpoint.shards);
  std::size_t begin = 0, elements = 0;
  for (std::size_t n = 0; n < ends.size(); ++n) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", n + 1, ends.size());
    const auto shard = std::span(tensors).subspan(begin, ends[n] - begin);
    writer.write(shard, folder / name);
    for (const PlacedTensor& tensor : shard) {
      const bool prefix = checkpoint.prefix && tensor.shape.name != "lm_head.weight";
      index["weight_map"][(prefix ? "transformer." : "") + tensor.shape.name] = name;
      elements += tensor.count;
    }
    begin = ends[n];
  }
  index["metadata"]["total_size"] = elements * sizeof(Stored);
  File file(folder / "model.safetensors.index.json");
  file.write(index.dump(2) + "\n");
  file.close();
}

std::string config_text(const SyntheticCheckpoint& checkpoint) {
  const BloomConfig& config = checkpoint.config;
  nlohmann::json json = {
      {"apply_residual_connection_post_layernorm", config.residual_after_layer_norm},
      {"architectures", {"BloomForCausalLM"}},
      {"attention_dropout", 0.0},
      {"bos_token_id", 1},
      {"eos_token_id", 2},
      {"hidden_dropout", 0.0},
      {"hidden_size", config.hidden_size},
      {"initializer_range", 0.02},
      {"layer_norm_epsilon", config.layer_norm_epsilon},
      {"model_type", "bloom"},
      {"n_head", config.heads},
      {"n_layer", config.layers},
      {"pretraining_tp", 1},
      {"slow_but_exact", false},
      {"torch_dtype", format_of(checkpoint.type).name},
      {"transformers_version", "4.30.2"},
      {"use_cache", true},
      {"vocab_size", config.vocabulary}};
  if (!config.tied_output_layer) json["tie_word_embeddings"] = false;
  if (config.encoding != PositionEncoding::alibi) {
    json["position_encoding"] = name_of(config.encoding);
  }
  if (config.encoding == PositionEncoding::rotary) json["rope_base"] = config.rope_base;
  if (config.encoding == PositionEncoding::learned) json["max_positions"] = config.max_positions;
  if (config.encoding == PositionEncoding::t5) {
    json["t5_buckets"] = config.t5_buckets;
    json["t5_max_distance"] = config.t5_max_distance;
  }
  return json.dump(2) + "\n";
}

}  // namespace

BloomConfig bloom_560m() {
  BloomConfig config;
  config.hidden_size = 1024;
  config.layers = 24;
  config.heads = 16;
  config.vocabulary = 250880;
  return config;
}

void write_checkpoint(const SyntheticCheckpoint& checkpoint, const std::string& folder) {
  std::filesystem::create_directories(folder);
  File config(std::filesystem::path(folder) / "config.json");
  config.write(config_text(checkpoint));
  config.close();
  if (checkpoint.type == TensorType::float32) {
    write_weights<std::uint32_t>(checkpoint, folder);
  } else {
    write_weights<std::uint16_t>(checkpoint, folder);
  }
}

}  // namespace ropelab
