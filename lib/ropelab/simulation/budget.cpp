#include "ropelab/simulation/budget.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ropelab {
namespace {

std::string_view name_of(StepName step) { return step_names[static_cast<std::size_t>(step)]; }

// Whether the step rounds in a way that its format does not tell.
bool is_fused(const Pipeline& pipeline, StepName step) {
  return step == StepName::accumulation && pipeline.fused_accumulation;
}

// A step is named once: its override makes way for the new one.
std::string with_override(std::string_view pipeline, StepName step, std::string_view value) {
  const std::string item = fmt::format(",{}=", name_of(step));
  std::string name(pipeline);
  if (const auto begin = name.find(item); begin != std::string::npos) {
    name.erase(begin, std::min(name.find(',', begin + 1), name.size()) - begin);
  }
  return name + item + std::string(value);
}

}  // namespace

Pipeline only(const Pipeline& pipeline, StepName step) {
  Pipeline result;
  result.name = "exact";
  if (!pipeline[step]) return result;
  result[step] = pipeline[step];
  result.fused_accumulation = is_fused(pipeline, step);
  result.name = with_override(result.name, step,
                              result.fused_accumulation ? "float32-fma" : pipeline[step]->name);
  return result;
}

Pipeline all_but(const Pipeline& pipeline, StepName step) {
  Pipeline result = pipeline;
  if (!pipeline[step]) return result;
  result[step] = std::nullopt;
  if (is_fused(pipeline, step)) result.fused_accumulation = false;
  result.name = with_override(pipeline.name, step, "exact");
  return result;
}

bool is_exact(const Pipeline& pipeline) {
  return std::none_of(pipeline.steps.begin(), pipeline.steps.end(),
                      [](const Step& step) { return step.has_value(); });
}

}  // namespace ropelab
