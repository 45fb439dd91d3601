// ALiBi's slopes, and how far a slope lets a query see.
// [PSL] Press, Smith, Lewis: Train Short, Test Long: Attention with Linear Biases Enables
// Input Length Extrapolation, ICLR 2022 (arXiv 2108.12409), section 3 and its published code.
#pragma once

#include <cstddef>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// The slope m of one head, in logits per position; heads are counted from 1.
//
// If `heads` is a power of two, m = 2^(-8 head/heads). Otherwise, with p the largest power of
// two below `heads`, the first p heads have the slopes of p heads, and the rest those of 2p
// heads at the odd places 1, 3, 5, ... [PSL]. Every slope lies in [2^-8, 1). Exact, for every
// number of heads. Throws std::invalid_argument unless 1 <= head <= heads.
Algebraic alibi_slope(int heads, int head);

// The last distance d, in positions, at which a key is visible: slope * d <= 16 ln 2, which is
// a native weight of at least 2^-16 of the one at d = 0. 0 where only d = 0 is.
//
// Exact: 16 ln 2 is transcendental and slope * d algebraic, so no d is a tie, and enclosures of
// both are narrowed until they decide.
Integer visible_reach(const Algebraic& slope);
// The same, but at most `last`: the last visible distance among 0 ... last.
std::size_t visible_reach(const Algebraic& slope, std::size_t last);

}  // namespace ropelab
