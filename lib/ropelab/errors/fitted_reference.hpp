// What the scores of any design are held against: two functions of distance.
#pragma once

#include <functional>
#include <vector>

#include "ropelab/errors/reference.hpp"
#include "ropelab/simulation/rotated_table.hpp"

namespace ropelab {

// A function of distance, exactly (to 2^-470 relative to its largest term), and in double-double
// with a bound on the absolute error of that.
struct DistanceFunction {
  std::function<Real(std::size_t)> exact;
  std::function<DoubleDouble(std::size_t)> quick;
  std::function<double(std::size_t)> error;
};

// -slope * d.
DistanceFunction linear_bias(const Algebraic& slope);
// The same function plus a constant.
DistanceFunction shifted(const DistanceFunction& function, const Real& constant);

// What rotated pairs add to a score in exact arithmetic, their dot products being multiplied by
// `scale`: sum scale ((q0 k0 + q1 k1) cos(d theta) + (q0 k1 - q1 k0) sin(d theta)).
DistanceFunction simulated_by(const std::vector<RotatedPair>& pairs, const Algebraic& scale);

class FittedReference final : public BiasReference {
 public:
  // At distances 0 ... distances-1. O(distances) time and memory. Throws Interrupted.
  FittedReference(DistanceFunction simulated, DistanceFunction bias, std::size_t distances,
                  const Interruption& interruption = {});

  DoubleDouble bias(std::size_t distance) const override { return bias_.quick(distance); }
  Real exact_simulated(std::size_t distance) const override {
    return simulated_of_.exact(distance);
  }
  Real exact_bias(std::size_t distance) const override { return bias_.exact(distance); }
  Real exact_truncation(std::size_t distance) const override {
    return exact_simulated(distance) - exact_bias(distance);
  }
  double simulated_error(std::size_t distance) const override {
    return simulated_of_.error(distance);
  }
  double bias_error(std::size_t distance) const override { return bias_.error(distance); }

 private:
  DistanceFunction simulated_of_, bias_;
};

// S - B over all distances of any reference, in its unit. The maximum is correctly rounded; the
// relative one, of |S - B| / |B| where B is not 0, and the rms over the causal pairs of so many
// positions at these distances are good to 2^-40 relative as long as S - B is not lost among the
// errors of either.
struct FittedTruncation {
  double maximum, relative_maximum, rms;
};
FittedTruncation fitted_truncation(const BiasReference& reference, std::size_t positions);

}  // namespace ropelab
