// What the steps of a pipeline add to the error one by one, against what they do together.
#include "ropelab/simulation/budget.hpp"

#include <cmath>

#include "catch.hpp"
#include "ropelab/errors/exact_errors.hpp"

namespace ropelab {
namespace {

const Construction one_construction{
    Algebraic(Rational(1, 3000)), Algebraic(Rational(1, 2), 2), 48, {}};
constexpr std::size_t few_positions = 300;

PairErrors errors_of(const Pipeline& pipeline) {
  return measure_all_pairs(pipeline, DistanceReference(one_construction, few_positions), 0).errors;
}

// Every score, less the exact one, in order.
std::vector<double> score_errors(const Pipeline& pipeline) {
  const DistanceReference reference(one_construction, few_positions);
  const RotatedTable table = rotated_table(pipeline, one_construction, 0, few_positions);
  const ExactInput scale = score_scale(one_construction);
  std::vector<double> errors;
  for (std::size_t i = 0; i < few_positions; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      errors.push_back(
          (score_at(pipeline, scale, table, i, j) - reference.simulated()[i - j]).high);
    }
  }
  return errors;
}

TEST_CASE("errors of single steps add up to the whole in first order") {
  // Inputs are rounded alike whatever else is: so it holds for every pair.
  const Pipeline whole =
      parse_pipeline("exact,position=float8_e5m2,theta=float16", float32_format());
  const auto position = score_errors(only(whole, StepName::position));
  const auto theta = score_errors(only(whole, StepName::theta));
  const auto both = score_errors(whole);
  double largest = 0;
  for (std::size_t n = 0; n < both.size(); ++n) {
    largest = std::max(largest, std::abs(both[n]));
    // What is left is the product of two relative errors: 2^-3 and 2^-11.
    CHECK(std::abs(both[n] - position[n] - theta[n]) <= 0x1p-10 * (1 + std::abs(position[n])));
  }
  CHECK(largest > 1);
}

TEST_CASE("where every number is rounded once, squares of rms add up") {
  const Pipeline whole = parse_pipeline("naive,table=exact,storage=exact", float32_format());
  double squares = 0;
  for (std::size_t s = 0; s < step_count; ++s) {
    const double rms = *errors_of(only(whole, static_cast<StepName>(s))).rounding_rms;
    CHECK((rms == 0) == !whole.steps[s].has_value());
    squares += rms * rms;
  }
  const double together = *errors_of(whole).rounding_rms;
  CHECK(std::sqrt(squares) > 0.6 * together);
  CHECK(std::sqrt(squares) < 1.6 * together);
}

TEST_CASE("what one step costs alone is missing where it is exact") {
  const Pipeline whole = parse_pipeline("fp32-rope,storage=bfloat16", float32_format());
  const double all = *errors_of(whole).rounding_rms;
  const double storage = *errors_of(only(whole, StepName::storage)).rounding_rms;
  const double rest = *errors_of(all_but(whole, StepName::storage)).rounding_rms;
  CHECK(storage == Approx(all).epsilon(0.01));
  CHECK(rest < all / 1000);
}

TEST_CASE("scores that nothing rounds have the errors of the truncation alone") {
  const DistanceReference reference(one_construction, few_positions);
  const PairErrors errors = exact_measurement(reference, 7).errors;
  CHECK(errors.rounding_maximum->error == 0);
  CHECK(errors.rounding_maximum->i == 7);
  CHECK(errors.rounding_maximum->j == 7);
  CHECK(errors.order_lost == 0);
  CHECK(errors.pairs == few_positions * (few_positions + 1) / 2);
  // float64 is exact to more digits than are compared, of a visible error of 4e-5 to 8.
  const Measurement nearly =
      measure_all_pairs(parse_pipeline("ideal-trig", float64_format()), reference, 0);
  CHECK(errors.total_maximum.value() == Approx(*nearly.errors.total_maximum).epsilon(1e-9));
  CHECK(errors.total_rms.value() == Approx(*nearly.errors.total_rms).epsilon(1e-9));
  CHECK(errors.visible_maximum.value() == Approx(*nearly.errors.visible_maximum).epsilon(1e-7));
}

TEST_CASE("a sine that wraps loses its order with nothing rounded, too") {
  const Construction wrapping{Algebraic(Rational(1, 50)), Algebraic(Rational(1, 2)), 64, {}};
  const DistanceReference reference(wrapping, few_positions);
  const Measurement nearly =
      measure_all_pairs(parse_pipeline("ideal-trig", float64_format()), reference, 0);
  const Measurement exact = exact_measurement(reference, 0);
  CHECK(exact.errors.order_lost > 0.3);
  CHECK(exact.errors.order_lost == nearly.errors.order_lost);
  CHECK(exact.weights_total_variation.value() ==
        Approx(*nearly.weights_total_variation).epsilon(1e-9));
}

}  // namespace
}  // namespace ropelab
