// What a model adds to its word embeddings to tell it where they stand.
#pragma once

#include <span>
#include <vector>

#include "ropelab/checkpoint/checkpoint.hpp"

namespace ropelab {

// Adds the vector of a position to the embedding of one word.
//   sinusoidal: sin(i / 10000^(2k/D)) to component 2k and cos of it to 2k+1, made in double.
//   Vaswani
//     et al.: Attention Is All You Need, NeurIPS 2017 (arXiv 1706.03762), section 3.5.
//   learned: row i of position_embeddings.weight.
//   the others: nothing.
template <class Scalar>
class PositionVectors {
 public:
  // The checkpoint must outlive it.
  explicit PositionVectors(const Checkpoint& checkpoint);

  // Throws std::invalid_argument, in one sentence, where the model has no vector for one of the
  // positions first ... first+count-1.
  void check(long long first, long long count) const;
  void add_to(std::span<Scalar> embedding, long long position) const;

 private:
  const BloomConfig& config_;
  std::vector<double> wavelengths_;  // over 2 pi, of sinusoidal
  std::vector<Scalar> learned_;      // row after row
};

}  // namespace ropelab
