// What no choice of theta and N gets below: the limit of a single rotated pair.
#pragma once

#include "ropelab/exact/real.hpp"

namespace ropelab {

// A lower bound, in slopes, on the largest total error over all causal pairs of positions
// 0 ... context-1 where the bias is that of one rotated pair, query part (-N, 0) and key part
// (0, K), whose rotated components are stored with `precision` significant bits: whatever N and K,
// every theta with 0 < (context-1) theta <= 2 pi, and whatever the other steps round to. Where
// positions and phases are exact, every other theta, too; rounded phases
// beyond a turn are not covered, as they lose the small angle that is left of several turns. 0 up
// to a context of 2^precision + 1, where a power of two as theta leaves no error at all; above, at
// least context * 2^-precision / (4 (1 + 2^(1-precision))). For precision >= 4.
//
// Proof. Take key 0, whose rotated part is (0, K): F(i,0) is a function g of one stored number
// b(i), the rounded N sin(i theta), and g and all roundings respect a doubling (but for the ends
// of the range, which only merge more numbers). Let p be the precision, L the context, D = 2^(p-1)
// + 1, and look at the n = floor((L+1)/2) positions i = J ... L-1 with 2J >= L-1.
// - While the phase of L-1 is at most pi/2, sin(i theta) lies between sin(J theta) and twice that,
//   as sin(2x) <= 2 sin(x). Up to 5/6 pi it lies in [1/2, 1]. So every b(i) lies in one interval
//   [t, 2t], which holds at most D numbers of p bits.
// - Some number is therefore shared by r = ceil(n/D) of these positions, of which two are at least
//   r-1 apart. Their scores are equal, their biases differ by r-1 slopes: one error is at least
//   (r-1)/2 slopes.
// - For L = 2^p + 2, n = D: either two share a number (1/2), or all D are there, of which the last,
//   2t at i, is twice the first, t at k. Then F(i,0) = 2 F(k,0), and as 2k - i >= 2J - (L-1) = 1,
//   the errors e of the two differ so that |e(i) - 2e(k)| >= 1: one of them is at least 1/3.
// - From there to pi the sine has fallen to half of what it was where the bias has grown by 5/3; up
//   to 2 pi it has the wrong sign at L-1, or is as good as 0: an error of more than a tenth of the
//   context in slopes.
// - Exact phases may be taken modulo 2 pi, and a negative theta with -N: leaving 0 < theta < pi,
//   which does not step over the half of a turn where the sine is negative. Beyond a turn, that is
//   met beyond a third of the context: the wrong sign again.
Rational single_pair_limit(int precision, long long context);

}  // namespace ropelab
