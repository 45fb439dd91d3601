#include "ropelab/simulation/quick_rotation.hpp"

namespace ropelab {
namespace {

bool has_formats(const Pipeline& pipeline, std::initializer_list<StepName> steps) {
  for (const StepName step : steps) {
    if (!pipeline[step]) return false;
  }
  return true;
}

// Of float64 where the step has no format: it is not used then.
Rounder rounder(const Step& step) { return Rounder(step ? *step : float64_format()); }

}  // namespace

bool QuickRotation::serves(const Pipeline& pipeline) {
  return has_formats(pipeline,
                     {StepName::trig, StepName::table, StepName::rotation, StepName::storage});
}

QuickRotation::QuickRotation(const Pipeline& pipeline, const ExactInput& theta,
                             const Vectors& fixed)
    : pipeline_(pipeline),
      theta_(theta),
      theta_value_(theta_step<Bounded>(pipeline, theta)),
      phase_in_doubles_(
          has_formats(pipeline, {StepName::position, StepName::theta, StepName::phase})),
      position_(rounder(pipeline[StepName::position])),
      phase_(rounder(pipeline[StepName::phase])),
      trig_(*pipeline[StepName::trig]),
      table_(*pipeline[StepName::table]),
      rotation_(*pipeline[StepName::rotation]),
      storage_(*pipeline[StepName::storage]),
      fixed_(fixed) {
  if (phase_in_doubles_) theta_factor_ = phase_(std::get<double>(theta_value_));
}

std::optional<QuickRotation::Vectors> QuickRotation::at(double position) const {
  const auto turn = trig(angle(position));
  if (!turn) return std::nullopt;
  return rotated(*turn);
}

Bounded QuickRotation::angle(double position) const {
  if (phase_in_doubles_) {
    return exactly<Bounded>(trig_(phase_(phase_(position_(position)) * theta_factor_)));
  }
  const auto phase =
      phase_step(pipeline_, theta_, position,
                 finish(pipeline_[StepName::position], exactly<Bounded>(position)), theta_value_);
  const double* rounded = std::get_if<double>(&phase);
  if (rounded != nullptr) {
    return exactly<Bounded>(pipeline_[StepName::phase] ? trig_(*rounded) : *rounded);
  }
  const Bounded& exact = std::get<Bounded>(phase);
  if (!std::isfinite(exact.value.high)) throw Undecided{};  // a number, which Real may refuse
  return exact;
}

std::optional<QuickRotation::Turn> QuickRotation::trig(const Bounded& angle) const {
  const double size = std::fabs(angle.value.high);
  if (!std::isfinite(size)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return Turn{nan, nan};
  }
  if (size == 0 && angle.error == 0) return Turn{1, 0};
  if (!(size >= 0x1p-900 && size <= 0x1p25)) return std::nullopt;
  const QuickSineCosine quick = quick_sine_cosine(angle.value);
  const double error = quick.error + angle.error;  // the slope of either function is at most 1
  const auto cosine = trig_rounded(quick.cosine, error);
  const auto sine = trig_rounded(quick.sine, error);
  if (!cosine || !sine) return std::nullopt;
  return Turn{*cosine, *sine};
}

// float64: v rounds to v.high if what is added to it is lost wherever in its interval it lies.
// Others: v.high is off by u = 2^-53 of itself besides. As |v.high| > slack, all numbers in the
// interval have the sign of v. In both, at least twice as much as is needed of v.high makes up
// for the roundings of `slack` and of the sums.
std::optional<double> QuickRotation::trig_rounded(DoubleDouble v, double error) const {
  const double size = std::fabs(v.high);
  if (trig_.format().precision == 53) {
    const double slack = 0x1p-62 * size + error;
    if (v.high + (v.low - slack) != v.high || v.high + (v.low + slack) != v.high) return {};
    return v.high;
  }
  const double slack = 0x1p-51 * size + error;
  const double rounded = trig_(v.high - slack);
  if (!(size > slack) || rounded != trig_(v.high + slack)) return {};
  return rounded;
}

// A rounding to the format of the rounding before it changes nothing. The sum of two products in
// one format is rounded as IEEE 754 does, as in step_sum.
QuickRotation::Vectors QuickRotation::rotated(const Turn& turn) const {
  const double cosine = rotation_(table_(turn.cosine));
  const double sine = rotation_(table_(turn.sine));
  if (fixed_.query_second == 0 && fixed_.key_first == 0) return rotated_halves(cosine, sine);
  const auto first = [&](double x, double y) {
    return storage_(rotation_(rotation_(x * cosine) - rotation_(y * sine)));
  };
  const auto second = [&](double x, double y) {
    return storage_(rotation_(rotation_(x * sine) + rotation_(y * cosine)));
  };
  return {first(fixed_.query_first, fixed_.query_second),
          second(fixed_.query_first, fixed_.query_second),
          first(fixed_.key_first, fixed_.key_second), second(fixed_.key_first, fixed_.key_second)};
}

// 0 * x is 0 or NaN, which no format changes. So of every sum one product is rounded, and the sum
// is not.
QuickRotation::Vectors QuickRotation::rotated_halves(double cosine, double sine) const {
  return {storage_(rotation_(fixed_.query_first * cosine) - 0 * sine),
          storage_(rotation_(fixed_.query_first * sine) + 0 * cosine),
          storage_(0 * cosine - rotation_(fixed_.key_second * sine)),
          storage_(0 * sine + rotation_(fixed_.key_second * cosine))};
}

}  // namespace ropelab
