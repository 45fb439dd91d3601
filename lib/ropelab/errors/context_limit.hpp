// How far a construction may be stretched.
#pragma once

#include "ropelab/errors/bound.hpp"

namespace ropelab {

// What stays as it is while the context changes.
enum class Fixed { theta, max_phase };

// The largest context, up to 2^53, at which rounding_bound() lies below the tolerance, there
// and at every smaller one; 0 where it does not at context 1. `inputs` describe the
// construction at one context; with max_phase fixed, theta and N follow the context, and
// so does K where N is split evenly.
long long context_limit(const Pipeline& pipeline, const BoundInputs& inputs, Fixed fixed,
                        double tolerance);

}  // namespace ropelab
