// RoPE's frequencies: exactly, and as customary formulas evaluate them in a number format.
// [SLP] Su, Lu, Pan, Murtadha, Wen, Liu: RoFormer: Enhanced Transformer with Rotary Position
// Embedding (arXiv 2104.09864), section 3.2.2.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/formats/format.hpp"
#include "ropelab/rope/scaling.hpp"

namespace ropelab {

// The grid theta_r = base^(-2 r/rope_dim), r = 0 ... rope_dim/2 - 1, in rad per position [SLP],
// or what a scaling makes of it.
class FrequencyGrid {
 public:
  // Throws std::invalid_argument unless rope_dim is even and at least 2, and where the scaling
  // does not fit (scaling.hpp). A base of 1 is legal (all pairs turn alike), and so is one below 1
  // (later pairs turn faster).
  FrequencyGrid(Algebraic base, int rope_dim, Scaling scaling = {});
  // The same for a rational base; throws std::invalid_argument also unless it is above 0.
  FrequencyGrid(const Rational& base, int rope_dim, Scaling scaling = {});

  // Before it is scaled.
  const Algebraic& base() const { return base_; }
  int rope_dim() const { return rope_dim_; }
  int pairs() const { return rope_dim_ / 2; }
  const GridScaling& scaling() const { return scaling_; }

  // theta_r, exact, or what stands for it (GridScaling::scaled). Throws std::invalid_argument
  // unless 0 <= pair < pairs().
  Algebraic theta(int pair) const;
  // Before it is scaled.
  Algebraic unscaled_theta(int pair) const;

  // The pair with the least theta; of several such, the last. Throws Interrupted.
  int slowest_pair(const Interruption& interruption = {}) const;

  // The pair whose theta has the least ratio (of the larger to the smaller) to the given one.
  // Exact; on a tie, the smaller index. Throws Interrupted.
  int nearest_pair(const Algebraic& theta, const Interruption& interruption = {}) const;

 private:
  Algebraic base_;
  int rope_dim_;
  GridScaling scaling_;
};

// theta_r of one pair of such a grid; throws like the grid.
Algebraic frequency(const Rational& base, int rope_dim, int pair);

// The three customary ways to evaluate theta_r before any scaling. Every step is correctly rounded
// to the format, as no real libm promises; the base is rounded to it first. With x = round(2
// r/rope_dim):
enum class FrequencyFormula {
  power,            // round(1 / round(base^x))
  exponential_log,  // round(exp(round(-x * round(ln base))))
  running_product   // theta_0 = 1, theta_r = round(theta_(r-1) * round(base^round(-2/rope_dim)))
};

// All three, in this order, which is that of the columns of the `frequencies` table.
std::array<FrequencyFormula, 3> frequency_formulas();
// "pow", "explog", "running": as in the names of those columns.
std::string_view formula_name(FrequencyFormula formula);

// What the formula makes of every pair of the grid, unscaled: numbers of the format. A base outside
// its range makes infinities, zeros and NaN, by IEEE 754's rules for such operands. Throws
// Interrupted.
std::vector<double> evaluate_frequencies(const FrequencyGrid& grid, FrequencyFormula formula,
                                         const Format& format,
                                         const Interruption& interruption = {});

}  // namespace ropelab
