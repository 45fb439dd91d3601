// The vector kernels behind ScoreRows; internal to this room.
#pragma once

#include <cstddef>

#include "ropelab/errors/kernel.hpp"

namespace ropelab::rows_kernel {

// Operands of the products, `terms` for each score. The queries' stand side by side, query after
// query; the keys' in a row for each term, `key_stride` apart, which may be read up to
// kernel::padding beyond what is asked for.
template <class Lane>
struct Operands {
  kernel::Scoring<Lane> scoring;
  std::size_t terms;
  const Lane* queries;
  const Lane* keys;
  std::size_t key_stride;
};

// The scores of all queries and keys from the first operands on go to
// to[query * stride + key], or are added to what is there.
template <class Lane>
struct Block {
  std::size_t queries, keys;
  Lane* to;
  std::size_t stride;
  bool add;
};

void run_block(const Operands<float>& operands, const Block<float>& block);
void run_block(const Operands<double>& operands, const Block<double>& block);

}  // namespace ropelab::rows_kernel
