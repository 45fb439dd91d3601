#include "ropelab/errors/dot_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ropelab {
namespace {

// The bound follows the pipeline step by step with two numbers for every quantity x: M, at
// least the ideal |x|, and E, at least |x^ - x| for the computed x^ (Higham, Accuracy and
// Stability of Numerical Algorithms, sections 2.2 and 3.1).
//  - A rounding of x^ costs at most half a spacing. With u = 2^-precision, and as |x^| <= M + E,
//    E' = E + max(u 2^e, least subnormal / 2), where 2^e < M + E <= 2^(e+1).
//  - A product of x and y has M = Mx My and E = Mx Ey + My Ex + Ex Ey; a sum adds both.
//  - |sin(a + e) - sin a| and |cos(a + e) - cos a| are at most min(2, |e|); |sin a| <= |a|.
//  - A rotation keeps lengths: a rotated component has M <= sqrt(x0^2 + x1^2), and the products
//    of two rotated components at most the product of the lengths.
//  - A number that a format holds is rounded to it without error.
struct Quantity {
  Real magnitude = 0;
  Real error = 0;
  Step format = {};  // that the computed number is a member of; empty: carried exactly
  Real most = std::numeric_limits<Real>::infinity();  // no computed |x^| is larger

  Real largest() const { return std::min(most, Real(magnitude + error)); }
};

// Exact steps are made of Reals: none is more than this off, relative to its result.
const Real& exact_roundoff() {
  static const Real value = ldexp(Real(1), -480);
  return value;
}

// The most that rounding a number of at most this size, not 0, costs.
Real half_spacing(const Format& format, const Real& largest) {
  int exponent = ilogb(largest);
  if (largest == ldexp(Real(1), exponent)) --exponent;
  return ldexp(Real(1), std::max(exponent, format.min_exponent) - format.precision);
}

// Whether every member of `from` is a member of `to`.
bool holds_all(const Format& to, const Format& from) {
  return from.precision <= to.precision && from.largest <= to.largest &&
         from.min_exponent - from.precision >= to.min_exponent - to.precision;
}

bool holds(const Format& format, const Rational& x) {
  const double nearest = round_to(format, x);
  return std::isfinite(nearest) && to_rational(nearest) == x;
}
bool holds(const Format& format, const Algebraic& x) {
  return x.is_rational() && holds(format, x.to_rational());
}

Quantity exact_product(const Quantity& x, const Quantity& y) {
  return {x.magnitude * y.magnitude,
          x.magnitude * y.error + y.magnitude * x.error + x.error * y.error,
          {}};
}

Quantity exact_sum(const Quantity& x, const Quantity& y) {
  return {x.magnitude + y.magnitude, x.error + y.error};
}

struct Theta {
  explicit Theta(const Algebraic& theta) : exact(theta), real(theta.to_real()) {}
  Algebraic exact;
  Real real;
};

// Named as the steps of simulation/ are, whose errors these functions follow.
class DotBound {
 public:
  DotBound(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs)
      : pipeline_(pipeline), dtype_(dtype), inputs_(inputs) {}

  std::optional<double> run() {
    std::vector<Quantity> q(inputs_.q.size());
    std::vector<Quantity> k(inputs_.k.size());
    for (int n = 0; n < inputs_.grid.pairs(); ++n) {
      const Theta theta(inputs_.grid.theta(n));
      const auto pair = pair_components(inputs_.layout, inputs_.grid.rope_dim(), n);
      store_rotated(theta, inputs_.i, pair, inputs_.q, q);
      store_rotated(theta, inputs_.j, pair, inputs_.k, k);
    }
    const Real error = accumulated(q, k).error;
    if (left_range_) return std::nullopt;
    // Upwards, past what the Reals of the bound itself have lost.
    return error == 0 ? 0 : std::nextafter(to_double(error), infinity);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  const Step& step(StepName name) const { return pipeline_[name]; }

  // The result of an operation, rounded by a step.
  Quantity finish(const Step& format, Quantity x) {
    x.format = format;
    const Real size = x.largest();
    if (size == 0) return x;
    x.error += exact_roundoff() * size;
    if (format) {
      x.error += half_spacing(*format, size);
      if (size > Real(format->largest)) left_range_ = true;
    }
    return x;
  }

  Quantity operand(const Step& format, const Quantity& x) {
    if (!x.format || !format || holds_all(*format, *x.format)) return x;
    return finish(format, x);
  }

  // As `table` and `storage` keep what the step before has made.
  Quantity keep(const Step& format, const Quantity& x) {
    return x.format ? operand(format, x) : finish(format, x);
  }

  template <class Exact>
  Quantity input(const Step& format, const Exact& x, const Real& magnitude) {
    if (format && holds(*format, x)) return {magnitude, 0, format};
    return finish(format, {magnitude, 0});
  }

  Quantity product(const Step& format, const Quantity& x, const Quantity& y) {
    return finish(format, exact_product(operand(format, x), operand(format, y)));
  }

  Quantity phase(const Theta& theta, long long position) {
    const Quantity place =
        input(step(StepName::position), Rational(position), Real(std::abs(position)));
    const Quantity turn = input(step(StepName::theta), theta.exact, theta.real);
    return product(step(StepName::phase), place, turn);
  }

  // A cosine or sine as it is kept: at most 1, whatever the error of the angle.
  Quantity trig(const Real& magnitude, const Quantity& angle) {
    Quantity x{std::min(Real(1), magnitude), std::min(Real(2), angle.error)};
    x.most = 1;
    return keep(step(StepName::table), finish(step(StepName::trig), x));
  }

  void store_rotated(const Theta& theta, long long position, std::pair<int, int> pair,
                     const std::vector<Rational>& vector, std::vector<Quantity>& stored) {
    const auto first = static_cast<std::size_t>(pair.first);
    const auto second = static_cast<std::size_t>(pair.second);
    const Quantity angle = operand(step(StepName::trig), phase(theta, position));
    const Quantity cosine = trig(1, angle);
    const Quantity sine = trig(angle.magnitude, angle);
    const Quantity x = component(vector[first]);
    const Quantity y = component(vector[second]);
    stored[first] = rotated(x, cosine, y, sine);
    stored[second] = rotated(y, cosine, x, sine);
  }

  Quantity component(const Rational& x) { return input(dtype_, x, to_real(Rational(abs(x)))); }

  // x cosine +- y sine as it is stored.
  Quantity rotated(const Quantity& x, const Quantity& cosine, const Quantity& y,
                   const Quantity& sine) {
    const Step& format = step(StepName::rotation);
    Quantity sum = exact_sum(product(format, x, cosine), product(format, y, sine));
    const Real length = sqrt(x.magnitude * x.magnitude + y.magnitude * y.magnitude);
    sum.magnitude = std::min(sum.magnitude, length);
    return keep(step(StepName::storage), finish(format, sum));
  }

  Quantity accumulated(const std::vector<Quantity>& q, const std::vector<Quantity>& k) {
    const Step& format = step(StepName::accumulation);
    Quantity sum = product(format, q[0], k[0]);
    for (std::size_t n = 1; n < q.size(); ++n) {
      const Quantity term = pipeline_.fused_accumulation
                                ? exact_product(operand(format, q[n]), operand(format, k[n]))
                                : product(format, q[n], k[n]);
      if (term.largest() != 0) sum = finish(format, exact_sum(sum, term));
    }
    return sum;
  }

  const Pipeline& pipeline_;
  const Format& dtype_;
  const DotInputs& inputs_;
  bool left_range_ = false;
};

}  // namespace

std::optional<double> dot_bound(const Pipeline& pipeline, const Format& dtype,
                                const DotInputs& inputs) {
  return DotBound(pipeline, dtype, inputs).run();
}

}  // namespace ropelab
