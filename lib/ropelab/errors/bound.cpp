#include "ropelab/errors/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ropelab/exact/real.hpp"

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
//              products with the fixed zeros and the sums with them are exact, and so are those
//              with a K that is a power of two where the table is kept in a format.
//  - storage, and the operands of accumulation, round where the format before was wider.
//  - accumulation: two products of M = N min(1, phase) and their sum, for which
//              |S| sqrt(head_dim) <= N min(1, phase of the greatest distance) is the better M.
//              Among content every product and every sum so far is rounded, with an M of
//              largest_content^2 for each product of content.
//  - scaling:  times 1/sqrt(head_dim); both exact if that is a power of two, unless the sum is
//              kept exactly.
// Number is double, or Real where a double's range could be left.
template <class Number>
struct BoundedQuantity {
  Number magnitude = 0;
  Number error = 0;
};

// Arithmetic called exact carries at least this much.
constexpr double exact_roundoff = 0x1p-100;
// The bound itself is computed in some dozens of double operations.
constexpr double inflation = 1 + 0x1p-40;

// 2^exponent.
template <class Number>
Number power_of_two(int exponent) {
  using std::ldexp;
  return ldexp(Number(1), exponent);
}

double unit_roundoff(const Step& step) {
  return step ? std::ldexp(1.0, -step->precision) : exact_roundoff;
}
// Far from the ends of a double's range, float64 and double-doubles need none.
template <class Number>
Number eta(const Step& step) {
  if (step) return power_of_two<Number>(step->min_exponent - step->precision);
  return std::is_same_v<Number, double> ? Number(0) : power_of_two<Number>(-1072);
}
// How far a double of the inputs may be from what it stands for, beyond the inflation.
template <class Number>
Number input_error(double input) {
  const bool is_subnormal = input < std::numeric_limits<double>::min();
  return is_subnormal ? power_of_two<Number>(-1075) : Number(0);
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

template <class Number>
class Bound {
  using Quantity = BoundedQuantity<Number>;

 public:
  explicit Bound(const Pipeline& pipeline) : pipeline_(pipeline) {}

  std::optional<Number> run(const BoundInputs& inputs) {
    using std::isfinite;
    const Quantity phase = make_phase(inputs);
    const Quantity sine = make_sine(phase), cosine = make_cosine(phase);
    const Number amplitude = Number(inputs.amplitude) + input_error<Number>(inputs.amplitude);
    const Quantity query = fixed(amplitude / inputs.key_part);
    const bool query_exact = false;
    const bool key_exact = !inputs.even_split && is_power_of_two(inputs.key_part);
    const Quantity key = key_exact ? power(inputs.key_part) : fixed(inputs.key_part);
    // Only an entry that a format holds is one that the rotation holds, too.
    const bool key_products_exact = key_exact && step(StepName::table);
    const Quantity query_first = component(query, cosine, query_exact);
    const Quantity query_second = component(query, sine, query_exact);
    const Quantity key_first = component(key, sine, key_products_exact);
    const Quantity key_second = component(key, cosine, key_products_exact);
    const Number last_phase = theta_of(inputs) * (inputs.context - 1);
    const Number sum_of_pair = amplitude * least(1, last_phase);
    Sum terms(*this);
    if (inputs.among_content) {
      const Quantity content =
          converted({largest_content, 0}, StepName::storage, StepName::accumulation);
      in_storage_order(
          *inputs.among_content, static_cast<std::size_t>(inputs.head_dim),
          [&](std::size_t n) {
            terms.add_of_pair(n == 0 ? query_first : query_second, n == 0 ? key_first : key_second,
                              sum_of_pair);
          },
          [&](std::size_t) { terms.add(content, content); });
    } else {
      terms.add_of_pair(query_first, key_first, sum_of_pair);
      terms.add_of_pair(query_second, key_second, sum_of_pair);
    }
    const Quantity sum = terms.total();
    const Quantity score = scaled(sum, inputs.head_dim);
    if (out_of_range_ || !isfinite(score.error)) return std::nullopt;
    return Number(score.error * inflation);
  }

 private:
  const Step& step(StepName name) const { return pipeline_[name]; }

  static Number least(const Number& a, const Number& b) { return std::min(a, b); }

  // At least theta.
  static Number theta_of(const BoundInputs& inputs) {
    return Number(inputs.theta) + input_error<Number>(inputs.theta);
  }

  void check(StepName name, const Number& size) {
    if (!(size <= (step(name) ? step(name)->largest : 0x1p1000))) out_of_range_ = true;
  }

  Quantity rounded(Quantity x, StepName name) {
    check(name, x.magnitude + x.error);
    x.error += unit_roundoff(step(name)) * (x.magnitude + x.error) + eta<Number>(step(name));
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
    const double last = inputs.first_position + inputs.context - 1;
    if (!whole_numbers_fit(last, step(StepName::position))) {
      position = rounded(position, StepName::position);
    }
    if (!whole_numbers_fit(last, step(StepName::phase))) {
      position = converted(position, StepName::position, StepName::phase);
    }
    Quantity theta{theta_of(inputs), 2 * input_error<Number>(inputs.theta)};
    theta = rounded(theta, StepName::theta);
    theta = converted(theta, StepName::theta, StepName::phase);
    const Quantity phase = rounded(product(position, theta), StepName::phase);
    return converted(phase, StepName::phase, StepName::trig);
  }

  static bool whole_numbers_fit(double last, const Step& format) {
    return !format || (last <= std::ldexp(1.0, format->precision) && last <= format->largest);
  }

  Quantity make_sine(const Quantity& phase) {
    return kept({least(1, phase.magnitude), least(2, phase.error)});
  }

  Quantity make_cosine(const Quantity& phase) {
    const Number slope = least(1, phase.magnitude + phase.error);
    return kept({1, least(2, phase.error * slope)});
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
    const Number size = least(1, x.magnitude + x.error);
    x.error += unit_roundoff(step(name)) * least(size, 0.5) + eta<Number>(step(name));
    return x;
  }

  // Of which a subnormal double may say too much or too little.
  Quantity fixed(const Number& value) {
    Quantity x{value, value < std::numeric_limits<double>::min() ? power_of_two<Number>(-1074)
                                                                 : Number(0)};
    if (value == 1) return x;  // every format holds it
    return rounded(x, StepName::rotation);
  }

  // A power of two, which every format in range holds; one out of range may become anything.
  Quantity power(const Number& value) {
    check(StepName::rotation, value);
    const Number least = step(StepName::rotation) ? 2 * eta<Number>(step(StepName::rotation)) : 0;
    return value < least ? fixed(value) : Quantity{value, 0};
  }

  Quantity component(const Quantity& part, const Quantity& trig, bool exact_product) {
    Quantity x = product(part, trig);
    if (exact_product) {
      x.error += eta<Number>(step(StepName::rotation));
    } else {
      x = rounded(x, StepName::rotation);
    }
    if (!step(StepName::rotation) ||
        !holds_all(step(StepName::storage), step(StepName::rotation))) {
      x = rounded(x, StepName::storage);
    }
    return converted(x, StepName::storage, StepName::accumulation);
  }

  // The products of a sum one by one: what is known of their sum so far.
  class Sum {
   public:
    explicit Sum(Bound& bound) : bound_(bound) {}

    void add(const Quantity& query, const Quantity& key) {
      const Quantity term = rounded_product(query, key);
      rest_ += term.magnitude;
      add_error(term.error);
    }

    // The pair's two products, which make up at most `sum_of_pair` together.
    void add_of_pair(const Quantity& query, const Quantity& key, const Number& sum_of_pair) {
      const Quantity term = rounded_product(query, key);
      bound_.check(StepName::accumulation, rest_ + pair_ + term.magnitude + error_ + term.error);
      pair_ = pair_ == 0 ? term.magnitude : sum_of_pair;
      add_error(term.error);
    }

    Quantity total() const { return {rest_ + pair_, error_}; }

   private:
    Quantity rounded_product(const Quantity& query, const Quantity& key) {
      const Quantity term = product(query, key);
      const bool round = terms_ == 0 || !bound_.pipeline_.fused_accumulation;
      return round ? bound_.rounded(term, StepName::accumulation) : term;
    }

    void add_error(const Number& error) {
      error_ += error;
      if (++terms_ == 1) return;
      error_ = bound_.rounded(total(), StepName::accumulation).error;
    }

    Bound& bound_;
    int terms_ = 0;
    Number pair_ = 0, rest_ = 0, error_ = 0;
  };

  Quantity scaled(const Quantity& sum, double head_dim) {
    const double root = std::sqrt(head_dim);
    const bool is_power = root * root == head_dim && is_power_of_two(root);
    // An exact sum is no number of the scaling's format, and is rounded to it.
    const bool exact = is_power && (step(StepName::accumulation) || !step(StepName::scaling));
    Quantity scale{1 / Number(root), 0};
    if (!is_power) {
      scale.error = 0x1p-52 * scale.magnitude;
      scale = rounded(scale, StepName::scaling);
    }
    Quantity score = product(converted(sum, StepName::accumulation, StepName::scaling), scale);
    if (exact) {
      score.error += eta<Number>(step(StepName::scaling));
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
  const auto is_ordinary = [](double x) { return x > 0x1p-850 && x < 0x1p850; };
  if (is_ordinary(inputs.theta) && is_ordinary(inputs.amplitude) &&
      is_ordinary(inputs.theta * inputs.amplitude) && is_ordinary(inputs.key_part) &&
      is_ordinary(inputs.amplitude / inputs.key_part)) {
    return Bound<double>(pipeline).run(inputs);
  }
  const auto bound = Bound<Real>(pipeline).run(inputs);
  if (!bound) return std::nullopt;
  const double nearest = to_double(*bound);
  return Real(nearest) < *bound ? std::nextafter(nearest, HUGE_VAL) : nearest;
}

}  // namespace ropelab
