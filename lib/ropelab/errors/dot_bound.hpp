// An a-priori bound on the error of a computed rotated dot product.
#pragma once

#include <optional>

#include "ropelab/simulation/computed_dot.hpp"

namespace ropelab {

// |computed_dot(pipeline, dtype, inputs) - exact_rotated_dot(...)| <= bound, the exact product
// being that of the inputs before any rounding. It follows from the unit roundoffs of the
// pipeline, the sizes of the components, the positions and the frequencies alone; derived in
// dot_bound.cpp. A double rounded upwards. Empty where a step may leave the range of its format.
std::optional<double> dot_bound(const Pipeline& pipeline, const Format& dtype,
                                const DotInputs& inputs);

}  // namespace ropelab
