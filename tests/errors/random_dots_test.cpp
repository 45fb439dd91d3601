// Random rotated dot products at shifted positions, against one product at a time.
#include <cmath>

#include "catch.hpp"
#include "ropelab/errors/random_dots.hpp"
#include "ropelab/simulation/content.hpp"

namespace ropelab {
namespace {

constexpr std::size_t dots_drawn = 7;
constexpr int small_rope_dim = 8;
constexpr long long query_position = 40, key_position = 17;

DotInputs dot_inputs(std::size_t number, long long offset) {
  const auto vector = [&](Role role) {
    std::vector<Rational> components;
    for (const double x :
         content_vector(3, role, static_cast<long long>(number), small_rope_dim, {})) {
      components.push_back(to_rational(x));
    }
    return components;
  };
  return {FrequencyGrid(Rational(10000), small_rope_dim),
          vector(Role::query),
          vector(Role::key),
          query_position + offset,
          key_position + offset,
          Layout::half};
}

Real computed(const Pipeline& pipeline, const Format& dtype, std::size_t number, long long offset) {
  return as_exact(computed_dot(pipeline, dtype, dot_inputs(number, offset)));
}

RandomDots random_dots() {
  return RandomDots(FrequencyGrid(Rational(10000), small_rope_dim), Layout::half, query_position,
                    key_position, dots_drawn, 3);
}

TEST_CASE("random dot products are measured as one by one") {
  const RandomDots dots = random_dots();
  for (const auto* name : {"ideal-trig", "naive", "fp32-rope"}) {
    const Format& dtype = find_format("bfloat16");
    const Pipeline pipeline = parse_pipeline(name, dtype);
    const auto errors = dots.measure(pipeline, dtype, {1000, -30}).front();
    Real error_squares = 0, error_max = 0, shift_squares = 0, shift_max = 0;
    for (std::size_t n = 0; n < dots_drawn; ++n) {
      const DotInputs inputs = dot_inputs(n, 0);
      const Real exact = exact_rotated_dot(inputs.grid, inputs.q, inputs.k, query_position,
                                           key_position, Layout::half)
                             .value;
      const Real shifted = computed(pipeline, dtype, n, 1000);
      const Real error = abs(shifted - exact);
      const Real shift = abs(shifted - computed(pipeline, dtype, n, 0));
      error_squares += error * error;
      shift_squares += shift * shift;
      error_max = std::max(error_max, error);
      shift_max = std::max(shift_max, shift);
    }
    CHECK(errors.error_max == to_double(error_max));
    CHECK(errors.shift_max == to_double(shift_max));
    CHECK(errors.error_rms == Approx(to_double(Real(sqrt(error_squares / 7)))).epsilon(1e-14));
    CHECK(errors.shift_rms == Approx(to_double(Real(sqrt(shift_squares / 7)))).epsilon(1e-14));
    CHECK(errors.nonfinite == 0);
  }
}

TEST_CASE("nothing but the format makes random dot products depend on the offset") {
  const RandomDots dots = random_dots();
  const Format& dtype = find_format("float64");
  const auto inexact = dots.measure(parse_pipeline("naive", dtype), dtype, {0, 4096});
  CHECK(inexact[0].shift_max == 0);
  CHECK(inexact[1].shift_max > 0);
  CHECK(inexact[1].shift_max < 1e-10);
  const Pipeline exact = parse_pipeline(
      "ideal-trig,trig=exact,table=exact,rotation=exact,storage=exact,accumulation=exact", dtype);
  CHECK(dots.measure(exact, dtype, {4096}).front().shift_max < 1e-100);
}

TEST_CASE("random dot products that are not finite are counted and left out") {
  const RandomDots dots = random_dots();
  const Format& dtype = find_format("float8_e4m3fn");
  const auto errors =
      dots.measure(parse_pipeline("naive", dtype), dtype, {100000}).front();  // no such position
  CHECK(errors.nonfinite == dots_drawn);
  CHECK(errors.error_max == 0);
}

}  // namespace
}  // namespace ropelab
