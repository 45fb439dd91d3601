#include "ropelab/simulation/step_value.hpp"

#include <algorithm>

namespace ropelab {
namespace {

// Above [JMP]'s bounds for one double-double operation (at most 5u^2, u = 2^-53).
constexpr double operation_error = 0x1p-103;

bool is_exact_double(const Bounded& x) { return x.error == 0 && x.value.low == 0; }

}  // namespace

ExactInput::ExactInput(const Algebraic& value)
    : algebraic_(value), real_(value.to_real()), bounded_{to_double_double(real_), 0} {
  // The last bit of a low part among the subnormals is coarser than that of a double-double.
  if (to_real(bounded_.value) != real_) bounded_.error = 0x1p-106 * bounded_.value.high + 0x1p-1074;
  for (const Format& format : all_formats()) rounded_.push_back(round_to(format, value));
}

ExactInput::ExactInput(double value)
    : algebraic_(to_rational(value)), real_(value), bounded_{{value, 0}, 0} {
  for (const Format& format : all_formats()) rounded_.push_back(round_to(format, value));
}

double ExactInput::rounded(const Format& format) const {
  const auto formats = all_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const Format& candidate) {
    return candidate.name == format.name;
  });
  const double value = rounded_[static_cast<std::size_t>(found - formats.begin())];
  return format.overflow == Overflow::saturate && !(value <= format.largest) ? format.largest
                                                                             : value;
}

// Where the input is rational the product is made of rationals, so that it is exact
// whenever 512 bits hold it and a tie is seen as one.
template <>
Real ExactInput::times<Real>(double factor) const {
  if (!algebraic_.is_rational()) return real_ * Real(factor);
  return Real(Rational(algebraic_.radicand() * to_rational(factor)));
}

template <>
Bounded ExactInput::times<Bounded>(double factor) const {
  return product(bounded_, exactly<Bounded>(factor));
}

template <>
DoubleDouble ExactInput::times<DoubleDouble>(double factor) const {
  return times<Bounded>(factor).value;
}

Bounded product(const Bounded& a, const Bounded& b) {
  if (is_exact_double(a) && is_exact_double(b)) {
    const DoubleDouble value = exact_product(a.value.high, b.value.high);
    // The low part is exact unless it falls among the subnormals.
    const bool exact =
        value.high == 0 ? a.value.high == 0 || b.value.high == 0 : std::abs(value.high) > 0x1p-960;
    return {value, exact ? 0 : 0x1p-1073};
  }
  const DoubleDouble value = a.value * b.value;
  const double x = std::abs(a.value.high), y = std::abs(b.value.high);
  return {value, 1.01 * (x * b.error + y * a.error + a.error * b.error) +
                     operation_error * std::abs(value.high) + 0x1p-1070};
}

Bounded sum(const Bounded& a, const Bounded& b) {
  const DoubleDouble value = a.value + b.value;
  const bool exact = (a.value.high == 0 && a.error == 0) || (b.value.high == 0 && b.error == 0) ||
                     (is_exact_double(a) && is_exact_double(b));
  return {value, 1.01 * (a.error + b.error) + (exact ? 0 : operation_error * std::abs(value.high))};
}

Rotor<Bounded> rotor(const Bounded& angle) {
  if (angle.value.high == 0 && angle.error == 0) return {{{1, 0}, 0}, {{0, 0}, 0}};
  const double size = std::abs(angle.value.high);
  if (size > 0x1p40) throw Undecided{};
  const SineCosine result = sine_cosine(angle.value);
  double sine_error = result.error;
  if (size <= 0x1p-8) sine_error = std::min(sine_error, 0x1p-96 * std::abs(result.sine.high));
  // The slope of either function is at most 1.
  return {{result.cosine, result.error + angle.error}, {result.sine, sine_error + angle.error}};
}

Rotor<Real> rotor(const Real& angle) { return {cosine(angle), sine(angle)}; }

double round_to(const Format& format, const Bounded& x) {
  if (x.error == 0) return round_to(format, x.value.high, x.value.low);
  const DoubleDouble below = x.value + -x.error, above = x.value + x.error;
  const double rounded = round_to(format, below.high, below.low);
  // Zeros of both signs compare equal.
  const bool one_sign = x.value.high != 0 && std::signbit(below.high) == std::signbit(above.high);
  if (!one_sign || rounded != round_to(format, above.high, above.low)) throw Undecided{};
  return rounded;
}

}  // namespace ropelab
