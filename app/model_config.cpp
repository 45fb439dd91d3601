#include "app/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/usage_error.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/rope/scaling_text.hpp"
#include "ropelab/table/json_file.hpp"

namespace ropelab::app {
namespace {

using Kind = JsonValue::Kind;

// The names that a key goes by; none where a type of model has no such key.
using Keys = std::vector<std::string_view>;

// A whole number, and what it is where the file has no such key.
struct Count {
  Keys keys;
  std::optional<long long> absent{};
};

// A number, the same.
struct Figure {
  Keys keys;
  std::string_view absent{};
};

// Whether a key is there and says `yes`, and what holds where it is not there.
struct Flag {
  Keys keys;
  bool absent = false;
  std::string_view yes = "true";
};

// One type of model. What most of them have in common stands here, the differences in families().
struct Family {
  Count layers{{"num_hidden_layers"}, 32};
  Count heads{{"num_attention_heads"}, 32};
  Count hidden_size{{"hidden_size"}, 4096};
  Count key_value_heads{{}};    // as many as heads where it is null or absent
  Flag one_key_value_head{{}};  // whatever key_value_heads says,
  Flag many_after_all{{}};      // but for this
  Count head_dim{{}};           // hidden_size/heads where it is null or absent
  Flag projection_bias{{}};
  Count context{{"max_position_embeddings"}};
  Flag has_window{{}, true};
  Count window{{}};

  Flag alibi{{}};
  Figure alibi_bias_max{{}, "8"};
  bool bias_before_scale = false;

  Flag rope{{}, true};  // where there is no ALiBi
  Figure base{{"rope_theta"}, "10000"};
  Figure rotated_share{{"partial_rotary_factor"}, "1"};
  Keys scaling{"rope_scaling"};
  std::optional<long long> original{};  // of longrope, where it stands nowhere; else the context
};

struct NamedFamily {
  std::string_view model_type;
  Family family;
};

Count positions(long long absent) { return {{"max_position_embeddings"}, absent}; }

// [HF], but for mpt's keys of RoPE, which are MosaicML's llm-foundry's.
const std::vector<NamedFamily>& families() {
  static const Count grouped{{"num_key_value_heads"}};
  static const Count head_dim{{"head_dim"}};
  static const Count window{{"sliding_window"}};
  static const std::vector<NamedFamily> all = {
      {"llama",
       {.key_value_heads = grouped,
        .head_dim = head_dim,
        .projection_bias = {{"attention_bias"}},
        .context = positions(2048)}},
      {"mistral",
       {.key_value_heads = {{"num_key_value_heads"}, 8},
        .head_dim = head_dim,
        .context = positions(131072),
        .window = {{"sliding_window"}, 4096}}},
      {"mixtral",
       {.key_value_heads = {{"num_key_value_heads"}, 8},
        .head_dim = head_dim,
        .context = positions(131072),
        .window = window,
        .base = {{"rope_theta"}, "1000000"}}},
      {"phi3",
       {.hidden_size = {{"hidden_size"}, 3072},
        .key_value_heads = grouped,
        .context = positions(4096),
        .window = window,
        .original = 4096}},
      {"qwen2",
       {.key_value_heads = {{"num_key_value_heads"}, 32},
        .head_dim = head_dim,
        .projection_bias = {{}, true},
        .context = positions(32768),
        .has_window = {{"use_sliding_window"}},
        .window = {{"sliding_window"}, 4096}}},
      {"qwen3",
       {.key_value_heads = {{"num_key_value_heads"}, 32},
        .head_dim = {{"head_dim"}, 128},
        .projection_bias = {{"attention_bias"}},
        .context = positions(32768),
        .has_window = {{"use_sliding_window"}},
        .window = {{"sliding_window"}, 4096}}},
      {"gpt_neox",
       {.layers = {{"num_hidden_layers"}, 44},
        .heads = {{"num_attention_heads"}, 64},
        .hidden_size = {{"hidden_size"}, 6144},
        .projection_bias = {{"attention_bias"}, true},
        .context = positions(2048),
        .base = {{"rotary_emb_base", "rope_theta"}, "10000"},
        .rotated_share = {{"rotary_pct", "partial_rotary_factor"}, "0.25"}}},
      {"bloom",
       {.layers = {{"n_layer", "num_hidden_layers"}, 2},
        .heads = {{"n_head", "num_attention_heads"}, 8},
        .hidden_size = {{"hidden_size", "n_embed"}, 64},
        .projection_bias = {{}, true},
        .context = {{"seq_length"}},
        .alibi = {{}, true}}},
      {"mpt",
       {.layers = {{"n_layers"}, 24},
        .heads = {{"n_heads"}, 16},
        .hidden_size = {{"d_model"}, 2048},
        .key_value_heads = {{"attn_config.kv_n_heads"}},
        .one_key_value_head = {{"attn_config.attn_type"}, false, "multiquery_attention"},
        .projection_bias = {{"no_bias"}, false, "false"},
        .context = {{"max_seq_len"}, 2048},
        .alibi = {{"attn_config.alibi"}, true},
        .alibi_bias_max = {{"attn_config.alibi_bias_max"}, "8"},
        .rope = {{"attn_config.rope"}},
        .base = {{"attn_config.rope_theta"}, "10000"},
        .scaling = {"attn_config.rope_hf_config"}}},
      {"falcon",
       {.layers = {{"num_hidden_layers", "n_layer"}, 32},
        .heads = {{"num_attention_heads", "n_head"}, 71},
        .hidden_size = {{"hidden_size", "n_embed"}, 4544},
        .key_value_heads = {{"num_kv_heads", "n_head_kv"}},
        .one_key_value_head = {{"multi_query"}, true},
        .many_after_all = {{"new_decoder_architecture"}},
        .projection_bias = {{"bias"}},
        .context = positions(2048),
        .alibi = {{"alibi"}},
        .bias_before_scale = true}},
  };
  return all;
}

// One parameter of a scaling, with the name that it has in the file.
struct ScalingParameter {
  std::string_view name, key;
  Kind kind = Kind::number;
  bool required = true;
};

constexpr ScalingParameter kFactor{"factor", "factor"};
constexpr ScalingParameter kOriginal{"original", "original_max_position_embeddings"};
constexpr ScalingParameter optional_number(std::string_view name) {
  return {name, name, Kind::number, false};
}

struct ScalingType {
  std::string_view rope_type;
  std::string_view name;  // here
  std::vector<ScalingParameter> parameters;
};

const std::vector<ScalingType>& scaling_types() {
  static const ScalingType longrope{"longrope",
                                    "longrope",
                                    {kFactor,
                                     kOriginal,
                                     {"short_factor", "short_factor", Kind::array},
                                     {"long_factor", "long_factor", Kind::array},
                                     optional_number("attention_factor")}};
  static const std::vector<ScalingType> all = {
      {"default", "none", {}},
      {"no_scaling", "none", {}},  // mpt's
      {"linear", "linear", {kFactor}},
      {"dynamic", "dynamic-ntk", {kFactor, kOriginal}},
      {"yarn",
       "yarn",
       {kFactor,
        kOriginal,
        optional_number("beta_fast"),
        optional_number("beta_slow"),
        {"truncate", "truncate", Kind::boolean, false},
        optional_number("attention_factor"),
        optional_number("mscale"),
        optional_number("mscale_all_dim")}},
      {"llama3",
       "llama3",
       {kFactor,
        kOriginal,
        {"low_freq_factor", "low_freq_factor"},
        {"high_freq_factor", "high_freq_factor"}}},
      longrope,
      {"su", longrope.name, longrope.parameters},  // its older name
  };
  return all;
}

constexpr long long kMostLayers = 1 << 12, kMostDimensions = 1 << 20, kMostHidden = 1 << 22,
                    kMostPositions = 1LL << 53;

std::string_view article(Kind kind) {
  switch (kind) {
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "true or false";
    case Kind::string:
      return "a text";
    case Kind::array:
      return "a list of numbers";
    default:
      return "an object, {...},";
  }
}

// A key that is there, and not null.
struct Found {
  std::string_view key;
  const JsonValue* value;
};

class Reader {
 public:
  explicit Reader(const JsonValue& root) : root_(root) {}

  // The key by whichever of its names; throws where two of them disagree.
  std::optional<Found> find(const Keys& keys, Kind kind) const {
    std::optional<Found> found;
    for (const std::string_view key : keys) {
      const auto next = find(root_, key, kind);
      if (!next) continue;
      if (found && found->value->text != next->value->text) refuse_both(*found, *next);
      if (!found) found = next;
    }
    return found;
  }

  // A member of that kind, unless it is null.
  static std::optional<Found> find(const JsonValue& object, std::string_view key, Kind kind) {
    const JsonValue* value = object.find(key);
    if (value == nullptr || value->kind == Kind::null) return std::nullopt;
    if (value->kind == kind) return Found{key, value};
    throw std::invalid_argument(
        fmt::format("{} is {}; {} would be right", key, shown(*value), article(kind)));
  }

  // Nothing where the key is null, or absent and without anything that holds then.
  std::optional<long long> count(const Count& count, long long most) const {
    const auto found = find(count.keys, Kind::number);
    if (!found) return is_absent(count.keys) ? count.absent : std::nullopt;
    try {
      return parse_integer(found->value->text, 1, most);
    } catch (const std::invalid_argument&) {
      throw std::invalid_argument(
          fmt::format("{} is {}; a whole number from 1 to {} would be right", found->key,
                      shown(*found->value), most));
    }
  }

  long long required_count(const Count& asked, long long most) const {
    if (const auto value = count(asked, most)) return *value;
    throw std::invalid_argument(
        fmt::format("{} is null; a whole number from 1 to {} would be right",
                    fmt::join(asked.keys, " or "), most));
  }

  std::string figure(const Figure& figure) const {
    const auto found = find(figure.keys, Kind::number);
    if (!found) return std::string(figure.absent);
    require_positive(*found);
    return found->value->text;
  }

  bool flag(const Flag& flag) const {
    if (flag.keys.empty()) return flag.absent;
    const bool is_boolean = flag.yes == "true" || flag.yes == "false";
    const auto found = find(flag.keys, is_boolean ? Kind::boolean : Kind::string);
    return found ? found->value->text == flag.yes : flag.absent;
  }

  static void require_positive(const Found& found) {
    try {
      parse_positive(found.value->text);
    } catch (const std::invalid_argument&) {
      throw std::invalid_argument(
          fmt::format("{} is {}; a number above 0 would be right", found.key, shown(*found.value)));
    }
  }

  [[noreturn]] static void refuse_both(const Found& a, const Found& b) {
    throw std::invalid_argument(
        fmt::format("{} is {} and {} is {}; only one of them, or the same, "
                    "would be right",
                    a.key, shown(*a.value), b.key, shown(*b.value)));
  }

 private:
  bool is_absent(const Keys& keys) const {
    return std::none_of(keys.begin(), keys.end(),
                        [&](std::string_view key) { return root_.find(key) != nullptr; });
  }

  const JsonValue& root_;
};

const Family& family_of(const JsonValue& root) {
  const auto type = Reader::find(root, "model_type", Kind::string);
  if (!type) {
    throw std::invalid_argument(fmt::format("there is no model_type; one of {} would be right",
                                            fmt::join(known_model_types(), ", ")));
  }
  for (const NamedFamily& named : families()) {
    if (named.model_type == type->value->text) return named.family;
  }
  throw std::invalid_argument(fmt::format("model_type is {}; one of {} would be right",
                                          shown(*type->value),
                                          fmt::join(known_model_types(), ", ")));
}

long long key_value_heads(const Reader& reader, const Family& family, long long heads) {
  if (reader.flag(family.one_key_value_head) && !reader.flag(family.many_after_all)) return 1;
  const long long among = reader.count(family.key_value_heads, kMostHeads).value_or(heads);
  if (heads % among == 0) return among;
  throw std::invalid_argument(
      fmt::format("{} is {} and {} is {}; key-value heads that divide the heads would be right",
                  family.key_value_heads.keys.front(), among, family.heads.keys.front(), heads));
}

long long head_dim(const Reader& reader, const Family& family, const ModelConfig& model) {
  if (const auto given = reader.count(family.head_dim, kMostDimensions)) return *given;
  const long long head_dim = model.hidden_size / model.heads;
  if (model.hidden_size % model.heads == 0 && head_dim <= kMostDimensions) return head_dim;
  throw std::invalid_argument(fmt::format(
      "{} is {} and {} is {}; a multiple of the heads, up to {} times as much, would be "
      "right",
      family.hidden_size.keys.front(), model.hidden_size, family.heads.keys.front(), model.heads,
      kMostDimensions));
}

// RoPE's own keys, which newer files keep in rope_parameters, together with the scaling's, and
// older ones outside.
class RopeReader {
 public:
  RopeReader(const JsonValue& root, const Family& family, const ModelConfig& model)
      : root_(root), reader_(root), family_(family), model_(model), parameters_(parameters()) {}

  // For models without RoPE, too.
  bool scales() const { return parameters_ != nullptr && type().name != "none"; }

  ModelGrid grid() const {
    ModelGrid grid;
    grid.base = figure(family_.base, "rope_theta");
    grid.rope_dim = rope_dim(figure(family_.rotated_share, "partial_rotary_factor"));
    if (parameters_ == nullptr) return grid;
    const Scaling scaling = read_scaling();
    require_fit(grid, scaling);
    if (ropelab::scales(scaling)) grid.scaling = text_of(scaling);
    return grid;
  }

 private:
  const JsonValue* parameters() const {
    Keys keys = {"rope_parameters"};
    keys.insert(keys.end(), family_.scaling.begin(), family_.scaling.end());
    std::optional<Found> found;
    for (const std::string_view key : keys) {
      const auto next = Reader::find(root_, key, Kind::object);
      if (next && found) Reader::refuse_both(*found, *next);
      if (next) found = next;
    }
    if (!found) return nullptr;
    for (const JsonValue& member : found->value->members) {
      if (member.kind != Kind::object) continue;
      throw std::invalid_argument(
          fmt::format("{} has parameters of its own for {}; one set for all layers would be right",
                      found->key, member.name));
    }
    return found->value;
  }

  // A number outside or among the parameters.
  std::string figure(const Figure& figure, std::string_view inside_key) const {
    const auto outside = reader_.find(figure.keys, Kind::number);
    const auto inside = of_parameters(inside_key, Kind::number);
    if (!inside) return reader_.figure(figure);
    Reader::require_positive(*inside);
    if (outside && parse_rational(outside->value->text) != parse_rational(inside->value->text)) {
      Reader::refuse_both(*outside, *inside);
    }
    return inside->value->text;
  }

  std::optional<Found> of_parameters(std::string_view key, Kind kind) const {
    if (parameters_ == nullptr) return std::nullopt;
    return Reader::find(*parameters_, key, kind);
  }

  int rope_dim(const std::string& share) const {
    const Rational rotated = parse_rational(share) * Rational(model_.head_dim);
    // As int() does in [HF].
    const auto whole = static_cast<long long>(Integer(numerator(rotated) / denominator(rotated)));
    if (whole >= 2 && whole % 2 == 0 && whole <= model_.head_dim) return static_cast<int>(whole);
    throw std::invalid_argument(fmt::format(
        "{} is {}, which rotates {} of {} dimensions; an even number from 2 to {} would be right",
        family_.rotated_share.keys.empty() ? "partial_rotary_factor"
                                           : family_.rotated_share.keys.front(),
        share, whole, model_.head_dim, model_.head_dim));
  }

  const ScalingType& type() const {
    const auto newer = of_parameters("rope_type", Kind::string);
    const auto older = of_parameters("type", Kind::string);
    if (newer && older && newer->value->text != older->value->text) {
      Reader::refuse_both(*newer, *older);
    }
    const auto& named = newer ? newer : older;
    if (!named && of_parameters("factor", Kind::number)) {
      throw std::invalid_argument("there is a factor of RoPE's scaling, but no rope_type; one of " +
                                  types() + " would be right");
    }
    const std::string name = named ? named->value->text : "default";
    for (const ScalingType& type : scaling_types()) {
      if (type.rope_type == name) return type;
    }
    throw std::invalid_argument(fmt::format("{} is {}; one of {} would be right", named->key,
                                            shown(*named->value), types()));
  }

  static std::string types() {
    std::vector<std::string_view> names;
    for (const ScalingType& type : scaling_types()) names.push_back(type.rope_type);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Scaling read_scaling() const {
    const ScalingType& type = this->type();
    std::string text(type.name);
    for (const ScalingParameter& parameter : type.parameters) {
      const std::string value = text_of_parameter(type, parameter);
      if (!value.empty()) text += fmt::format(":{}={}", parameter.name, value);
    }
    try {
      return parse_scalings(text).front();
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("RoPE's scaling: {}", problem.what()));
    }
  }

  // Empty where it is not there, or means nothing.
  std::string text_of_parameter(const ScalingType& type, const ScalingParameter& parameter) const {
    if (parameter.name == kOriginal.name) return original(type);
    if (parameter.name == kFactor.name) return factor(type);
    if (means_nothing(parameter)) return {};
    const auto found = of_parameters(parameter.key, parameter.kind);
    if (found) return parameter.kind == Kind::array ? list(*found) : found->value->text;
    if (!parameter.required) return {};
    lacks(type, parameter);
  }

  [[noreturn]] static void lacks(const ScalingType& type, const ScalingParameter& parameter) {
    throw std::invalid_argument(
        fmt::format("RoPE's scaling of type {} has no {}; {} would be right", type.rope_type,
                    parameter.key, article(parameter.kind)));
  }

  // An attention_factor stands for all that it would follow from. [HF] reads mscale and
  // mscale_all_dim together or not at all, and 0 as if it was not there.
  bool means_nothing(const ScalingParameter& parameter) const {
    const bool direct = of_parameters("attention_factor", Kind::number).has_value();
    if (parameter.name != "mscale" && parameter.name != "mscale_all_dim") return false;
    const auto counts = [&](std::string_view key) {
      const auto found = of_parameters(key, Kind::number);
      return found && parse_rational(found->value->text) != 0;
    };
    return direct || !counts("mscale") || !counts("mscale_all_dim");
  }

  // Phi-3 keeps it outside.
  std::string original(const ScalingType& type) const {
    const auto inside = of_parameters(kOriginal.key, Kind::number);
    const auto outside = Reader::find(root_, kOriginal.key, Kind::number);
    if (inside && outside && inside->value->text != outside->value->text) {
      Reader::refuse_both(*inside, *outside);
    }
    if (inside || outside) return (inside ? inside : outside)->value->text;
    if (type.name == "longrope" && family_.original) return fmt::format("{}", *family_.original);
    return model_.context ? fmt::format("{}", *model_.context) : no_original();
  }

  [[noreturn]] std::string no_original() const {
    throw std::invalid_argument(
        fmt::format("RoPE's scaling has no {}, and there is no {} either; "
                    "one of them would be right",
                    kOriginal.key, model_.context_key));
  }

  // longrope takes it only where there is no attention_factor. yarn and longrope may leave it out.
  std::string factor(const ScalingType& type) const {
    if (type.name == "longrope" && of_parameters("attention_factor", Kind::number)) return {};
    const auto given = of_parameters(kFactor.key, Kind::number);
    if (given) {
      if (type.name == "longrope") require_factor_of_lengths(type, *given);
      return given->value->text;
    }
    if (type.name != "yarn" && type.name != "longrope") lacks(type, kFactor);
    if (model_.context) return fmt::format("{}/{}", *model_.context, original(type));
    throw std::invalid_argument(fmt::format(
        "RoPE's scaling has no factor, and there is no {} either; one of them would be right",
        model_.context_key));
  }

  // Where the original length stands outside, some versions of [HF] take the factor and others the
  // quotient.
  void require_factor_of_lengths(const ScalingType& type, const Found& factor) const {
    if (!Reader::find(root_, kOriginal.key, Kind::number) || !model_.context) return;
    const std::string lengths = fmt::format("{}/{}", *model_.context, original(type));
    if (parse_rational(lengths) == parse_rational(factor.value->text)) return;
    throw std::invalid_argument(
        fmt::format("RoPE's scaling has the factor {}, but {}/{} is {}; the same would be right",
                    factor.value->text, model_.context_key, kOriginal.key, lengths));
  }

  static std::string list(const Found& found) {
    std::vector<std::string_view> numbers;
    for (const JsonValue& member : found.value->members) {
      if (member.kind != Kind::number) {
        throw std::invalid_argument(
            fmt::format("{} has {} among its numbers; numbers alone would "
                        "be right",
                        found.key, shown(member)));
      }
      numbers.push_back(member.text);
    }
    return fmt::format("{}", fmt::join(numbers, " "));
  }

  static void require_fit(const ModelGrid& grid, const Scaling& scaling) {
    try {
      FrequencyGrid(parse_positive(grid.base), grid.rope_dim, at_length(scaling, 1));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("RoPE's scaling: {}", problem.what()));
    }
  }

  const JsonValue& root_;
  Reader reader_;
  const Family& family_;
  const ModelConfig& model_;
  const JsonValue* parameters_;
};

void read_positions(const JsonValue& root, const Family& family, ModelConfig& model) {
  const Reader reader(root);
  const RopeReader rope(root, family, model);
  model.alibi = reader.flag(family.alibi);
  if (!model.alibi) {
    if (reader.flag(family.rope)) model.grid = rope.grid();
    return;
  }
  model.bias_before_scale = family.bias_before_scale;
  model.alibi_bias_max = reader.figure(family.alibi_bias_max);
  const bool both = !family.rope.keys.empty() && reader.flag(family.rope);
  if (!both && !rope.scales()) return;
  throw std::invalid_argument(
      fmt::format("it has both {} and {}; one of them would be right",
                  family.alibi.keys.empty() ? "ALiBi" : family.alibi.keys.front(),
                  both ? family.rope.keys.front() : std::string_view("a scaling of RoPE")));
}

ModelConfig model_of(const JsonValue& root) {
  const Family& family = family_of(root);
  const Reader reader(root);
  ModelConfig model;
  model.model_type = root.find("model_type")->text;
  model.layers = reader.required_count(family.layers, kMostLayers);
  model.heads = reader.required_count(family.heads, kMostHeads);
  model.hidden_size = reader.required_count(family.hidden_size, kMostHidden);
  model.key_value_heads = key_value_heads(reader, family, model.heads);
  model.head_dim = head_dim(reader, family, model);
  model.projection_bias = reader.flag(family.projection_bias);
  model.context = reader.count(family.context, kMostPositions);
  model.context_key = family.context.keys.front();
  if (reader.flag(family.has_window)) {
    model.sliding_window = reader.count(family.window, kMostPositions);
  }
  read_positions(root, family, model);
  return model;
}

}  // namespace

std::vector<std::string_view> known_model_types() {
  std::vector<std::string_view> types;
  for (const NamedFamily& named : families()) types.push_back(named.model_type);
  return types;
}

ModelConfig read_model_config(const std::string& path) {
  const JsonValue root = read_json_file(path);
  try {
    ModelConfig model = model_of(root);
    model.file = path;
    return model;
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

void refuse(const ModelConfig& model, const std::string& problem) {
  throw UsageError("--model", fmt::format("'{}': {}", model.file, problem));
}

std::string summary(const ModelConfig& model) {
  std::string text = model.model_type + ": ";
  if (model.context) text += fmt::format("context={}, ", *model.context);
  text += fmt::format("layers={}, heads={}, key-value-heads={}, head-dim={}, hidden-size={}",
                      model.layers, model.heads, model.key_value_heads, model.head_dim,
                      model.hidden_size);
  if (model.sliding_window) text += fmt::format(", window={}", *model.sliding_window);
  if (model.alibi) {
    text += fmt::format(", alibi, bias-scale={}", model.bias_before_scale ? "before" : "after");
  }
  if (!model.grid) return text;
  text += fmt::format(", base={}, rope-dim={}", model.grid->base, model.grid->rope_dim);
  return model.grid->scaling.empty() ? text : text + ", scaling=" + model.grid->scaling;
}

}  // namespace ropelab::app
