// The all-pairs measurement: every causal pair's computed score F(i,j), gathered by distance.
//
// Bias, simulated bias and visibility depend on the distance d = i - j alone, so all that the
// error table needs of the scores at one distance (a diagonal) is their extremes, their first
// two moments, and the order of neighbours. O(L) memory serves L(L+1)/2 pairs.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/simulation/rotated_table.hpp"

namespace ropelab {

// The scores F(i, i-d) at one distance.
struct Diagonal {
  std::uint64_t pairs = 0;    // all of them
  std::uint64_t finite = 0;   // those whose F is finite; what follows is over these
  DoubleDouble center;        // a number among them or near them; the moments are about it
  double sum = 0;             // of F - center
  double sum_of_squares = 0;  // of (F - center)^2
  // Of F; infinity and -infinity where none is finite.
  DoubleDouble least{std::numeric_limits<double>::infinity(), 0};
  DoubleDouble greatest{-std::numeric_limits<double>::infinity(), 0};
  // Keys j with j+1 <= i for which not F(i,j) < F(i,j+1): equal, reversed or NaN. Over all
  // pairs of the diagonal; 0 at d = 0.
  std::uint64_t order_lost = 0;
};

// Which kernels may run; the fastest allowed that the processor has is taken.
enum class InstructionSet { scalar, sse4, avx2, avx512, best };

// By these names. Throws std::invalid_argument, naming them, for any other.
InstructionSet find_instruction_set(std::string_view name);

// Restricts what measure_diagonals uses, for the whole process. Figures do not depend on it.
void use_instruction_set(InstructionSet set);
// The name of what measure_diagonals uses now: "scalar", "ssse3", "sse4", "avx2", "avx512".
std::string instruction_set_in_use();

// The diagonals d = 0 ... table.size()-1 over all causal pairs of the table, or only as many as
// `simulated` has numbers. These, S(d) for each distance, only place the centre where scores at
// the ends of a diagonal are not finite.
//
// Scores are bit for bit those of score_steps(). The moments are sums of doubles in a fixed
// order (kernel.hpp), so the result does not depend on threads, instruction set or compiler. Time
// O(L^2), memory O(L). Throws Interrupted when asked to stop, and tells the interruption the share
// of pairs done.
std::vector<Diagonal> measure_diagonals(const Pipeline& pipeline, const ExactInput& scale,
                                        const RotatedTable& table,
                                        const std::vector<DoubleDouble>& simulated,
                                        const Interruption& interruption = {});

// F(i, j) of one pair, by score_steps().
DoubleDouble score_at(const Pipeline& pipeline, const ExactInput& scale, const RotatedTable& table,
                      std::size_t i, std::size_t j);

// The smallest i with F(i, i-d) = score; there must be one.
std::size_t first_query_with(const Pipeline& pipeline, const ExactInput& scale,
                             const RotatedTable& table, std::size_t distance, DoubleDouble score);

}  // namespace ropelab
