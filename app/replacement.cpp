#include "app/replacement.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/simulation/score_table.hpp"
#include "ropelab/transformer/computed_rotary.hpp"
#include "ropelab/transformer/simulated_bias.hpp"

namespace ropelab::app {
namespace {

constexpr std::string_view kDesign = "design:";
constexpr std::array<std::pair<std::string_view, ReplacementKind>, 6> kNames = {
    {{"native", ReplacementKind::native},
     {"native-absolute", ReplacementKind::native_absolute},
     {"native-relative", ReplacementKind::native_relative},
     {"none", ReplacementKind::none},
     {"pair", ReplacementKind::pair},
     {"rotary", ReplacementKind::rotary}}};

// ScoreRows of every head; `rows_of` takes a head from 1.
template <class Scalar, class RowsOf>
std::unique_ptr<AttentionBias<Scalar>> simulated(const BloomConfig& model, long long first_position,
                                                 const Interruption& interruption, RowsOf rows_of) {
  std::vector<ScoreRows> rows;
  for (int head = 1; head <= static_cast<int>(model.heads); ++head) {
    interruption.check();
    rows.push_back(rows_of(head));
  }
  return std::make_unique<SimulatedBias<Scalar>>(std::move(rows), first_position);
}

ScoreRows rows_of_pair(const Replacement& replacement, const BloomConfig& model, int head,
                       long long first_position, std::size_t window) {
  Construction construction{*replacement.theta, alibi_slope(static_cast<int>(model.heads), head),
                            model.head_dim()};
  construction.key_part = key_part(replacement.split, amplitude(construction));
  return {*replacement.pipeline, Algebraic() / square_root(Rational(model.head_dim())),
          score_table(rotated_table(*replacement.pipeline, construction, first_position, window))};
}

ScoreRows rows_of_design(const DesignedHead& head, long long first_position, std::size_t window) {
  return {head.pipeline, score_scale(head), score_table(head, first_position, window)};
}

// That the design is of the bias that the head has: a row that says so must mean it.
void require_slope_of_model(const BiasWord& word, const DesignedHead& found,
                            const BloomConfig& model, int head) {
  const Algebraic slope = alibi_slope(static_cast<int>(model.heads), head);
  const std::optional<Algebraic> of_score = slope_of_score(found);
  for (const auto& given : {found.slope, of_score}) {
    if (given == slope || (!given && of_score)) continue;
    throw std::invalid_argument(fmt::format(
        "'{}' is for {} of head {}, whose slope in this model is {}; ropelab design --heads {} "
        "--head all --head-dim {} makes one for that",
        word.text, given ? fmt::format("the slope {}", given->to_double()) : "a bias of no slope",
        head, slope.to_double(), model.heads, model.head_dim()));
  }
}

// The one design that a file has of a head of the model.
DesignedHead design_of(const BiasWord& word, const BloomConfig& model, int head) {
  const auto fits = [&](const DesignedHead& designed) {
    return designed.heads == static_cast<int>(model.heads) && designed.head == head &&
           designed.head_dim == model.head_dim();
  };
  const auto count = std::count_if(word.heads.begin(), word.heads.end(), fits);
  if (count == 0) {
    throw std::invalid_argument(fmt::format(
        "'{}' has no design of head {} of {} with head_dim {}, which this model needs; ropelab "
        "design --heads {} --head all --head-dim {} makes one",
        word.text, head, model.heads, model.head_dim(), model.heads, model.head_dim()));
  }
  if (count > 1) {
    throw std::invalid_argument(
        fmt::format("'{}' has {} designs of head {}; a file with one, of one context, dtype, "
                    "pipeline and method, would be right",
                    word.text, count, head));
  }
  const DesignedHead& found = *std::find_if(word.heads.begin(), word.heads.end(), fits);
  if (found.design.method == Method::native) {
    throw std::invalid_argument(fmt::format(
        "'{}' adds the bias itself for head {}, by no components; native-relative does that",
        word.text, head));
  }
  require_slope_of_model(word, found, model, head);
  return found;
}

// A row has one dtype and one pipeline.
void require_one_arithmetic(const BiasWord& word, const DesignedHead& first,
                            const DesignedHead& other) {
  if (first.dtype == other.dtype && first.pipeline_cell == other.pipeline_cell) return;
  throw std::invalid_argument(
      fmt::format("'{}' has {} and '{}' for head {}, but {} and '{}' for head {}; the same dtype "
                  "and pipeline for all would be right",
                  word.text, first.dtype, first.pipeline_cell, *first.head, other.dtype,
                  other.pipeline_cell, *other.head));
}

}  // namespace

BiasWord parse_bias_word(const std::string& item) {
  if (item.starts_with(kDesign)) {
    const std::string file = item.substr(kDesign.size());
    if (file.empty()) throw std::invalid_argument("'design:' wants a file behind it");
    return {ReplacementKind::design, item, read_design_file(file)};
  }
  for (const auto& [name, kind] : kNames) {
    if (item == name) return {kind, item, {}};
  }
  std::vector<std::string_view> names;
  for (const auto& name : kNames) names.push_back(name.first);
  throw std::invalid_argument(
      fmt::format("'{}' is no bias; there are {}, design:FILE", item, fmt::join(names, ", ")));
}

void fit_to_model(BiasWord& word, const BloomConfig& model) {
  if (word.kind == ReplacementKind::native) return;
  if (model.encoding == PositionEncoding::sinusoidal ||
      model.encoding == PositionEncoding::learned) {
    throw std::invalid_argument(
        fmt::format("'{}' stands in for a bias or a rotation; this model, whose position encoding "
                    "is {}, adds vectors to its embeddings instead; native would be right",
                    word.text, name_of(model.encoding)));
  }
  if (word.kind == ReplacementKind::rotary && model.encoding != PositionEncoding::rotary) {
    throw std::invalid_argument(
        fmt::format("'rotary' is for models that rotate; this one has the position encoding {}, "
                    "for which pair, native or none, say, would be right",
                    name_of(model.encoding)));
  }
  if (word.kind != ReplacementKind::design) return;
  std::vector<DesignedHead> heads;
  for (int head = 1; head <= static_cast<int>(model.heads); ++head) {
    heads.push_back(design_of(word, model, head));
    require_one_arithmetic(word, heads.front(), heads.back());
  }
  word.heads = std::move(heads);
}

bool is_computed(ReplacementKind kind) {
  return kind == ReplacementKind::pair || kind == ReplacementKind::rotary;
}

namespace {

// Null: the model's own.
template <class Scalar>
std::unique_ptr<AttentionBias<Scalar>> make_bias(const Replacement& replacement,
                                                 const BloomConfig& model, long long first_position,
                                                 std::size_t window,
                                                 const Interruption& interruption) {
  const int heads = static_cast<int>(model.heads);
  switch (replacement.word->kind) {
    case ReplacementKind::native_absolute:
      return std::make_unique<AbsoluteAlibi<Scalar>>(heads);
    case ReplacementKind::native_relative:
      return std::make_unique<RelativeAlibi<Scalar>>(heads);
    case ReplacementKind::none:
      return std::make_unique<NoBias<Scalar>>();
    case ReplacementKind::pair:
      return simulated<Scalar>(model, first_position, interruption, [&](int head) {
        return rows_of_pair(replacement, model, head, first_position, window);
      });
    case ReplacementKind::design:
      return simulated<Scalar>(model, first_position, interruption, [&](int head) {
        return rows_of_design(replacement.word->heads[static_cast<std::size_t>(head - 1)],
                              first_position, window);
      });
    case ReplacementKind::native:
    case ReplacementKind::rotary:
      break;
  }
  return nullptr;
}

// Null: the model's own.
template <class Scalar>
std::unique_ptr<Rotary<Scalar>> make_rotary(const Replacement& replacement,
                                            const BloomConfig& model, long long first_position,
                                            std::size_t window, const Interruption& interruption) {
  if (model.encoding != PositionEncoding::rotary) return nullptr;
  if (replacement.word->kind == ReplacementKind::native) return nullptr;
  if (replacement.word->kind != ReplacementKind::rotary) {
    return std::make_unique<NoRotary<Scalar>>();
  }
  return std::make_unique<ComputedRotary<Scalar>>(
      *replacement.pipeline,
      FrequencyGrid(to_rational(model.rope_base), static_cast<int>(model.head_dim())),
      first_position, window, interruption);
}

}  // namespace

template <class Scalar>
Encoding<Scalar> make_encoding(const Replacement& replacement, const BloomConfig& model,
                               long long first_position, std::size_t window,
                               const Interruption& interruption) {
  return {make_bias<Scalar>(replacement, model, first_position, window, interruption),
          make_rotary<Scalar>(replacement, model, first_position, window, interruption)};
}

template Encoding<float> make_encoding(const Replacement&, const BloomConfig&, long long,
                                       std::size_t, const Interruption&);
template Encoding<double> make_encoding(const Replacement&, const BloomConfig&, long long,
                                        std::size_t, const Interruption&);

}  // namespace ropelab::app
