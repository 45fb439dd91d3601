// A bias that number formats and a pipeline make out of extra components of query and key, in place
// of ALiBi's.
#pragma once

#include <vector>

#include "ropelab/errors/score_rows.hpp"
#include "ropelab/transformer/attention_bias.hpp"

namespace ropelab {

// Adds F(i,j), rounded once to Scalar where its format is wider.
template <class Scalar>
class SimulatedBias : public AttentionBias<Scalar> {
 public:
  // Scores of each head, head 1 first, at the positions from first_position on; a run that goes
  // beyond them ends in std::invalid_argument.
  SimulatedBias(std::vector<ScoreRows> heads, long long first_position)
      : heads_(std::move(heads)), first_position_(first_position) {}

  void add_to(const ScoreBlock<Scalar>& block) const override;

 private:
  std::vector<ScoreRows> heads_;
  long long first_position_;
};

}  // namespace ropelab
