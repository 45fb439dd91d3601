// The dot product of a query and a key that RoPE has rotated, in exact arithmetic.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/exact/real.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab {

// Which components of a vector of D make up pair r.
enum class Layout {
  interleaved,  // components 2r and 2r + 1 (RoFormer, GPT-J)
  half          // components r and r + D/2 (GPT-NeoX, Llama in Hugging Face's weights)
};

// "interleaved" or "half". The latter throws std::invalid_argument for any other name.
std::string_view layout_name(Layout layout);
Layout find_layout(std::string_view name);

// Indices of the first and second component of a pair.
std::pair<int, int> pair_components(Layout layout, int rope_dim, int pair);

// An exact dot product: either a rational number, or a transcendental one known closely.
struct ExactDot {
  std::optional<Rational> rational;
  // Within 2^-400 relative of the exact value; the rational rounded to 512 bits if there is one.
  Real value;

  // `digits` significant digits (up to 110), correctly rounded: a transcendental number is
  // never a tie. Laid out as to_decimal of exact/real.hpp.
  std::string to_decimal(int digits) const;
};

// Sum over all pairs r of (R(i theta_r) q_r) . (R(j theta_r) k_r), with R(a) the rotation
// ((cos a, -sin a), (sin a, cos a)), in the relative form with d = i - j
//   sum_r (q0 k0 + q1 k1) cos(d theta_r) + (q0 k1 - q1 k0) sin(d theta_r).
//
// The grid's thetas are taken at their word, algebraic numbers as they are, also where they stand
// for transcendental ones of a scaling; then, where more than 2^40 cancels, the sum is that of the
// numbers that stand for them only.
//
// By Lindemann-Weierstrass, for d != 0 the cosines and sines of distinct theta are linearly
// independent of each other and of 1 over the algebraic numbers. So the sum is 0 only where the
// coefficients of every distinct theta are, and otherwise transcendental; cancellation of any
// depth is met with more precision. d = 0 makes it rational.
//
// Throws std::invalid_argument unless q and k have grid.rope_dim() components each and
// |i|, |j| <= 2^53. Throws Interrupted.
ExactDot exact_rotated_dot(const FrequencyGrid& grid, const std::vector<Rational>& q,
                           const std::vector<Rational>& k, long long i, long long j, Layout layout,
                           const Interruption& interruption = {});

}  // namespace ropelab
