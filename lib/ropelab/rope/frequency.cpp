#include "ropelab/rope/frequency.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace ropelab {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// How many times larger the larger one is.
Algebraic ratio(const Algebraic& a, const Algebraic& b) { return a < b ? b / a : a / b; }

// A power has no rational value of its own here: base^(p/2^k) of a number of a format is
// rational only if the base is the 2^k-th power of a rational. 2^(2^11) is out of range.
constexpr unsigned deepest_root = 11;

// base^exponent for a finite base > 0 other than 1, rounded once.
double rounded_power(const Format& format, double base, double exponent) {
  const Rational x = to_rational(exponent);
  const unsigned depth = static_cast<unsigned>(msb(Integer(denominator(x))));
  if (depth <= deepest_root) {
    return round_to(format, Algebraic::power(to_rational(base),
                                             static_cast<long long>(numerator(x)), 1U << depth));
  }
  // Irrational, hence never a tie.
  return round_to(format, power(Real(base), Real(exponent)));
}

// IEEE 754's pow for a base that is no negative number.
double format_power(const Format& format, double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (std::isnan(base)) return base;
  if (base != 0 && std::isfinite(base)) return rounded_power(format, base, exponent);
  return round_to(format, (exponent > 0) == (base > 0) ? infinity : 0.0);
}

double format_reciprocal(const Format& format, double x) {
  if (x == 0 || !std::isfinite(x)) return round_to(format, 1 / x);
  return round_to(format, Rational(1 / to_rational(x)));
}

double format_logarithm(const Format& format, double x) {
  if (x == 1) return 0;
  if (x == 0) return round_to(format, -infinity);
  if (!std::isfinite(x)) return round_to(format, x);
  return round_to(format, natural_logarithm(Real(x)));
}

double format_product(const Format& format, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return round_to(format, a * b);
  return round_to(format, Rational(to_rational(a) * to_rational(b)));
}

double format_exponential(const Format& format, double x) {
  if (x == 0) return 1;
  if (!std::isfinite(x)) return round_to(format, x < 0 ? 0.0 : x);
  return round_to(format, natural_exponential(Real(x)));
}

double power_frequency(const Format& format, double base, double exponent) {
  return format_reciprocal(format, format_power(format, base, exponent));
}

double exponential_log_frequency(const Format& format, double base, double exponent) {
  const double logarithm = format_logarithm(format, base);
  return format_exponential(format, format_product(format, -exponent, logarithm));
}

std::vector<double> running_products(const Format& format, double base, int rope_dim,
                                     const Interruption& interruption) {
  const double step = format_power(format, base, round_to(format, Rational(-2, rope_dim)));
  std::vector<double> thetas{1.0};
  for (int pair = 1; pair < rope_dim / 2; ++pair) {
    interruption.check();
    thetas.push_back(format_product(format, thetas.back(), step));
  }
  return thetas;
}

}  // namespace

FrequencyGrid::FrequencyGrid(Algebraic base, int rope_dim, Scaling scaling)
    : base_(std::move(base)), rope_dim_(rope_dim) {
  if (rope_dim < 2 || rope_dim % 2 != 0) {
    throw std::invalid_argument("rope_dim is " + std::to_string(rope_dim) +
                                "; it must be an even number from 2 on");
  }
  scaling_ = GridScaling(std::move(scaling), base_, rope_dim_);
}

FrequencyGrid::FrequencyGrid(const Rational& base, int rope_dim, Scaling scaling)
    : FrequencyGrid(
          base > 0 ? Algebraic(base)
                   : throw std::invalid_argument("base is " + base.str() + "; it must be above 0"),
          rope_dim, std::move(scaling)) {}

Algebraic FrequencyGrid::unscaled_theta(int pair) const {
  if (pair < 0 || pair >= pairs()) {
    throw std::invalid_argument("pair is " + std::to_string(pair) + "; with rope_dim " +
                                std::to_string(rope_dim_) + " it must be from 0 to " +
                                std::to_string(pairs() - 1));
  }
  return Algebraic::power(base_.radicand(), -2LL * pair,
                          base_.root() * static_cast<unsigned>(rope_dim_));
}

Algebraic FrequencyGrid::theta(int pair) const {
  return scaling_.scaled(unscaled_theta(pair), pair);
}

int FrequencyGrid::slowest_pair(const Interruption& interruption) const {
  // Without a scaling the grid goes one way.
  if (!scales(scaling_.scaling())) return base_ < Algebraic() ? 0 : pairs() - 1;
  int slowest = 0;
  Algebraic least = theta(0);
  for (int pair = 1; pair < pairs(); ++pair) {
    interruption.check();
    Algebraic candidate = theta(pair);
    if (least < candidate) continue;
    slowest = pair;
    least = std::move(candidate);
  }
  return slowest;
}

int FrequencyGrid::nearest_pair(const Algebraic& theta, const Interruption& interruption) const {
  int nearest = 0;
  Algebraic least = ratio(this->theta(0), theta);
  for (int pair = 1; pair < pairs(); ++pair) {
    interruption.check();
    Algebraic candidate = ratio(this->theta(pair), theta);
    if (candidate < least) {
      nearest = pair;
      least = std::move(candidate);
    }
  }
  return nearest;
}

Algebraic frequency(const Rational& base, int rope_dim, int pair) {
  return FrequencyGrid(base, rope_dim).theta(pair);
}

std::array<FrequencyFormula, 3> frequency_formulas() {
  return {FrequencyFormula::power, FrequencyFormula::exponential_log,
          FrequencyFormula::running_product};
}

std::string_view formula_name(FrequencyFormula formula) {
  constexpr std::string_view names[] = {"pow", "explog", "running"};
  return names[static_cast<int>(formula)];
}

std::vector<double> evaluate_frequencies(const FrequencyGrid& grid, FrequencyFormula formula,
                                         const Format& format, const Interruption& interruption) {
  const double base = round_to(format, grid.base());
  if (formula == FrequencyFormula::running_product) {
    return running_products(format, base, grid.rope_dim(), interruption);
  }
  const auto evaluate =
      formula == FrequencyFormula::power ? power_frequency : exponential_log_frequency;
  std::vector<double> thetas;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    interruption.check();
    thetas.push_back(evaluate(format, base, round_to(format, Rational(2 * pair, grid.rope_dim()))));
  }
  return thetas;
}

}  // namespace ropelab
