// Rotary position encoding as number formats and a pipeline compute it.
#pragma once

#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/transformer/rotary.hpp"

namespace ropelab {

// Tables by the steps of a pipeline from `position` to `table`, rotation and storage of queries and
// keys by the steps of these names; the scores are added up as the model does it. Where a step has
// no format, or a wider one than Scalar, Scalar rounds.
template <class Scalar>
class ComputedRotary : public Rotary<Scalar> {
 public:
  // For the positions first_position ... first_position + count - 1, below 2^53; another position
  // ends in std::out_of_range. Some ten microseconds for each pair and position. Throws
  // std::domain_error for an exact phase beyond largest_angle(), and Interrupted.
  ComputedRotary(const Pipeline& pipeline, const FrequencyGrid& grid, long long first_position,
                 std::size_t count, const Interruption& interruption = {});

  void tables(long long position, std::span<Scalar> cosines,
              std::span<Scalar> sines) const override;
  void rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
              std::span<Scalar> components) const override;

 private:
  std::size_t pairs_;
  long long first_position_;
  std::vector<Scalar> cosines_, sines_;  // position after position
  RoundedRotation<Scalar> rotation_;
};

}  // namespace ropelab
