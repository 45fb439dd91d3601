// How fast this processor could go: the operations that the kernels need for a pair, all
// operands in registers.
#pragma once

#include <cstdint>

namespace ropelab {

// The operations of a score, of its extremes and of its moments.
enum class Operations {
  float32,          // two products, a sum; least, greatest; deviation, sum, fused square
  float64,          // the same in double, the square not fused
  rounded_float32,  // three roundings of five operations each, the scale, and order besides
};

// Does the operations for at least `pairs` pairs, with the best instructions there are, and
// returns how many it was. Nothing is read from memory.
std::uint64_t run_in_registers(Operations operations, std::uint64_t pairs);

}  // namespace ropelab
