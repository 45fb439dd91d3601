// Loss against the position in the window of the token that predicts: how much of a loss is the
// early-token effect, and what happens past the positions that a model was trained on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ropelab/comparison/compensated_sum.hpp"
#include "ropelab/comparison/evaluation_windows.hpp"

namespace ropelab {

// Over `predictions`, in nats; NaN where there are none.
struct MeanLoss {
  double mean;
  std::size_t predictions;
};
struct BinLoss {
  PositionBin bin;
  MeanLoss loss;
};

// Gathers the losses of the predictions that count, window by window. Every prediction weighs the
// same. Sums are compensated and taken in order, first by position, then over positions.
class LossByPosition {
 public:
  // For windows of this many tokens. Throws std::invalid_argument unless it is at least 2.
  explicit LossByPosition(std::size_t window);

  // `losses`: of the positions first_scored ... last_scored of the window, in nats. Throws
  // std::invalid_argument if they are not as many, or the window is of another length.
  void add(const EvaluationWindow& window, std::span<const double> losses);

  MeanLoss mean() const;
  // Of those whose target is_predicted_without_overlap.
  MeanLoss mean_over_nonoverlapping_targets() const;
  // By position_bins(window).
  std::vector<BinLoss> by_bin() const;
  // By position, 0 ... window-2.
  std::vector<MeanLoss> by_position() const;

 private:
  struct Sum {
    CompensatedSum losses;
    std::size_t predictions = 0;

    void add(const Sum& other);
    MeanLoss mean() const;
  };
  Sum over(std::size_t first, std::size_t last) const;  // positions

  std::vector<Sum> positions_;
  Sum nonoverlapping_targets_;
};

}  // namespace ropelab
