// The dot product of a rotated query and key as a number format and a pipeline compute it.
#pragma once

#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/exact/real.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/rope/rotated_dot.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/simulation/step_value.hpp"

namespace ropelab {

// One rotated dot product, before anything is rounded.
struct DotInputs {
  FrequencyGrid grid;
  std::vector<Rational> q, k;  // grid.rope_dim() components each
  long long i, j;              // positions, up to 2^53 in magnitude
  Layout layout;
};

// What `accumulation` ends with. The components are first rounded to `dtype`, then go through
// the steps of the pipeline up to `storage`; the products of stored components are added in
// storage order, left to right, beginning with the first product. Nothing is scaled. Exact
// steps carry the 512 bits of Real. A step that leaves its format's range makes infinities
// and NaN as the format defines them.
//
// Throws std::invalid_argument unless the vectors fit the grid, and std::domain_error for an
// exact phase beyond largest_angle(). Throws Interrupted.
StepValue<Real> computed_dot(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs,
                             const Interruption& interruption = {});

}  // namespace ropelab
