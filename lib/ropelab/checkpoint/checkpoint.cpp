#include "ropelab/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include "ropelab/checkpoint/bloom_tensors.hpp"
#include "ropelab/table/json_file.hpp"
#include "ropelab/table/shown_name.hpp"

namespace ropelab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "transformer.", kOutput = "lm_head.weight",
                           kEmbeddings = "word_embeddings.weight";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// A sentence about the file or folder.
template <class... Parts>
[[noreturn]] void refuse_file(const std::string& path, fmt::format_string<Parts...> sentence,
                              Parts&&... parts) {
  throw std::invalid_argument(
      fmt::format("'{}': {}", path, fmt::format(sentence, std::forward<Parts>(parts)...)));
}

std::string_view without_prefix(std::string_view name) {
  return name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size()) : name;
}

// A buffer of old versions of [HF], which holds no weights.
bool is_mask(std::string_view name) {
  constexpr std::string_view mask = ".causal_mask";
  return name.size() > mask.size() && name.substr(name.size() - mask.size()) == mask;
}

std::string beside(const std::string& file, const std::string& name) {
  return (fs::path(file).parent_path() / name).string();
}

// The file of weights, or the index that says which files they are in.
std::string weights_in(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_file(path, "there is no such file or folder");
  if (!fs::is_directory(path, ignored)) return path;
  for (const char* name : {kWeights, kIndex}) {
    const fs::path file = fs::path(path) / name;
    if (fs::exists(file, ignored)) return file.string();
  }
  const bool pickled = fs::exists(fs::path(path) / "pytorch_model.bin", ignored) ||
                       fs::exists(fs::path(path) / "pytorch_model.bin.index.json", ignored);
  refuse_file(path, "it has neither {} nor {}{}; one of them would be right", kWeights, kIndex,
              pickled ? ", only PyTorch's own files, which save_pretrained(..., "
                        "safe_serialization=True) converts"
                      : "");
}

bool is_index(const std::string& file) { return fs::path(file).extension() == ".json"; }

// The shards of an index, and the tensors that it says are in each.
using Shards = std::map<std::string, std::vector<std::string>>;

const JsonValue& weight_map_of(const JsonValue& root, const std::string& index) {
  const JsonValue* const map = root.find("weight_map");
  const bool is_object = map != nullptr && map->kind == JsonValue::Kind::object;
  if (is_object && !map->members.empty()) return *map;
  const std::string problem = map == nullptr ? "there is no weight_map"
                              : is_object    ? "weight_map is empty"
                                             : "weight_map is " + shown(*map);
  refuse_file(index, "{}; an object that gives the file of each tensor would be right", problem);
}

// Not even in a folder of its own: save_pretrained puts all side by side.
bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

Shards shards_of(const std::string& index) {
  const JsonValue root = read_regular_json_file(index);
  Shards shards;
  for (const JsonValue& member : weight_map_of(root, index).members) {
    const bool is_text = member.kind == JsonValue::Kind::string;
    if (!is_text || !is_file_name(member.text)) {
      refuse_file(
          index,
          "weight_map has {} for tensor {}; the name of a file in the same folder would be right",
          is_text ? shown_name(member.text) : shown(member), shown_name(member.name));
    }
    shards[member.text].push_back(member.name);
  }
  for (auto& [file, tensors] : shards) std::sort(tensors.begin(), tensors.end());
  return shards;
}

// That the file holds just the tensors that the index says it does; they are sorted.
void require_agreement(const std::string& index, const std::string& name,
                       const std::vector<std::string>& tensors, const SafetensorsFile& file) {
  for (const std::string& tensor : tensors) {
    if (file.find(tensor) != nullptr) continue;
    refuse_file(
        index,
        "weight_map has {} for tensor {}, which is not in that file; the file that it is in "
        "would be right",
        shown_name(name), shown_name(tensor));
  }
  for (const Tensor& tensor : file.tensors()) {
    if (std::binary_search(tensors.begin(), tensors.end(), tensor.name)) continue;
    refuse_file(
        index,
        "weight_map does not have {} for tensor {}, which is in that file; each tensor in one "
        "file, and named, would be right",
        shown_name(name), shown_name(tensor.name));
  }
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path) : path_(path) {
  const std::string weights = weights_in(path);
  read_.push_back(beside(weights, "config.json"));
  config_ = read_bloom_config(read_.front());
  if (is_index(weights)) {
    open_shards(weights);
  } else {
    open(weights);
  }
  require_listed();
  require_tied();
}

const Tensor& Checkpoint::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return *found->second.tensor;
  refuse_file(path_, "there is no tensor {} in it", shown_name(name));
}

const Tensor& Checkpoint::output_layer() const {
  return tensor(config_.tied_output_layer ? kEmbeddings : kOutput);
}

std::vector<std::string> Checkpoint::files() const {
  std::vector<std::string> files = read_;
  for (const SafetensorsFile& file : weights_) files.push_back(file.path());
  return files;
}

void Checkpoint::open(const std::string& weights) {
  weights_.emplace_back(weights);
  for (const Tensor& tensor : weights_.back().tensors()) add(weights_.back(), tensor);
}

void Checkpoint::open_shards(const std::string& index) {
  read_.push_back(index);
  const Shards shards = shards_of(index);
  weights_.reserve(shards.size());
  for (const auto& [name, tensors] : shards) weights_.emplace_back(beside(index, name));
  auto file = weights_.cbegin();
  for (const auto& [name, tensors] : shards) {
    require_agreement(index, name, tensors, *file);
    for (const Tensor& tensor : file->tensors()) add(*file, tensor);
    ++file;
  }
}

void Checkpoint::add(const SafetensorsFile& file, const Tensor& tensor) {
  const std::string_view name = without_prefix(tensor.name);
  if (tensors_.emplace(name, Found{&file, &tensor}).second) return;
  refuse_file(file.path(),
              "tensor {} is there twice, with '{}' before its name or in another file; "
              "once would be right",
              shown_name(name), kPrefix);
}

void Checkpoint::require_listed() const {
  std::set<std::string_view> listed;
  for (const auto& [name, shape] : bloom_tensors(config_)) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      refuse_file(path_, "there is no tensor {}; one of shape {} would be right", shown_name(name),
                  shown_shape(shape));
    }
    const auto& [file, tensor] = found->second;
    if (tensor->shape != shape) {
      refuse_file(file->path(), "tensor {} has shape {}; {}, by config.json, would be right",
                  shown_name(tensor->name), shown_shape(tensor->shape), shown_shape(shape));
    }
    if (!is_real(tensor->type)) {
      refuse_file(file->path(), "tensor {} is of type {}; F16, BF16, F32 or F64 would be right",
                  shown_name(tensor->name), name_of(tensor->type));
    }
    listed.insert(found->first);
  }
  for (const auto& [name, found] : tensors_) {
    if (listed.count(name) != 0 || name == kOutput || is_mask(name)) continue;
    refuse_file(found.file->path(),
                "tensor {} has no place in the model of config.json; "
                "a config.json that calls for it would be right",
                shown_name(found.tensor->name));
  }
}

void Checkpoint::require_tied() const {
  const auto output = tensors_.find(kOutput);
  if (!config_.tied_output_layer || output == tensors_.end()) return;
  const Tensor& given = *output->second.tensor;
  const Tensor& embeddings = tensor(kEmbeddings);
  if (given.type == embeddings.type && given.shape == embeddings.shape &&
      std::equal(given.bytes.begin(), given.bytes.end(), embeddings.bytes.begin())) {
    return;
  }
  refuse_file(output->second.file->path(),
              "tensor {} differs from {}, to which it is tied; "
              "the same, or tie_word_embeddings false in config.json, would be right",
              shown_name(given.name), shown_name(kEmbeddings));
}

}  // namespace ropelab
