#include "ropelab/errors/dot_bound.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "catch.hpp"

using namespace ropelab;

namespace {

std::vector<Rational> random_vector(std::mt19937_64& random, int size, int exponent) {
  std::vector<Rational> v;
  for (int n = 0; n < size; ++n) {
    Rational x(Integer(static_cast<long long>(random() >> 30) - (1LL << 33)), Integer(1) << 33);
    const int shift = exponent - static_cast<int>(random() % 4);
    x *= shift >= 0 ? Rational(Integer(1) << shift) : Rational(1, Integer(1) << -shift);
    v.push_back(random() % 8 == 0 ? Rational(0) : x);
  }
  return v;
}

DotInputs random_inputs(std::mt19937_64& random, int exponent, long long farthest) {
  const int bases[] = {1, 10, 10000, 500000};
  const int rope_dim = 2 << (random() % 5);
  const auto position = [&] {
    return static_cast<long long>(random() % static_cast<unsigned long long>(farthest));
  };
  return {FrequencyGrid(Rational(bases[random() % 4]), rope_dim),
          random_vector(random, rope_dim, exponent),
          random_vector(random, rope_dim, exponent),
          position(),
          position(),
          random() % 2 == 0 ? Layout::interleaved : Layout::half};
}

Real error_of(const StepValue<Real>& value, const DotInputs& inputs) {
  const Real exact =
      exact_rotated_dot(inputs.grid, inputs.q, inputs.k, inputs.i, inputs.j, inputs.layout).value;
  return abs(as_exact(value) - exact);
}

// The largest error relative to its bound among many products; fails where one passes it.
double tightest(const std::string& pipeline_name, const Format& dtype, int exponent,
                long long farthest, int count) {
  std::mt19937_64 random(7);
  const Pipeline pipeline = parse_pipeline(pipeline_name, dtype);
  double tightest = 0;
  for (int n = 0; n < count; ++n) {
    const DotInputs inputs = random_inputs(random, exponent, farthest);
    const auto bound = dot_bound(pipeline, dtype, inputs);
    if (!bound) continue;
    const StepValue<Real> value = computed_dot(pipeline, dtype, inputs);
    CAPTURE(pipeline_name, dtype.name, n, inputs.grid.rope_dim(), inputs.i, inputs.j);
    REQUIRE(is_finite(value));
    const Real error = error_of(value, inputs);
    REQUIRE(error <= Real(*bound));
    if (*bound > 0) tightest = std::max(tightest, to_double(Real(error / Real(*bound))));
  }
  return tightest;
}

}  // namespace

TEST_CASE("No error passes the bound, in any dtype and pipeline, near or far, tiny or large") {
  const std::string pipelines[] = {
      "ideal-trig",
      "naive",
      "fp32-rope",
      "fused",
      "fused,table=bfloat16",
      "fused,accumulation=float32-fma",
      "naive,trig=exact,table=exact",
      "ideal-trig,rotation=exact,accumulation=exact",
      "naive,phase=float8_e5m2,storage=float8_e4m3fn,accumulation=float16",
  };
  for (const Format& dtype : all_formats()) {
    for (const std::string& pipeline : pipelines) {
      for (const int exponent : {1, -4, -30}) {
        for (const long long farthest : {8LL, 200LL, 100000LL}) {
          tightest(pipeline, dtype, exponent, farthest, 4);
        }
      }
    }
  }
}

TEST_CASE("The bound is near enough to mean something") {
  for (const std::string_view name : {"float16", "bfloat16", "float32", "float64"}) {
    const Format& dtype = find_format(name);
    for (const std::string pipeline : {"ideal-trig", "fp32-rope", "fused"}) {
      const double ratio = tightest(pipeline, dtype, 1, 200, 40);
      CAPTURE(name, pipeline, ratio);
      CHECK(ratio > 0.03);
    }
  }
}

TEST_CASE("What a single coarse step loses is bounded, and not by far") {
  for (const std::string_view step : step_names) {
    if (step == "scaling") continue;
    const std::string pipeline = "ideal-trig," + std::string(step) + "=bfloat16";
    const double ratio = tightest(pipeline, float64_format(), 1, 1000, 60);
    CAPTURE(pipeline, ratio);
    CHECK(ratio > 0.1);
  }
}

TEST_CASE("In float64 errors near the least subnormal are bounded too") {
  std::mt19937_64 random(8);
  const Pipeline naive = parse_pipeline("naive", float64_format());
  for (int n = 0; n < 20; ++n) {
    const DotInputs inputs = random_inputs(random, -535, 1000);
    const auto bound = dot_bound(naive, float64_format(), inputs);
    REQUIRE(bound);
    CHECK(error_of(computed_dot(naive, float64_format(), inputs), inputs) <= Real(*bound));
  }
}

TEST_CASE("Nothing is lost where there is nothing to add") {
  const FrequencyGrid grid(Rational(10000), 4);
  const std::vector<Rational> zeros(4, Rational(0));
  const Format& half = find_format("float16");
  CHECK(dot_bound(parse_pipeline("naive", half), half,
                  {grid, zeros, zeros, 100, 7, Layout::half}) == 0.0);
}

TEST_CASE("Exact steps leave a bound far below anything printed") {
  const Pipeline exact = parse_pipeline(
      "ideal-trig,trig=exact,table=exact,rotation=exact,storage=exact,accumulation=exact",
      float64_format());
  const FrequencyGrid grid(Rational(10000), 4);
  const auto bound =
      dot_bound(exact, float64_format(), {grid, {1, 2, 3, 4}, {1, 2, 3, 4}, 9, 1, Layout::half});
  REQUIRE(bound);
  CHECK(*bound > 0);
  CHECK(*bound < 1e-120);
}

TEST_CASE("There is no bound where a step may leave the range of its format") {
  const FrequencyGrid grid(Rational(10000), 2);
  const Format& half = find_format("float16");
  const Pipeline naive = parse_pipeline("naive", half);
  CHECK_FALSE(dot_bound(naive, half, {grid, {300, 0}, {300, 0}, 1, 0, Layout::half}));
  CHECK_FALSE(dot_bound(naive, half, {grid, {70000, 0}, {0, 0}, 1, 0, Layout::half}));
  CHECK_FALSE(dot_bound(naive, half, {grid, {1, 0}, {1, 0}, 70000, 0, Layout::half}));
  CHECK(dot_bound(parse_pipeline("fused", half), half,
                  {grid, {300, 0}, {300, 0}, 70000, 0, Layout::half}));
}
