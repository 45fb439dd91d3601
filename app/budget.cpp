#include "app/budget.hpp"

#include <utility>

#include "ropelab/simulation/budget.hpp"

namespace ropelab::app {
namespace {

constexpr std::string_view kSaturate = ",saturate";

// What stands behind the pipeline's name stays, except for what only its 8-bit steps asked for.
Setting with_pipeline(Setting setting, Pipeline pipeline) {
  std::string behind = setting.pipeline_cell.substr(setting.pipeline.name.size());
  if (saturates(setting.pipeline) && !saturates(pipeline)) behind.erase(0, kSaturate.size());
  setting.pipeline_cell = pipeline.name + behind;
  setting.pipeline = std::move(pipeline);
  return setting;
}

}  // namespace

BudgetRow budget_row(const Setting& setting, std::size_t row) {
  if (row == 0) return {setting, "", "all"};
  const std::size_t step = (row - 1) / 2;
  const auto name = static_cast<StepName>(step);
  if (row % 2 == 1) {
    return {with_pipeline(setting, only(setting.pipeline, name)), step_names[step], "only"};
  }
  return {with_pipeline(setting, all_but(setting.pipeline, name)), step_names[step], "all-but"};
}

}  // namespace ropelab::app
