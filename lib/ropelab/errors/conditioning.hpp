// The condition number of the rotated dot product.
#pragma once

#include <optional>

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// kappa(i,j) = (|q0 k0| + |q1 k1|) / |q0 k0 + q1 k1| of the exactly rotated parts. With
// |u| + |v| = max(|u + v|, |u - v|) it is max(|sin((i+j)theta)|, |sin((i-j)theta)|) /
// |sin((i-j)theta)|. Correct to 2^-400 relative; needs i != j.
Real kappa(const Algebraic& theta, long long i, long long j);

struct LargestKappa {
  Real value;
  long long i, j;  // the smallest i, then j, that reach it
};

// The largest kappa over the pairs first <= j < i < first + context; empty at context 1.
// O(context) time and memory, and O(1) while every angle lies in [0, pi/2].
std::optional<LargestKappa> largest_kappa(const Algebraic& theta, long long first,
                                          std::size_t context,
                                          const Interruption& interruption = {});

}  // namespace ropelab
