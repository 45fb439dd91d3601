// Heads whose slopes differ by a power of two; internal to this room.
#pragma once

#include <optional>
#include <vector>

#include "ropelab/design/head_design.hpp"

namespace ropelab {

// e, if the slopes of group b are 2^e times those of group a, all else is the same, and a design
// of a whose fixed parts are multiplied by 2^e makes the same roundings for b, within the range of
// the formats: those of the sums must have that of float32, storage that of float16.
std::optional<int> power_of_two_between(const std::vector<HeadTask>& a,
                                        const std::vector<HeadTask>& b);

// The design of slopes 2^exponent times as large: half of the exponent goes into the query, the
// other half, and the odd one, into the key. Factors and a native bias have the slope from the
// task.
HeadDesign for_slopes_times(HeadDesign design, int exponent);

}  // namespace ropelab
