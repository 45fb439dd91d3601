// The least bases of dimension 128, proved: which distance refutes which smaller bases.
#pragma once

#include <span>

#include "ropelab/rope/least_base.hpp"

namespace ropelab::app {

// A row of experiments/least-base-proof.csv, which is compiled in. The refutations of a context
// are those of all rows up to its own, in order.
struct ProofRow {
  int rope_dim;
  long long context;
  double ratio;
  long long witness;  // 0: this ratio's base serves
};

// In the order of the file: contexts ascend, ratios descend.
std::span<const ProofRow> least_base_proof_rows();

}  // namespace ropelab::app
