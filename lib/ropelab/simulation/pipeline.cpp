#include "ropelab/simulation/pipeline.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ropelab {
namespace {

// What a preset says of a step: exact, the dtype, or float32 whatever the dtype.
enum class Kind { exact, dtype, single };

struct Preset {
  std::string_view name;
  std::array<Kind, step_count> steps;
};

constexpr Kind E = Kind::exact, T = Kind::dtype, S = Kind::single;
// In the order of StepName.
constexpr std::array<Preset, 5> presets = {{
    {"ideal-trig", {E, E, E, T, T, T, T, T, T}},
    {"naive", {T, T, T, T, T, T, T, T, T}},
    {"fp32-rope", {S, S, S, S, T, T, T, S, S}},
    {"fused", {S, S, S, S, S, S, T, S, S}},
    {"exact", {E, E, E, E, E, E, E, E, E}},
}};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

const Preset& find_preset(std::string_view name) {
  const auto found = std::find_if(presets.begin(), presets.end(),
                                  [&](const Preset& preset) { return preset.name == name; });
  if (found == presets.end()) {
    throw std::invalid_argument(fmt::format("'{}' is not a pipeline; there are {}", name,
                                            fmt::join(pipeline_names(), ", ")));
  }
  return *found;
}

Step resolve(Kind kind, const Format& dtype) {
  if (kind == Kind::exact) return std::nullopt;
  return kind == Kind::dtype ? dtype : float32_format();
}

// `seen`: the steps that items before it have named.
void apply_override(Pipeline& pipeline, std::string_view item, std::array<bool, step_count>& seen) {
  const auto equals = item.find('=');
  if (equals == std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("'{}' is not an override; write STEP=FORMAT, as in table=bfloat16", item));
  }
  const auto name = item.substr(0, equals);
  const auto value = item.substr(equals + 1);
  const auto found = std::find(step_names.begin(), step_names.end(), name);
  if (found == step_names.end()) {
    throw std::invalid_argument(fmt::format("'{}' is not a step of a pipeline; there are {}", name,
                                            fmt::join(step_names, ", ")));
  }
  const auto step = static_cast<StepName>(found - step_names.begin());
  if (std::exchange(seen[static_cast<std::size_t>(step)], true)) {
    throw std::invalid_argument(fmt::format(
        "'{}' gives the step {} more than once; once would be right", pipeline.name, name));
  }
  const bool fused = step == StepName::accumulation && value == "float32-fma";
  if (step == StepName::accumulation) pipeline.fused_accumulation = fused;
  if (value == "exact") {
    pipeline[step] = std::nullopt;
  } else {
    pipeline[step] = fused ? float32_format() : find_format(value);
  }
}

}  // namespace

std::vector<std::string_view> pipeline_names() {
  std::vector<std::string_view> names;
  for (const auto& preset : presets) names.push_back(preset.name);
  return names;
}

Pipeline parse_pipeline(std::string_view text, const Format& dtype, EightBit eight_bit) {
  const auto items = split(text);
  const Preset& preset = find_preset(items.front());
  Pipeline pipeline;
  pipeline.name = text;
  for (std::size_t s = 0; s < step_count; ++s) pipeline.steps[s] = resolve(preset.steps[s], dtype);
  std::array<bool, step_count> seen{};
  for (std::size_t n = 1; n < items.size(); ++n) apply_override(pipeline, items[n], seen);
  if (eight_bit == EightBit::saturates) {
    for (Step& step : pipeline.steps) {
      if (step) step = saturating(*step);
    }
  }
  return pipeline;
}

bool saturates(const Pipeline& pipeline) {
  return std::any_of(pipeline.steps.begin(), pipeline.steps.end(),
                     [](const Step& step) { return step && step->overflow == Overflow::saturate; });
}

std::vector<std::string> split_pipelines(std::string_view list) {
  std::vector<std::string> pipelines;
  for (const auto item : split(list)) {
    if (item.empty()) throw std::invalid_argument(fmt::format("'{}' has an empty item", list));
    if (item.find('=') == std::string_view::npos) {
      pipelines.emplace_back(item);
    } else if (pipelines.empty()) {
      throw std::invalid_argument(
          fmt::format("'{}' has no pipeline before it; write NAME,{}", item, item));
    } else {
      pipelines.back().append(",").append(item);
    }
  }
  return pipelines;
}

}  // namespace ropelab
