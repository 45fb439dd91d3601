#include "ropelab/simulation/computed_dot.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "catch.hpp"
#include "ropelab/simulation/steps.hpp"

using namespace ropelab;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double rounded_dot(const std::string& pipeline, const Format& dtype, const DotInputs& inputs) {
  return std::get<double>(computed_dot(parse_pipeline(pipeline, dtype), dtype, inputs));
}

// At position 0 nothing turns, and the sum alone is at work.
DotInputs unrotated(const std::vector<Rational>& q, const std::vector<Rational>& k,
                    Layout layout = Layout::interleaved) {
  return {FrequencyGrid(Rational(10000), static_cast<int>(q.size())), q, k, 0, 0, layout};
}

// What a C program makes of float vectors, given tables of cosines and sines: one pair after
// the other, in the arithmetic of the machine.
float float_dot(const DotInputs& inputs) {
  const auto rotate = [&](const std::vector<Rational>& v, long long position) {
    std::vector<float> rotated;
    for (int pair = 0; pair < inputs.grid.pairs(); ++pair) {
      const auto n = static_cast<std::size_t>(2 * pair);
      const Real angle = position * inputs.grid.theta(pair).to_real();
      const auto c = static_cast<float>(round_to(float32_format(), cosine(angle)));
      const auto s = static_cast<float>(round_to(float32_format(), sine(angle)));
      const auto a = static_cast<float>(to_double(v[n]));
      const auto b = static_cast<float>(to_double(v[n + 1]));
      const float ac = a * c, bs = b * s, as = a * s, bc = b * c;
      rotated.push_back(ac - bs);
      rotated.push_back(as + bc);
    }
    return rotated;
  };
  const std::vector<float> q = rotate(inputs.q, inputs.i);
  const std::vector<float> k = rotate(inputs.k, inputs.j);
  float sum = 0;
  for (std::size_t n = 0; n < q.size(); ++n) {
    const float product = q[n] * k[n];
    sum += product;
  }
  return sum;
}

std::vector<Rational> random_floats(std::mt19937_64& random, int size) {
  std::vector<Rational> v;
  for (int n = 0; n < size; ++n) {
    const auto bits = static_cast<long long>(random() >> 41) - (1LL << 22);
    v.emplace_back(Integer(bits), Integer(1) << 21);
  }
  return v;
}

}  // namespace

TEST_CASE("In float32 with exact angles the dot product is what a machine's floats give") {
  std::mt19937_64 random(5);
  for (int n = 0; n < 50; ++n) {
    const int rope_dim = 2 << (n % 6);
    const auto i = static_cast<long long>(random() % 100000);
    const auto j = static_cast<long long>(random() % 100000);
    const DotInputs inputs{FrequencyGrid(Rational(10000), rope_dim),
                           random_floats(random, rope_dim),
                           random_floats(random, rope_dim),
                           i,
                           j,
                           Layout::interleaved};
    CAPTURE(rope_dim, i, j);
    CHECK(rounded_dot("ideal-trig", float32_format(), inputs) ==
          static_cast<double>(float_dot(inputs)));
  }
}

TEST_CASE("With exact steps the dot product is the exact one") {
  std::mt19937_64 random(6);
  const DotInputs inputs{FrequencyGrid(Rational(10000), 16),
                         random_floats(random, 16),
                         random_floats(random, 16),
                         70000,
                         -3,
                         Layout::half};
  const Pipeline exact = parse_pipeline(
      "ideal-trig,trig=exact,table=exact,rotation=exact,storage=exact,accumulation=exact",
      float64_format());
  const Real value = std::get<Real>(computed_dot(exact, float64_format(), inputs));
  const Real expected =
      exact_rotated_dot(inputs.grid, inputs.q, inputs.k, 70000, -3, Layout::half).value;
  CHECK(abs(value - expected) < ldexp(Real(1), -450));
}

TEST_CASE("Components are rounded to the dtype before anything else") {
  const Format& half = find_format("float16");
  CHECK(rounded_dot("fused", half, unrotated({Rational(2049), 0}, {1, 0})) == 2048);
  CHECK(rounded_dot("fused", float32_format(), unrotated({Rational(2049), 0}, {1, 0})) == 2049);
  CHECK(rounded_dot("naive", half, unrotated({Rational(1, 10), 0}, {1, 0})) == 0x1.998p-4);
}

TEST_CASE("Products are added in storage order, left to right") {
  const Format& half = find_format("float16");
  // 2048 + 1 is a tie that goes back to 2048.
  CHECK(rounded_dot("naive", half, unrotated({2048, 1, 1, 0}, {1, 1, 1, 1})) == 2048);
  CHECK(rounded_dot("naive", half, unrotated({1, 1, 2048, 0}, {1, 1, 1, 1})) == 2050);
  for (const Layout layout : {Layout::interleaved, Layout::half}) {
    CHECK(rounded_dot("naive", half, unrotated({1, 2048, 1, 0}, {1, 1, 1, 1}, layout)) == 2048);
  }
}

TEST_CASE("A fused accumulation rounds only the first product and the sums") {
  // (1 + 2^-13)(1 - 2^-13) = 1 - 2^-26, which float32 rounds to 1.
  const Rational above(8193, 8192);
  const Rational below(8191, 8192);
  const DotInputs last = unrotated({-1, above}, {1, below});
  CHECK(rounded_dot("naive", float32_format(), last) == 0);
  CHECK(rounded_dot("naive,accumulation=float32-fma", float32_format(), last) == -0x1p-26);
  const DotInputs first = unrotated({above, -1}, {below, 1});
  CHECK(rounded_dot("naive,accumulation=float32-fma", float32_format(), first) == 0);
}

TEST_CASE("What leaves the range becomes what the format makes of it") {
  const DotInputs inputs = unrotated({300, 0}, {300, 0});
  CHECK(rounded_dot("naive", find_format("float16"), inputs) == infinity);
  CHECK(rounded_dot("fused", find_format("float16"), inputs) == 90000);
  CHECK(std::isnan(rounded_dot("naive", find_format("float8_e4m3fn"), inputs)));
  CHECK(rounded_dot("naive", saturating(find_format("float8_e4m3fn")), inputs) == 448);
  // A position that float16 does not hold has no angle.
  DotInputs far = inputs;
  far.i = 70000;
  CHECK(std::isnan(rounded_dot("naive", find_format("float16"), far)));
}

TEST_CASE("Vectors that do not fit the grid are refused") {
  DotInputs inputs = unrotated({1, 2}, {3, 4});
  inputs.k.pop_back();
  CHECK_THROWS_AS(rounded_dot("naive", float32_format(), inputs), std::invalid_argument);
}
