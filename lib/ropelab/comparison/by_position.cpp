#include "ropelab/comparison/by_position.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ropelab {

void LossByPosition::Sum::add(const Sum& other) {
  losses.add(other.losses);
  predictions += other.predictions;
}

MeanLoss LossByPosition::Sum::mean() const {
  return {losses.value() / static_cast<double>(predictions), predictions};
}

LossByPosition::LossByPosition(std::size_t window) {
  position_bins(window);  // refuses what is too short
  positions_.resize(window - 1);
}

void LossByPosition::add(const EvaluationWindow& window, std::span<const double> losses) {
  if (window.last_scored + 1 != positions_.size() || losses.size() != window.predictions()) {
    throw std::invalid_argument(
        fmt::format("{} losses at positions {} to {} do not belong to a window of {} tokens",
                    losses.size(), window.first_scored, window.last_scored, positions_.size() + 1));
  }
  for (std::size_t n = 0; n < losses.size(); ++n) {
    const std::size_t position = window.first_scored + n;
    positions_[position].losses.add(losses[n]);
    ++positions_[position].predictions;
    if (!is_predicted_without_overlap(window, position)) continue;
    nonoverlapping_targets_.losses.add(losses[n]);
    ++nonoverlapping_targets_.predictions;
  }
}

LossByPosition::Sum LossByPosition::over(std::size_t first, std::size_t last) const {
  Sum sum;
  for (std::size_t q = first; q <= std::min(last, positions_.size() - 1); ++q) {
    sum.add(positions_[q]);
  }
  return sum;
}

MeanLoss LossByPosition::mean() const { return over(0, positions_.size() - 1).mean(); }

MeanLoss LossByPosition::mean_over_nonoverlapping_targets() const {
  return nonoverlapping_targets_.mean();
}

std::vector<BinLoss> LossByPosition::by_bin() const {
  std::vector<BinLoss> result;
  for (const PositionBin& bin : position_bins(positions_.size() + 1)) {
    result.push_back({bin, over(bin.first, bin.last).mean()});
  }
  return result;
}

std::vector<MeanLoss> LossByPosition::by_position() const {
  std::vector<MeanLoss> result;
  for (const Sum& sum : positions_) result.push_back(sum.mean());
  return result;
}

}  // namespace ropelab
