#include "app/construction_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/scaling_text.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

constexpr int kMostDimensions = 1 << 20;

// What --base takes for the base of --model.
constexpr const char* kModelWord = "model";

// Reads whole numbers within [least, most], as lists or ranges.
auto integers(long long least, long long most, const Interruption& interruption) {
  return [=](const std::string& text) {
    return parse_integer_values(text, least, most, interruption);
  };
}
auto ints(int least, int most, const Interruption& interruption) {
  return [=](const std::string& text) {
    std::vector<int> values;
    for (const long long value : parse_integer_values(text, least, most, interruption)) {
      values.push_back(static_cast<int>(value));
    }
    return values;
  };
}

std::vector<Algebraic> read_numbers(const TextOption& option, const Interruption& interruption) {
  return option.read(
      [&](const std::string& text) { return parse_positive_values(text, interruption); });
}

// One item of --pair.
std::vector<PairChoice> parse_pairs(const std::string& item, const Interruption& interruption) {
  if (item == "slowest") return {PairWord::slowest};
  if (item == "nearest") return {PairWord::nearest};
  if (item == "all") return {PairWord::all};
  const bool is_number = item.find_first_of("0123456789") != std::string::npos;
  if (!is_number) {
    throw std::invalid_argument(
        fmt::format("'{}' is no pair; write an index from 0, slowest, nearest or all", item));
  }
  const auto indices = ints(0, kMostDimensions / 2 - 1, interruption)(item);
  return {indices.begin(), indices.end()};
}

void require_pair_of(int pair, const std::vector<int>& rope_dims) {
  for (const int rope_dim : rope_dims) {
    if (pair < rope_dim / 2) continue;
    throw std::invalid_argument(
        fmt::format("'{}' is out of range; a rope-dim of {} has the pairs 0 to {}", pair, rope_dim,
                    rope_dim / 2 - 1));
  }
}

std::vector<PairChoice> read_pairs(const TextOption& option, const std::vector<int>& rope_dims,
                                   const Interruption& interruption) {
  return option.read([&](const std::string& text) {
    std::vector<PairChoice> choices;
    for (const std::string& item : split_list(text)) {
      for (const PairChoice& choice : parse_pairs(item, interruption)) {
        interruption.check();
        if (const int* pair = std::get_if<int>(&choice)) require_pair_of(*pair, rope_dims);
        choices.push_back(choice);
      }
    }
    return choices;
  });
}

}  // namespace

std::vector<int> read_rope_dims(const TextOption& option, const Interruption& interruption) {
  return option.read([&](const std::string& text) {
    auto dimensions = ints(2, kMostDimensions, interruption)(text);
    for (const int dimension : dimensions) {
      if (dimension % 2 == 0) continue;
      throw std::invalid_argument(
          fmt::format("'{}' is odd; components are rotated in pairs, so write an even whole number",
                      dimension));
    }
    return dimensions;
  });
}

void ContextOption::add_to(CLI::App& app, const std::string& default_text) {
  context_.add_to(app, "--context", kIntegers, "Numbers of positions; 64K is 65536", default_text);
}

void ContextOption::take_defaults(const ModelConfig& model) {
  if (given()) return;
  if (!model.context) {
    refuse(model, fmt::format("there is no {}, which would say how many positions there are; give "
                              "--context",
                              model.context_key));
  }
  if (*model.context > kLargestContextOfAllPairs) {
    refuse(model, fmt::format("{} is {}, more than the {} positions of which all pairs are looked "
                              "at; give --context",
                              model.context_key, *model.context, kLargestContextOfAllPairs));
  }
  context_.set_default(fmt::format("{}", *model.context));
}

std::vector<long long> ContextOption::read(const Interruption& interruption) const {
  return context_.read(integers(1, kMostPositions, interruption));
}

namespace {

constexpr const char* scaling_help =
    "How a model stretches that grid for texts longer than those it was trained on (original): "
    "none, or one of\n"
    "  linear:factor=F: theta/F (position interpolation, arXiv 2306.15595)\n"
    "  ntk:factor=F: the base times F^(D/(D-2)), D being rope-dim (NTK-aware, bloc97 2023)\n"
    "  dynamic-ntk:factor=F,original=T: ntk by F*length/T - (F - 1) beyond T positions (emozilla "
    "2023, transformers)\n"
    "  yarn:factor=F,original=T: slow pairs divided by F, fast ones kept, a ramp between (arXiv "
    "2309.00071); also beta_fast=32, beta_slow=1, truncate=true, rule=default|ratio, mscale, "
    "mscale_all_dim (ratio: arXiv 2405.04434), attention_factor\n"
    "  llama3:factor=F,original=T: the same, the ramp being linear in theta (Llama 3.1); also "
    "low_freq_factor=1, high_freq_factor=4\n"
    "  longrope:factor=F,original=T,short_factor=LIST,long_factor=LIST: each theta divided by its "
    "own number, long_factor beyond T positions (arXiv 2402.13753); a LIST is 'X X ...' or @FILE; "
    "also attention_factor\n"
    "  length=L, for dynamic-ntk and longrope, in place of the context";

// Ends of a parameter's value.
constexpr const char* parameter_ends = ",:";
constexpr std::string_view file_mark = "=@";

// The numbers of a file, with nothing but blanks between: a list as JSON has it will do.
std::string numbers_in_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw std::invalid_argument(fmt::format("'{}' cannot be read", path));
  for (char& c : text) {
    if (std::string_view(",[]\n\r\t").find(c) != std::string_view::npos) c = ' ';
  }
  return without_blanks(text);
}

// Goes over every NAME=@FILE of a text: gives replace(path), and puts what that returns in place
// of @FILE.
template <typename Replace>
std::string with_files_replaced(std::string text, Replace replace) {
  for (auto at = text.find(file_mark); at != std::string::npos; at = text.find(file_mark, at + 1)) {
    const auto begin = at + file_mark.size();
    const auto end = std::min(text.find_first_of(parameter_ends, begin), text.size());
    const std::string path = without_blanks(text.substr(begin, end - begin));
    text.replace(at + 1, end - at - 1, replace(path));
  }
  return text;
}

}  // namespace

void ScalingOption::add_to(CLI::App& app) {
  scaling_.add_to(app, "--scaling", kScalings, scaling_help);
}

void ScalingOption::take_defaults(const ModelConfig& model) {
  if (model.grid) scaling_.set_default(model.grid->scaling);
}

std::vector<Scaling> ScalingOption::read() const {
  if (!wanted()) return {Scaling()};
  return scaling_.read([](const std::string& text) {
    return parse_scalings(with_files_replaced(text, numbers_in_file));
  });
}

std::vector<std::string> ScalingOption::files_read() const {
  std::vector<std::string> files;
  with_files_replaced(scaling_.text(), [&](const std::string& path) {
    files.push_back(path);
    return std::string();
  });
  return files;
}

Parameters ScalingOption::resolved_parameters(const std::vector<Scaling>& scalings) const {
  if (!wanted()) return {};
  std::vector<std::string> texts;
  for (const Scaling& scaling : scalings) {
    std::string text = text_of(scaling);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return {{"scaling", fmt::format("{}", fmt::join(texts, ","))}};
}

FrequencyGrid scaled_grid(const Algebraic& base, int rope_dim, const Scaling& scaling) {
  try {
    return FrequencyGrid(base, rope_dim, scaling);
  } catch (const std::invalid_argument& problem) {
    throw UsageError("--scaling", problem.what());
  }
}

std::string scaling_in_pipeline_cell(const Scaling& scaling) {
  return scales(scaling) ? ",frequencies=" + text_of(scaling) : std::string();
}

void BaseOption::add_to(CLI::App& app, const std::string& help, const std::string& default_text) {
  base_.add_to(app, "--base", kNumbers, help, default_text);
}

void BaseOption::default_to_model() {
  if (given()) return;
  base_of_model();
  base_.set_default(kModelWord);
}

const std::string& BaseOption::base_of_model() const {
  if (!model_) {
    throw UsageError(base_.name(), fmt::format("'{}' stands for the base of a model; give --model "
                                               "CONFIG.json too, or a number above 0",
                                               kModelWord));
  }
  if (model_->grid) return model_->grid->base;
  refuse(*model_, fmt::format("this {} has no RoPE, and so no base; a model with RoPE, or --base, "
                              "would be right",
                              model_->model_type));
}

std::string BaseOption::text() const {
  std::vector<std::string> items = base_.read(split_list);
  for (std::string& item : items) {
    if (item == kModelWord) item = base_of_model();
  }
  return fmt::format("{}", fmt::join(items, ","));
}

std::vector<Algebraic> BaseOption::read(const Interruption& interruption) const {
  const std::string bases = text();
  return base_.read([&](const std::string&) { return parse_positive_values(bases, interruption); });
}

Parameters BaseOption::resolved_parameters() const {
  if (!model_) return {};
  return {{"base", text()}};
}

void RotationOptions::add_to(CLI::App& app, const Default& without) {
  default_ = without;
  const auto text_for = [&](RotationKind kind) {
    return kind == without.kind ? without.text : std::string();
  };
  max_phase_.add_to(app, "--max-phase", kNumbers, "Phase over the whole context, rad",
                    text_for(RotationKind::max_phase));
  theta_.add_to(app, "--theta", kNumbers, "Rotation per position, rad",
                text_for(RotationKind::theta));
  base_.add_to(app, "Bases of RoPE's grid, theta = base^(-2 pair/rope-dim); model: that of --model",
               text_for(RotationKind::base));
  rope_dim_.add_to(app, "--rope-dim", kIntegers, "Rotated dimensions of that grid", "64");
  scaling_.add_to(app);
  pair_.add_to(app, "--pair", kPairs,
               "Pairs of that grid: indices from 0, slowest, nearest (to the theta of max phase "
               "0.1), all",
               "slowest");
  max_phase_.option()->excludes(theta_.option(), base_.option());
  theta_.option()->excludes(base_.option());
  for (const TextOption* option : options_of_grid()) {
    option->option()->excludes(max_phase_.option(), theta_.option());
  }
}

std::vector<const TextOption*> RotationOptions::options_of_grid() const {
  return {&rope_dim_, &scaling_.option(), &pair_};
}

void RotationOptions::take_defaults(const ModelConfig& model) {
  base_.take_defaults(model);
  const auto grid_options = options_of_grid();
  const bool asks_for_grid = std::any_of(grid_options.begin(), grid_options.end(),
                                         [](const TextOption* option) { return option->given(); });
  if (asks_for_grid && model.grid) default_.kind = RotationKind::base;
  if (kind() != RotationKind::base) return;
  base_.default_to_model();
  scaling_.take_defaults(model);
  if (model.grid) rope_dim_.set_default(fmt::format("{}", model.grid->rope_dim));
}

RotationKind RotationOptions::kind() const {
  if (max_phase_.given()) return RotationKind::max_phase;
  if (theta_.given()) return RotationKind::theta;
  if (base_.given()) return RotationKind::base;
  return default_.kind;
}

std::vector<Algebraic> RotationOptions::read_values(const Interruption& interruption) const {
  if (kind() == RotationKind::base) return base_.read(interruption);
  return read_numbers(kind() == RotationKind::theta ? theta_ : max_phase_, interruption);
}

Rotation RotationOptions::read(const Interruption& interruption) const {
  Rotation rotation;
  rotation.kind = kind();
  rotation.values = read_values(interruption);
  if (rotation.kind == RotationKind::base) {
    rotation.rope_dims = read_rope_dims(rope_dim_, interruption);
    rotation.scalings = scaling_.read();
    rotation.pairs = read_pairs(pair_, rotation.rope_dims, interruption);
    return rotation;
  }
  for (const TextOption* option : options_of_grid()) {
    if (option->given()) {
      throw UsageError(option->name(),
                       fmt::format("'{}' means nothing without --base", option->text()));
    }
  }
  return rotation;
}

void GridOptions::add_to(CLI::App& app) {
  base_.add_to(app, "Bases of RoPE's grid; model: that of --model", "10000");
  rope_dim_.add_to(app, "--rope-dim", kIntegers, "Rotated dimensions", "64");
}

void GridOptions::take_defaults(const ModelConfig& model) {
  base_.take_defaults(model);
  base_.default_to_model();
  if (model.grid) rope_dim_.set_default(fmt::format("{}", model.grid->rope_dim));
}

std::vector<Algebraic> GridOptions::bases(const Interruption& interruption) const {
  return base_.read(interruption);
}

std::vector<int> GridOptions::rope_dims(const Interruption& interruption) const {
  return read_rope_dims(rope_dim_, interruption);
}

std::vector<std::string> GridOptions::given() const {
  std::vector<std::string> names;
  if (base_.given()) names.emplace_back("--base");
  if (rope_dim_.given()) names.push_back(rope_dim_.name());
  return names;
}

void HeadDimOption::add_to(CLI::App& app) {
  head_dim_.add_to(app, "--head-dim", kIntegers, "Dimensions whose square root divides the scores",
                   "64");
}

void HeadDimOption::take_defaults(const ModelConfig& model) {
  head_dim_.set_default(fmt::format("{}", model.head_dim));
}

std::vector<long long> HeadDimOption::read(const Interruption& interruption) const {
  return head_dim_.read(integers(1, kMostDimensions, interruption));
}

void FormatOptions::add_to(CLI::App& app, const std::string& default_text) {
  std::vector<std::string_view> names;
  for (const Format& format : all_formats()) names.push_back(format.name);
  dtype_.add_to(app, "--dtype", kFormats, fmt::format("Number formats: {}", fmt::join(names, ", ")),
                default_text);
  app.add_flag("--saturate", saturate_,
               "8-bit formats clamp to their largest number instead of overflowing");
}

std::vector<Format> FormatOptions::read() const {
  return dtype_.read([this](const std::string& text) {
    std::vector<Format> formats;
    for (const std::string& name : split_list(text)) {
      const Format& format = find_format(name);
      formats.push_back(saturate_ ? saturating(format) : format);
    }
    return formats;
  });
}

void PipelineOption::add_to(CLI::App& app, const std::string& default_text) {
  pipeline_.add_to(app, "--pipeline", kPipelines,
                   fmt::format("Which format each step computes in: {}; with overrides, as in "
                               "fused,table=bfloat16",
                               fmt::join(pipeline_names(), ", ")),
                   default_text);
}

namespace {

// "STEP=VALUE" where STEP is a step: says of VALUE what that step takes, which is more than the
// formats that parse_pipeline knows the names of.
void require_override_value(const std::string& item) {
  const auto equals = item.find('=');
  if (equals == std::string::npos) return;
  const std::string step = item.substr(0, equals);
  const std::string value = item.substr(equals + 1);
  if (std::find(step_names.begin(), step_names.end(), step) == step_names.end()) return;
  std::vector<std::string_view> values{"exact"};
  for (const Format& format : all_formats()) values.push_back(format.name);
  if (step == "accumulation") values.push_back("float32-fma");
  if (std::find(values.begin(), values.end(), value) != values.end()) return;
  throw std::invalid_argument(
      fmt::format("'{}' is nothing that the step {} computes in; there are {}", value, step,
                  fmt::join(values, ", ")));
}

void require_pipeline(const std::string& pipeline) {
  for (const std::string& item : split_list(pipeline)) require_override_value(item);
  parse_pipeline(pipeline, float32_format());
}

}  // namespace

std::vector<std::string> PipelineOption::read() const {
  return pipeline_.read([](const std::string& text) {
    std::vector<std::string> pipelines = split_pipelines(text);
    for (const std::string& pipeline : pipelines) require_pipeline(pipeline);
    return pipelines;
  });
}

void SamplingOption::add_to(CLI::App& app) {
  pairs_.add_to(app, "--pairs", "all|sample:COUNT",
                "Look at all pairs of positions, or at a sample (default: all up to context 256K)");
}

PairSampling SamplingOption::read() const {
  if (!pairs_.given()) return {};
  return pairs_.read([](const std::string& text) -> PairSampling {
    constexpr std::string_view sample = "sample:";
    PairSampling pairs;
    pairs.all = text == "all";
    if (pairs.all) return pairs;
    if (text.rfind(sample, 0) == 0 && text.size() > sample.size()) {
      pairs.sample = parse_integer(text.substr(sample.size()), 1, kMostPositions);
      return pairs;
    }
    throw std::invalid_argument(
        fmt::format("'{}' is neither all nor sample:COUNT, as in sample:100000", text));
  });
}

void FirstPositionOption::add_to(CLI::App& app) {
  first_position_.add_to(app, "--first-position", "INTEGER", "Positions start here", "0");
}

long long FirstPositionOption::read() const {
  return first_position_.read(
      [](const std::string& text) { return parse_integer(text, 0, kMostPositions); });
}

namespace {

PairPlace parse_place(const std::string& item, std::string_view name) {
  for (std::size_t n = 0; n < pair_place_names.size(); ++n) {
    if (pair_place_names[n] == name) return static_cast<PairPlace>(n);
  }
  throw std::invalid_argument(
      fmt::format("'{}': '{}' is no place of the pair; write first, last "
                  "or halves",
                  item, name));
}

// none, random:SEED or random:SEED:PLACE.
std::optional<Content> parse_content(const std::string& item) {
  if (item == "none") return std::nullopt;
  constexpr std::string_view random = "random:";
  if (item.rfind(random, 0) != 0) {
    throw std::invalid_argument(
        fmt::format("'{}' is neither none nor random:SEED:PLACE, as in random:1:last", item));
  }
  const std::string rest = item.substr(random.size());
  const auto colon = rest.find(':');
  const long long seed = parse_integer(rest.substr(0, colon), 0, kMostPositions);
  const PairPlace place =
      colon == std::string::npos ? PairPlace::last : parse_place(item, rest.substr(colon + 1));
  return Content{static_cast<std::uint64_t>(seed), place};
}

// Of K; between them float64 holds 2^K as a normal number.
constexpr long long kLeastKeyExponent = -1022, kGreatestKeyExponent = 1023;

Split parse_split(const std::string& item) {
  constexpr std::string_view key = "key=2^";
  if (item == "query") return {};
  if (item == "even") return {true, 0};
  if (item.rfind(key, 0) == 0) {
    return {false, static_cast<int>(parse_integer(item.substr(key.size()), kLeastKeyExponent,
                                                  kGreatestKeyExponent))};
  }
  throw std::invalid_argument(
      fmt::format("'{}' is no way to divide N; write query, even or key=2^K, as in key=2^8", item));
}

}  // namespace

void ContentOption::add_to(CLI::App& app) {
  content_.add_to(app, "--content", kContents,
                  "What the pair's products are added among: none, or random:SEED:PLACE, the "
                  "products of head-dim random unit-variance components, the pair standing first, "
                  "last or at the ends of halves",
                  "none");
}

std::vector<std::optional<Content>> ContentOption::read() const {
  return content_.read([](const std::string& text) {
    std::vector<std::optional<Content>> contents;
    for (const std::string& item : split_list(text)) contents.push_back(parse_content(item));
    return contents;
  });
}

std::string text_of(const Content& content) {
  return fmt::format("random:{}:{}", content.seed,
                     pair_place_names[static_cast<std::size_t>(content.place)]);
}

void SplitOption::add_to(CLI::App& app) {
  split_.add_to(app, "--split", kSplits,
                "How N is divided between query and key: query (all of it), even (sqrt(N) each), "
                "key=2^K (2^K to the key, N/2^K to the query)",
                "query");
}

std::vector<Split> SplitOption::read() const {
  return split_.read([](const std::string& text) {
    std::vector<Split> splits;
    for (const std::string& item : split_list(text)) splits.push_back(parse_split(item));
    return splits;
  });
}

std::string to_text(const Split& split) {
  if (split.even) return "even";
  return split == Split{} ? "query" : fmt::format("key=2^{}", split.key_exponent);
}

void ToleranceOption::add_to(CLI::App& app) {
  tolerance_.add_to(app, "--tolerance", "LOGITS", "Error that is still acceptable", "0.05");
}

Algebraic ToleranceOption::read() const { return tolerance_.read(parse_positive); }

void UnitOption::add_to(CLI::App& app) {
  unit_.add_to(app, "--unit", "logits|tokens",
               "What errors are told in: logits, or tokens of distance (an error divided by the "
               "bias per token)",
               "logits");
}

Unit UnitOption::read() const {
  return unit_.read([](const std::string& text) {
    if (text == "logits") return Unit::logits;
    if (text == "tokens") return Unit::tokens;
    throw std::invalid_argument(fmt::format("'{}' is neither logits nor tokens", text));
  });
}

void BiasScaleOption::add_to(CLI::App& app) {
  bias_scale_.add_to(app, "--bias-scale", "before|after",
                     "Whether the bias is added before or after the division by sqrt(head-dim)",
                     "after");
}

void BiasScaleOption::take_defaults(const ModelConfig& model) {
  if (model.bias_before_scale) bias_scale_.set_default("before");
}

BiasScale BiasScaleOption::read() const {
  return bias_scale_.read([](const std::string& text) {
    if (text == "after") return BiasScale::after;
    if (text == "before") return BiasScale::before;
    throw std::invalid_argument(fmt::format("'{}' is neither before nor after", text));
  });
}

}  // namespace ropelab::app
