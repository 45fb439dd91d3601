#include "ropelab/errors/bound.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {
namespace {

// The bound follows the pipeline step by step with two numbers for every quantity x: M, at
// least the exact |x|, and E, at least |x^ - x| for the computed x^. In Higham's notation
// (Accuracy and Stability of Numerical Algorithms, section 2.2 and 3.1) a step that rounds to
// a format with unit roundoff u and least subnormal 2 eta makes
//     fl(x^) = x^ (1 + delta) + epsilon,  |delta| <= u, |epsilon| <= eta, so
//     E' = E + u (M + E) + eta,
// a product of x and y has M = Mx My and E = Mx Ey + My Ex + Ex Ey, a sum adds both.
//  - position: M = last position; rounded only if it passes 2^p.
//  - phase:    position times theta.
//  - trig:     |sin(a + e) - sin a| <= |e|, M = min(1, phase);
//              |cos(a + e) - cos a| <= |e| min(1, |a| + |e|), M = 1. Rounding a number of
//              [-1, 1] costs at most u/2, since the spacing below 1 is u.
//  - rotation: N/K and K rounded, then one product each: N/K cos, N/K sin, K sin, K cos; the
//              products with the fixed zeros and the sums with them are exact.
//  - storage, and the operands of accumulation, round where the format before was wider.
//  - accumulation: two products of M = N min(1, phase) and their sum, for which
//              |S| sqrt(head_dim) <= N min(1, phase of the greatest distance) is the better M.
//  - scaling:  times 1/sqrt(head_dim); both exact if that is a power of two.
struct Quantity {
  double magnitude = 0;
  double error = 0;
};

// Arithmetic called exact carries at least this much.
constexpr double exact_roundoff = 0x1p-100;
// The bound itself is computed in some dozens of double operations.
constexpr double inflation = 1 + 0x1p-40;

double unit_roundoff(const Step& step) {
  return step ? std::ldexp(1.0, -step->precision) : exact_roundoff;
}
double eta(const Step& step) {
  return step ? std::ldexp(1.0, step->min_exponent - step->precision) : 0;
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5;
}

// Whether every member of `from` is a member of `to`.
bool holds_all(const Step& to, const Step& from) {
  if (!to) return true;
  if (!from) return false;
  return from->precision <= to->precision && from->min_exponent >= to->min_exponent &&
         from->largest <= to->largest;
}

class Bound {
 public:
  explicit Bound(const Pipeline& pipeline) : pipeline_(pipeline) {}

  std::optional<double> run(const BoundInputs& inputs) {
    const Quantity phase = make_phase(inputs);
    const Quantity sine = make_sine(phase), cosine = make_cosine(phase);
    const Quantity query = fixed(inputs.amplitude / inputs.key_part);
    const Quantity key = fixed(inputs.key_part);
    const bool query_exact = false, key_exact = is_power_of_two(inputs.key_part);
    const Quantity first =
        accumulated(component(query, cosine, query_exact), component(key, sine, key_exact), true);
    const Quantity second =
        accumulated(component(query, sine, query_exact), component(key, cosine, key_exact),
                    !pipeline_.fused_accumulation);
    Quantity sum{inputs.amplitude * std::min(1.0, inputs.theta * (inputs.context - 1)),
                 first.error + second.error};
    check(StepName::accumulation, first.magnitude + second.magnitude + sum.error);
    sum = rounded(sum, StepName::accumulation);
    const Quantity score = scaled(sum, inputs.head_dim);
    if (out_of_range_ || !std::isfinite(score.error)) return std::nullopt;
    return score.error * inflation;
  }

 private:
  const Step& step(StepName name) const { return pipeline_[name]; }

  void check(StepName name, double size) {
    if (!(size <= (step(name) ? step(name)->largest : 0x1p1000))) out_of_range_ = true;
  }

  Quantity rounded(Quantity x, StepName name) {
    check(name, x.magnitude + x.error);
    x.error += unit_roundoff(step(name)) * (x.magnitude + x.error) + eta(step(name));
    return x;
  }

  // As an operand of step `to` of what step `from` made.
  Quantity converted(const Quantity& x, StepName from, StepName to) {
    if (!step(from) || holds_all(step(to), step(from))) return x;
    return rounded(x, to);
  }

  static Quantity product(const Quantity& x, const Quantity& y) {
    return {x.magnitude * y.magnitude,
            x.magnitude * y.error + y.magnitude * x.error + x.error * y.error};
  }

  Quantity make_phase(const BoundInputs& inputs) {
    Quantity position{inputs.first_position + inputs.context - 1, 0};
    if (!whole_numbers_fit(position.magnitude, step(StepName::position))) {
      position = rounded(position, StepName::position);
    }
    if (!whole_numbers_fit(position.magnitude, step(StepName::phase))) {
      position = converted(position, StepName::position, StepName::phase);
    }
    Quantity theta = rounded({inputs.theta, 0}, StepName::theta);
    theta = converted(theta, StepName::theta, StepName::phase);
    const Quantity phase = rounded(product(position, theta), StepName::phase);
    return converted(phase, StepName::phase, StepName::trig);
  }

  static bool whole_numbers_fit(double last, const Step& format) {
    return !format || (last <= std::ldexp(1.0, format->precision) && last <= format->largest);
  }

  Quantity make_sine(const Quantity& phase) {
    return kept({std::min(1.0, phase.magnitude), std::min(2.0, phase.error)});
  }

  Quantity make_cosine(const Quantity& phase) {
    const double slope = std::min(1.0, phase.magnitude + phase.error);
    return kept({1, std::min(2.0, phase.error * slope)});
  }

  // Trig and table, and the table's entry as an operand of the rotation.
  Quantity kept(Quantity x) {
    x = rounded_below_one(x, StepName::trig);
    if (!step(StepName::trig) || !holds_all(step(StepName::table), step(StepName::trig))) {
      x = rounded_below_one(x, StepName::table);
    }
    if (step(StepName::table) && !holds_all(step(StepName::rotation), step(StepName::table))) {
      x = rounded_below_one(x, StepName::rotation);
    }
    return x;
  }

  Quantity rounded_below_one(Quantity x, StepName name) {
    const double size = std::min(1.0, x.magnitude + x.error);
    x.error += unit_roundoff(step(name)) * std::min(size, 0.5) + eta(step(name));
    return x;
  }

  Quantity fixed(double value) {
    const Quantity x{value, 0};
    if (value == 1) return x;  // every format holds it
    return rounded(x, StepName::rotation);
  }

  Quantity component(const Quantity& part, const Quantity& trig, bool exact_product) {
    Quantity x = product(part, trig);
    if (exact_product) {
      x.error += eta(step(StepName::rotation));
    } else {
      x = rounded(x, StepName::rotation);
    }
    if (!step(StepName::rotation) ||
        !holds_all(step(StepName::storage), step(StepName::rotation))) {
      x = rounded(x, StepName::storage);
    }
    return converted(x, StepName::storage, StepName::accumulation);
  }

  Quantity accumulated(const Quantity& query, const Quantity& key, bool round) {
    const Quantity x = product(query, key);
    return round ? rounded(x, StepName::accumulation) : x;
  }

  Quantity scaled(const Quantity& sum, double head_dim) {
    const double root = std::sqrt(head_dim);
    const bool exact = root * root == head_dim && is_power_of_two(root);
    Quantity scale{1 / root, 0};
    if (!exact) {
      scale.error = 0x1p-52 * scale.magnitude;
      scale = rounded(scale, StepName::scaling);
    }
    Quantity score = product(converted(sum, StepName::accumulation, StepName::scaling), scale);
    if (exact) {
      score.error += eta(step(StepName::scaling));
      check(StepName::scaling, score.magnitude + score.error);
      return score;
    }
    return rounded(score, StepName::scaling);
  }

  const Pipeline& pipeline_;
  bool out_of_range_ = false;
};

}  // namespace

std::optional<double> rounding_bound(const Pipeline& pipeline, const BoundInputs& inputs) {
  return Bound(pipeline).run(inputs);
}

}  // namespace ropelab
