// The steps of steps.hpp from position to storage, over doubles: for tables of many positions.
#pragma once

#include <optional>

#include "ropelab/formats/rounder.hpp"
#include "ropelab/simulation/steps.hpp"

namespace ropelab {

// Rotates fixed vectors through a pipeline whose steps trig, table, rotation and storage have
// formats, so that from trig on every value is a double.
class QuickRotation {
 public:
  struct Vectors {
    double query_first, query_second, key_first, key_second;
  };

  static bool serves(const Pipeline& pipeline);
  // `fixed` are the vectors as the rotation step sees them: rounded to its format. `pipeline` and
  // theta must outlive it.
  QuickRotation(const Pipeline& pipeline, const ExactInput& theta, const Vectors& fixed);

  // What storage keeps at a position, |position| <= 2^53: what rotation_steps<Real> makes of
  // angle_steps<Real>, bit for bit but for the bits of NaN. Empty, or throws Undecided, where a
  // rounding is too close to call, and for angles below 2^-900 and above 2^25.
  std::optional<Vectors> at(double position) const;

 private:
  struct Turn {
    double cosine, sine;
  };
  // The phase as the trig step sees it.
  Bounded angle(double position) const;
  std::optional<Turn> trig(const Bounded& angle) const;
  // v rounded by the trig step, where v is off by 2^-63 of itself plus `error`.
  std::optional<double> trig_rounded(DoubleDouble v, double error) const;
  Vectors rotated(const Turn& turn) const;
  // The same where the second component of the query and the first of the key are 0.
  Vectors rotated_halves(double cosine, double sine) const;

  const Pipeline& pipeline_;
  const ExactInput& theta_;
  StepValue<Bounded> theta_value_;
  bool phase_in_doubles_;    // position, theta and phase have formats
  double theta_factor_ = 0;  // then: theta as the phase step sees it
  Rounder position_, phase_, trig_, table_, rotation_, storage_;
  Vectors fixed_;
};

}  // namespace ropelab
