#include "ropelab/transformer/simulated_bias.hpp"

namespace ropelab {

template <class Scalar>
void SimulatedBias<Scalar>::add_to(const ScoreBlock<Scalar>& block) const {
  const ScoreRows& rows = heads_.at(static_cast<std::size_t>(block.head - 1));
  // Of the keys ahead of a query only those that the block's last query sees are computed.
  const std::size_t keys = block.visible(block.queries - 1).size();
  rows.add({static_cast<std::size_t>(block.first_query - first_position_), block.queries,
            static_cast<std::size_t>(block.first_key - first_position_), keys},
           block.scores, static_cast<std::size_t>(block.stride));
}

template class SimulatedBias<float>;
template class SimulatedBias<double>;

}  // namespace ropelab
