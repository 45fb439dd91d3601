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

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> sentence, Parts&&... parts) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<Parts>(parts)...));
}

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

  // That no key of another encoding is there.
  void require_absent(Keys keys, std::string_view encoding) const {
    for (const std::string_view key : keys) {
      const JsonValue* found = root_.find(key);
      if (found == nullptr || found->kind == Kind::null) continue;
      refuse(
          "{} is {}, but position_encoding is \"{}\"; none of the two, or an encoding that has "
          "it, would be right",
          key, shown(*found), encoding);
    }
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

void require_even(long long size, std::string_view what, PositionEncoding encoding) {
  if (size % 2 == 0) return;
  refuse(
      "{} is {} and position_encoding is \"{}\", which takes its components in pairs; "
      "an even number would be right",
      what, size, name_of(encoding));
}

void read_encoding(const Keyed& keyed, BloomConfig& config) {
  config.encoding = encoding_of(keyed);
  const std::string name = name_of(config.encoding);
  const bool rotary = config.encoding == PositionEncoding::rotary;
  const bool t5 = config.encoding == PositionEncoding::t5;
  const bool learned = config.encoding == PositionEncoding::learned;
  if (rotary) {
    config.rope_base = keyed.between("rope_base", 0, std::numeric_limits<double>::infinity());
    require_even(config.head_dim(), "the dimension of a head", config.encoding);
  } else {
    keyed.require_absent({"rope_base"}, name);
  }
  if (config.encoding == PositionEncoding::sinusoidal) {
    require_even(config.hidden_size, "hidden_size", config.encoding);
  }
  if (t5) {
    config.t5_buckets = static_cast<int>(keyed.count({"t5_buckets"}, kMostBuckets, 2));
    if (config.t5_buckets % 2 != 0) {
      refuse("t5_buckets is {}; an even number would be right", config.t5_buckets);
    }
    config.t5_max_distance = static_cast<int>(
        keyed.count({"t5_max_distance"}, kMostDistance, config.t5_buckets / 2 + 1));
  } else {
    keyed.require_absent({"t5_buckets", "t5_max_distance"}, name);
  }
  if (learned) {
    config.max_positions = keyed.count({"max_positions"}, kMostPositions);
  } else {
    keyed.require_absent({"max_positions"}, name);
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
    refuse(
        "it has hidden_size {} and {} heads; a hidden_size that is a multiple of the heads "
        "would be right",
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
  const JsonValue root = read_json_file(path);
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
