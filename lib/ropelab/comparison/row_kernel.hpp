// The vector kernels behind next_token.hpp; internal to this room.
//
// A row is read in blocks of `lanes` logits, and entry n is summed in the sum n mod `lanes`; then
// these are added in their order. No multiplication is fused with an addition. So figures depend
// neither on the width of a vector nor on the compiler.
#pragma once

#include <cstddef>

#include "ropelab/comparison/compensated_sum.hpp"

namespace ropelab::row_kernel {

inline constexpr std::size_t lanes = 8;

struct Greatest {
  double logit;  // meaningless where a logit is NaN
  bool has_nan;
};
template <class Logit>
Greatest greatest(const Logit* logits, std::size_t count);

// Of e^(logit - greatest), every logit being at most `greatest`, which is finite.
template <class Logit>
CompensatedSum sum_of_exponentials(const Logit* logits, std::size_t count, double greatest);

// Of b - a, where they are not equal. No logit is NaN.
struct Changes {
  double largest = 0;
  CompensatedSum squares;
};
template <class Logit>
Changes changes(const Logit* a, const Logit* b, std::size_t count);

// How a row is normalised: p = e^(logit - greatest) * weight.
struct Normalisation {
  double greatest, weight;
};
// Sum of p (q/p - 1 - ln(q/p)), p of a and q of b; `log_ratio` = ln(q weight / p weight).
template <class Logit>
CompensatedSum divergence(const Logit* a, const Normalisation& p, const Logit* b,
                          const Normalisation& q, double log_ratio, std::size_t count);

}  // namespace ropelab::row_kernel
