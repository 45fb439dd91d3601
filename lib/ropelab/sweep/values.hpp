// Several values in one text: what an axis of a grid takes.
//
// A text is one value, or a list `a,b,c`, or a range, or a list that holds ranges:
//   FIRST:LAST:COUNT      COUNT points evenly spaced from FIRST to LAST
//   FIRST:LAST:COUNT:log  COUNT points evenly spaced on a logarithmic scale; both ends positive
// The ends of a range are exact. The points between are the doubles nearest to the exact
// points, or, where whole numbers are asked for, the nearest whole numbers (ties to even),
// of which repeats are dropped. COUNT 1 is FIRST alone. LAST may lie below FIRST.
//
// Single values are read by ropelab/exact/parse.hpp. Each function throws
// std::invalid_argument with one sentence that quotes the part it cannot read and says what
// would be right; an empty text, an empty item and COUNT 0 are such parts. Points between take
// up to a tenth of a millisecond each, so reading throws Interrupted when asked to stop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// Most points that a range may have.
inline constexpr long long kMostPoints = 1'000'000;

// The items of a list without the white space around them, never none.
std::vector<std::string> split_list(std::string_view text);

// Strictly positive numbers.
std::vector<Algebraic> parse_positive_values(std::string_view text,
                                             const Interruption& interruption = {});
// Whole numbers within [least, most].
std::vector<long long> parse_integer_values(std::string_view text, long long least, long long most,
                                            const Interruption& interruption = {});

}  // namespace ropelab
