#include "ropelab/comparison/evaluation_windows.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ropelab {
namespace {

constexpr std::size_t first_bin_size = 64;

void check_window(std::size_t window) {
  if (window < 2) {
    throw std::invalid_argument(
        fmt::format("window is {}; it must be at least 2 tokens, as the first is only read, never "
                    "predicted",
                    window));
  }
}

void check(const EvaluationPlan& plan, std::size_t stride) {
  check_window(plan.window);
  if (plan.window > plan.tokens) {
    throw std::invalid_argument(
        fmt::format("window is {}; it must be at most the length of the text, which is {} tokens",
                    plan.window, plan.tokens));
  }
  if (stride < 1 || stride > plan.window) {
    throw std::invalid_argument(
        fmt::format("stride is {}; it must be from 1 to the window, {}", stride, plan.window));
  }
  if (plan.limit && *plan.limit < 1) {
    throw std::invalid_argument("limit is 0; it must be at least 1 window");
  }
}

}  // namespace

std::vector<EvaluationWindow> evaluation_windows(const EvaluationPlan& plan) {
  const std::size_t stride = plan.stride.value_or(plan.window);
  check(plan, stride);
  const std::size_t last = plan.window - 2;
  const std::size_t later_first = stride < plan.window ? plan.window - stride - 1 : 0;
  std::vector<EvaluationWindow> windows{{0, 0, last, 0}};
  while (windows.size() != plan.limit) {
    const std::size_t previous = windows.back().start;
    if (plan.tokens - plan.window - previous < stride) break;
    windows.push_back({previous + stride, later_first, last, plan.window - stride});
  }
  return windows;
}

bool is_predicted_without_overlap(const EvaluationWindow& window, std::size_t position) {
  const std::size_t size = window.last_scored + 2;
  return (window.start + position + 1) % size != 0;
}

std::string PositionBin::name() const { return fmt::format("{}-{}", first, last); }

std::vector<PositionBin> position_bins(std::size_t window) {
  check_window(window);
  std::vector<PositionBin> bins{{0, first_bin_size - 1}};
  while (bins.back().last < window - 2) {
    const std::size_t first = bins.back().last + 1;
    bins.push_back({first, 2 * first - 1});
  }
  return bins;
}

}  // namespace ropelab
