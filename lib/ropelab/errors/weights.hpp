// Attention weights under a bias, content scores being equal.
#pragma once

#include <optional>
#include <vector>

#include "ropelab/exact/double_double.hpp"

namespace ropelab {

// e^(score - greatest) / sum of them, in double-double: good to 2^-90 absolute. The scores
// are finite, or -infinity, which has no weight; the greatest is finite.
std::vector<DoubleDouble> softmax(const std::vector<DoubleDouble>& scores);

// Half the sum of |a - b|: 0 for equal weights, 1 for disjoint ones. Rounded to double from
// a sum good to 2^-85 absolute. a and b are of one size.
double total_variation(const std::vector<DoubleDouble>& a, const std::vector<DoubleDouble>& b);

}  // namespace ropelab
