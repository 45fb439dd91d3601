// Values on their way through a pipeline, and the two arithmetics that carry the exact ones.
//
// The steps are written once (steps.hpp, score.hpp), over a type of exact numbers: Real
// decides every rounding and serves single pairs and the rare hard case; Bounded is quick and
// says when a rounding is too close to call, for tables of many positions; DoubleDouble
// carries 100 bits and takes them at their word, for scores of exact operands.
#pragma once

#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/double_double.hpp"
#include "ropelab/simulation/pipeline.hpp"

namespace ropelab {

// An exact number known to lie within `error` of `value`; error 0 means equal.
struct Bounded {
  DoubleDouble value;
  double error = 0;
};

// Thrown where a Bounded is too close to a tie to be rounded; the caller takes Real instead.
struct Undecided {};

// An exact positive input, in every form that the steps need.
class ExactInput {
 public:
  explicit ExactInput(const Algebraic& value);
  // The same for a positive double, in a fraction of the time.
  explicit ExactInput(double value);
  const Algebraic& algebraic() const { return algebraic_; }
  // Rounded to one of all_formats(), saturating or not. Looked up: it is asked for every pair.
  double rounded(const Format& format) const;
  // factor times the input, for a factor that is a whole number or a member of a format.
  template <class Exact>
  Exact times(double factor) const;

 private:
  Algebraic algebraic_;
  Real real_;
  Bounded bounded_;
  std::vector<double> rounded_;  // in the order of all_formats()
};

template <>
Real ExactInput::times<Real>(double factor) const;
template <>
Bounded ExactInput::times<Bounded>(double factor) const;
template <>
DoubleDouble ExactInput::times<DoubleDouble>(double factor) const;

// What the steps need of an exact type.
inline Real negated(const Real& x) { return -x; }
inline Bounded negated(const Bounded& x) { return {-x.value, x.error}; }
inline DoubleDouble negated(const DoubleDouble& x) { return -x; }
Bounded product(const Bounded& a, const Bounded& b);
inline Real product(const Real& a, const Real& b) { return a * b; }
inline DoubleDouble product(const DoubleDouble& a, const DoubleDouble& b) { return a * b; }
Bounded sum(const Bounded& a, const Bounded& b);
inline Real sum(const Real& a, const Real& b) { return a + b; }
inline DoubleDouble sum(const DoubleDouble& a, const DoubleDouble& b) { return a + b; }
template <class Exact>
struct Rotor {
  Exact cosine, sine;
};
Rotor<Bounded> rotor(const Bounded& angle);
Rotor<Real> rotor(const Real& angle);
// Throws Undecided.
double round_to(const Format& format, const Bounded& x);
inline double round_to(const Format& format, const DoubleDouble& x) {
  return round_to(format, x.high, x.low);
}

template <class Exact>
Exact exactly(double x);
template <>
inline Real exactly<Real>(double x) {
  return Real(x);
}
template <>
inline Bounded exactly<Bounded>(double x) {
  return {{x, 0}, 0};
}
template <>
inline DoubleDouble exactly<DoubleDouble>(double x) {
  return {x, 0};
}

// The value of a step: a member of the step's format, or an exact number.
template <class Exact>
using StepValue = std::variant<double, Exact>;

// The exact number behind a step's value. Not for infinities or NaN.
template <class Exact>
Exact as_exact(const StepValue<Exact>& value) {
  if (const double* rounded = std::get_if<double>(&value)) return exactly<Exact>(*rounded);
  return std::get<Exact>(value);
}

template <class Exact>
bool is_finite(const StepValue<Exact>& value) {
  const double* rounded = std::get_if<double>(&value);
  return rounded == nullptr || std::isfinite(*rounded);
}

// An operand as the step sees it: rounded to its format, unless one of the two is exact.
template <class Exact>
StepValue<Exact> operand(const Step& step, const StepValue<Exact>& value) {
  const double* rounded = std::get_if<double>(&value);
  return step && rounded != nullptr ? StepValue<Exact>(round_to(*step, *rounded)) : value;
}

template <class Exact>
StepValue<Exact> finish(const Step& step, const Exact& result) {
  if (step) return round_to(*step, result);
  return result;
}

// a * b and a + b, rounded by the step. Two members of one format are multiplied and added as
// IEEE 754 does: the double that holds them is wide enough for a single rounding (a product of
// 24-bit numbers is exact in it; for a sum, 53 >= 2*24 + 2 makes two roundings as good as one).
template <class Exact>
StepValue<Exact> step_product(const Step& step, const StepValue<Exact>& a,
                              const StepValue<Exact>& b) {
  const StepValue<Exact> x = operand(step, a), y = operand(step, b);
  const double* p = std::get_if<double>(&x);
  const double* q = std::get_if<double>(&y);
  if (p != nullptr && q != nullptr && (step || !std::isfinite(*p) || !std::isfinite(*q))) {
    return step ? round_to(*step, *p * *q) : *p * *q;
  }
  if (!is_finite(x) || !is_finite(y)) {
    const auto as_double = [](const StepValue<Exact>& v) {
      return is_finite(v) ? round_to(float64_format(), as_exact(v)) : std::get<double>(v);
    };
    return as_double(x) * as_double(y);
  }
  return finish(step, product(as_exact(x), as_exact(y)));
}

template <class Exact>
StepValue<Exact> step_sum(const Step& step, const StepValue<Exact>& a, const StepValue<Exact>& b) {
  StepValue<Exact> x = operand(step, a), y = operand(step, b);
  const double* p = std::get_if<double>(&x);
  const double* q = std::get_if<double>(&y);
  if (p != nullptr && q != nullptr && (step || !std::isfinite(*p) || !std::isfinite(*q))) {
    return step ? round_to(*step, *p + *q) : *p + *q;
  }
  if (!is_finite(x)) return x;
  if (!is_finite(y)) return y;
  return finish(step, sum(as_exact(x), as_exact(y)));
}

template <class Exact>
StepValue<Exact> step_negated(const StepValue<Exact>& value) {
  if (const double* rounded = std::get_if<double>(&value)) return -*rounded;
  return negated(std::get<Exact>(value));
}

}  // namespace ropelab
