#include "ropelab/checkpoint/bloom_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ropelab/checkpoint/refusal.hpp"
#include "ropelab/table/json_file.hpp"

namespace ropelab {
namespace {

using Kind = JsonValue::Kind;
using Keys = std::initializer_list<std::string_view>;

constexpr long long kMostHidden = 1 << 22, kMostLayers = 1 << 12, kMostHeads = 1 << 16,
                    kMostEntries = 1LL << 31, kMostPositions = 1LL << 31;
constexpr int kMostBuckets = 1 << 20, kMostDistance = 1 << 30;

// In the order of PositionEncoding.
constexpr std::array<std::string_view, 6> kEncodings = {"alibi",   "none",   "sinusoidal",
                                                        "learned", "rotary", "t5"};

std::string_view article(Kind kind) {
  return kind == Kind::number ? "a number" : kind == Kind::boolean ? "true or false" : "a text";
}

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The values of keys, checked one by one.
class Keyed {
 public:
  explicit Keyed(const JsonValue& root) : root_(root) {}

  // The member by any of its names; nothing where none is there, or only as null.
  std::optional<JsonValue> find(Keys keys, Kind kind) const {
    std::optional<JsonValue> found;
    for (const std::string_view key : keys) {
      const JsonValue* next = root_.find(key);
      if (next == nullptr || next->kind == Kind::null) continue;
      if (next->kind != kind)
        refuse("{} is {}; {} would be right", key, shown(*next), article(kind));
      if (found && found->text != next->text) {
        refuse("{} is {} and {} is {}; only one of them, or the same, would be right", found->name,
               shown(*found), key, shown(*next));
      }
      if (!found) found = *next;
    }
    return found;
  }

  long long count(Keys keys, long long most, long long least = 1) const {
    const std::string right = fmt::format("a whole number from {} to {}", least, most);
    const auto found = find(keys, Kind::number);
    if (!found) refuse("there is no {}; {} would be right", fmt::join(keys, " or "), right);
    const auto number = parsed<long long>(found->text);
    if (number && *number >= least && *number <= most) return *number;
    refuse("{} is {}; {} would be right", found->name, shown(*found), right);
  }

  // A number between two others.
  double between(std::string_view key, double above, double below,
                 std::optional<double> absent = {}) const {
    const std::string right = std::isinf(below)
                                  ? fmt::format("a number above {}", above)
                                  : fmt::format("a number above {} and below {}", above, below);
    const auto found = find({key}, Kind::number);
    if (!found && absent) return *absent;
    if (!found) refuse("there is no {}; {} would be right", key, right);
    const auto number = parsed<double>(found->text);
    if (number && *number > above && *number < below) return *number;
    refuse("{} is {}; {} would be right", key, shown(*found), right);
  }

  bool flag(std::string_view key, bool absent) const {
    const auto found = find({key}, Kind::boolean);
    return found ? found->text == "true" : absent;
  }

  // That a key is not there which belongs to another encoding than that of the model.
  void require_absent(std::string_view key, PositionEncoding owner, PositionEncoding model) const {
    const JsonValue* found = root_.find(key);
    if (found == nullptr || found->kind == Kind::null) return;
    refuse("{} is {}, but position_encoding is \"{}\"; {}, or no {}, would be right", key,
           shown(*found), name_of(model), name_of(owner), key);
  }

 private:
  const JsonValue& root_;
};

void require_bloom(const Keyed& keyed) {
  const auto type = keyed.find({"model_type"}, Kind::string);
  if (!type) refuse("there is no model_type; \"bloom\" would be right");
  if (type->text != "bloom") refuse("model_type is {}; \"bloom\" would be right", shown(*type));
}

PositionEncoding encoding_of(const Keyed& keyed) {
  const auto named = keyed.find({"position_encoding"}, Kind::string);
  if (!named) return PositionEncoding::alibi;
  const auto found = std::find(kEncodings.begin(), kEncodings.end(), named->text);
  if (found == kEncodings.end()) {
    refuse("position_encoding is {}; one of {} would be right", shown(*named),
           fmt::join(kEncodings, ", "));
  }
  return static_cast<PositionEncoding>(found - kEncodings.begin());
}

void read_rotary(const Keyed& keyed, BloomConfig& config) {
  config.rope_base = keyed.between("rope_base", 0, std::numeric_limits<double>::infinity());
  if (config.head_dim() % 2 == 0) return;
  refuse(
      "a head has {} components and position_encoding is \"rotary\", which takes them in pairs; "
      "an even number would be right",
      config.head_dim());
}

void read_t5(const Keyed& keyed, BloomConfig& config) {
  config.t5_buckets = static_cast<int>(keyed.count({"t5_buckets"}, kMostBuckets, 2));
  if (config.t5_buckets % 2 != 0) {
    refuse("t5_buckets is {}; an even number would be right", config.t5_buckets);
  }
  const int exact = config.t5_buckets / 2;
  config.t5_max_distance =
      static_cast<int>(keyed.count({"t5_max_distance"}, kMostDistance, exact + 1));
}

void require_pairs(const BloomConfig& config) {
  if (config.hidden_size % 2 == 0) return;
  refuse(
      "hidden_size is {} and position_encoding is \"sinusoidal\", which takes components in "
      "pairs; an even number would be right",
      config.hidden_size);
}

void read_encoding(const Keyed& keyed, BloomConfig& config) {
  struct Owned {
    std::string_view key;
    PositionEncoding owner;
  };
  constexpr Owned owned[] = {{"rope_base", PositionEncoding::rotary},
                             {"t5_buckets", PositionEncoding::t5},
                             {"t5_max_distance", PositionEncoding::t5},
                             {"max_positions", PositionEncoding::learned}};
  config.encoding = encoding_of(keyed);
  for (const auto& [key, owner] : owned) {
    if (owner != config.encoding) keyed.require_absent(key, owner, config.encoding);
  }
  if (config.encoding == PositionEncoding::rotary) read_rotary(keyed, config);
  if (config.encoding == PositionEncoding::t5) read_t5(keyed, config);
  if (config.encoding == PositionEncoding::sinusoidal) require_pairs(config);
  if (config.encoding == PositionEncoding::learned) {
    config.max_positions = keyed.count({"max_positions"}, kMostPositions);
  }
}

BloomConfig config_of(const JsonValue& root) {
  const Keyed keyed(root);
  require_bloom(keyed);
  BloomConfig config;
  config.hidden_size = keyed.count({"hidden_size", "n_embed", "n_embd"}, kMostHidden);
  config.layers = keyed.count({"n_layer", "num_hidden_layers"}, kMostLayers);
  config.heads = keyed.count({"n_head", "num_attention_heads"}, kMostHeads);
  if (config.hidden_size % config.heads != 0) {
    refuse("hidden_size is {} and there are {} heads; a multiple of the heads would be right",
           config.hidden_size, config.heads);
  }
  config.vocabulary = keyed.count({"vocab_size"}, kMostEntries);
  config.layer_norm_epsilon = keyed.between("layer_norm_epsilon", 0, 1, config.layer_norm_epsilon);
  config.residual_after_layer_norm =
      keyed.flag("apply_residual_connection_post_layernorm", config.residual_after_layer_norm);
  config.tied_output_layer = keyed.flag("tie_word_embeddings", config.tied_output_layer);
  read_encoding(keyed, config);
  return config;
}

}  // namespace

BloomConfig read_bloom_config(const std::string& path) {
  const JsonValue root = read_regular_json_file(path);
  try {
    return config_of(root);
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

std::string name_of(PositionEncoding encoding) {
  return std::string(kEncodings[static_cast<std::size_t>(encoding)]);
}

}  // namespace ropelab
