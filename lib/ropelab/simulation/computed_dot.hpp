// The dot product of a rotated query and key as a number format and a pipeline compute it.
#pragma once

#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/exact/real.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/rope/rotated_dot.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/simulation/steps.hpp"

namespace ropelab {

// One rotated dot product, before anything is rounded.
struct DotInputs {
  FrequencyGrid grid;
  std::vector<Rational> q, k;  // grid.rope_dim() components each
  long long i, j;              // positions, up to 2^53 in magnitude
  Layout layout;
};

// The angles by which a pipeline rotates the pairs of a vector at one position.
class DotAngles {
 public:
  // |position| <= 2^53. Throws std::domain_error for an exact phase beyond largest_angle().
  // Throws Interrupted.
  DotAngles(const Pipeline& pipeline, const FrequencyGrid& grid, long long position,
            const Interruption& interruption = {});

  int pairs() const { return static_cast<int>(steps_.size()); }
  const AngleSteps<Real>& operator[](int pair) const {
    return steps_[static_cast<std::size_t>(pair)];
  }

 private:
  std::vector<AngleSteps<Real>> steps_;
};

// Rounded once to the format.
std::vector<double> rounded_components(const Format& dtype, const std::vector<Rational>& vector);

// A vector of a dtype before it is rotated, and by what.
struct ToRotate {
  const std::vector<double>& components;  // two for each angle
  const DotAngles& angles;
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
// The same of a query and a key that are rounded already and whose angles are known.
StepValue<Real> computed_dot(const Pipeline& pipeline, Layout layout, const ToRotate& query,
                             const ToRotate& key);

}  // namespace ropelab
