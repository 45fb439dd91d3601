// The steps of a pipeline that concern one position: from its number to a rotated vector.
#pragma once

#include "ropelab/simulation/construction.hpp"
#include "ropelab/simulation/step_value.hpp"

namespace ropelab {

// What the steps up to `table` make of one position.
template <class Exact>
struct AngleSteps {
  StepValue<Exact> position;
  StepValue<Exact> theta;
  StepValue<Exact> phase;
  StepValue<Exact> cosine, sine;              // trig
  StepValue<Exact> table_cosine, table_sine;  // as they are kept
};

// Two components of a vector.
template <class Exact>
struct Components {
  StepValue<Exact> first, second;

  static std::size_t size() { return 2; }
  const StepValue<Exact>& operator[](std::size_t n) const { return n == 0 ? first : second; }
};

// The rotation of (x0, x1): products rounded, then x0*cos - x1*sin and x0*sin + x1*cos.
template <class Exact>
struct RotationSteps {
  StepValue<Exact> first_cosine, second_sine, first_sine, second_cosine;  // products
  Components<Exact> rotated;
  Components<Exact> stored;
};

namespace steps_detail {

// A step that only keeps a value. Kept exactly, it is held by no format any more.
template <class Exact>
StepValue<Exact> keep(const Step& step, const StepValue<Exact>& value) {
  if (std::holds_alternative<Exact>(value)) return finish(step, std::get<Exact>(value));
  if (step || !is_finite(value)) return operand(step, value);
  return as_exact(value);
}

}  // namespace steps_detail

// Step `theta`, the same at every position.
template <class Exact>
StepValue<Exact> theta_step(const Pipeline& pipeline, const ExactInput& theta) {
  const Step& step = pipeline[StepName::theta];
  if (step) return theta.rounded(*step);
  return theta.times<Exact>(1);
}

// Step `phase`, of what the steps before it made of a position and of theta.
template <class Exact>
StepValue<Exact> phase_step(const Pipeline& pipeline, const ExactInput& theta, double position,
                            const StepValue<Exact>& position_value,
                            const StepValue<Exact>& theta_value) {
  const Step& step = pipeline[StepName::phase];
  if (std::holds_alternative<double>(theta_value)) {
    return step_product(step, position_value, theta_value);
  }
  // theta is exact: multiply before it is cut to any precision, so that ties stay ties.
  const double factor = std::holds_alternative<double>(position_value)
                            ? std::get<double>(operand(step, position_value))
                            : position;
  if (!std::isfinite(factor)) return factor;
  return finish(step, theta.times<Exact>(factor));
}

// Steps `position` to `table` at one position, |position| <= 2^53.
template <class Exact>
AngleSteps<Exact> angle_steps(const Pipeline& pipeline, const ExactInput& theta, double position) {
  AngleSteps<Exact> steps;
  steps.position = finish(pipeline[StepName::position], exactly<Exact>(position));
  steps.theta = theta_step<Exact>(pipeline, theta);
  steps.phase = phase_step<Exact>(pipeline, theta, position, steps.position, steps.theta);
  const Step& trig = pipeline[StepName::trig];
  // What an exact step hands on is no operand to round, infinities included.
  const StepValue<Exact> angle =
      pipeline[StepName::phase] ? operand(trig, steps.phase) : steps.phase;
  if (is_finite(angle)) {
    const Rotor<Exact> exact = rotor(as_exact(angle));
    steps.cosine = finish(trig, exact.cosine);
    steps.sine = finish(trig, exact.sine);
  } else {
    steps.cosine = steps.sine = std::numeric_limits<double>::quiet_NaN();
  }
  const Step& table = pipeline[StepName::table];
  steps.table_cosine = steps_detail::keep(table, steps.cosine);
  steps.table_sine = steps_detail::keep(table, steps.sine);
  return steps;
}

// Steps `rotation` and `storage` of (x.first, x.second) by an angle.
template <class Exact>
RotationSteps<Exact> rotation_steps(const Pipeline& pipeline, const AngleSteps<Exact>& angle,
                                    const Components<Exact>& x) {
  const Step& step = pipeline[StepName::rotation];
  const Step& storage = pipeline[StepName::storage];
  RotationSteps<Exact> steps;
  steps.first_cosine = step_product(step, x.first, angle.table_cosine);
  steps.second_sine = step_product(step, x.second, angle.table_sine);
  steps.first_sine = step_product(step, x.first, angle.table_sine);
  steps.second_cosine = step_product(step, x.second, angle.table_cosine);
  steps.rotated.first = step_sum(step, steps.first_cosine, step_negated(steps.second_sine));
  steps.rotated.second = step_sum(step, steps.first_sine, steps.second_cosine);
  steps.stored = {steps_detail::keep(storage, steps.rotated.first),
                  steps_detail::keep(storage, steps.rotated.second)};
  return steps;
}

// A positive exact input as the rotation step sees it first: rounded to its format.
template <class Exact>
StepValue<Exact> rotation_input(const Pipeline& pipeline, const ExactInput& value) {
  const Step& step = pipeline[StepName::rotation];
  if (step) return value.rounded(*step);
  return value.times<Exact>(1);
}

}  // namespace ropelab
