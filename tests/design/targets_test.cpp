// The targets, against their formulas in long double and T5's published buckets.
#include "ropelab/design/targets.hpp"

#include <cmath>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

constexpr std::size_t distances = 300;

// One side of a bias against a formula: the exact value to what a long double tells, the quick one
// to its own bound.
template <class Formula>
void check_side(const DistanceFunction& function, const Formula& formula) {
  for (std::size_t d = 0; d < distances; ++d) {
    const Real exact = function.exact(d);
    const long double expected = formula(static_cast<long double>(d));
    INFO(d);
    CHECK(std::fabs(static_cast<long double>(exact) - expected) <=
          1e-17L * (100 + std::fabs(expected)));
    CHECK(abs(to_real(function.quick(d)) - exact) <= Real(function.error(d)));
    CHECK(function.error(d) <= 0x1p-90 * (100 + std::fabs(to_double(exact))));
  }
}

template <class Formula>
void check_even(const RelativeBias& causal, const RelativeBias& both, const Formula& formula) {
  check_side(causal.behind, formula);
  CHECK_FALSE(causal.ahead);
  check_side(both.behind, formula);
  REQUIRE(both.ahead);
  check_side(*both.ahead, formula);
  CHECK_FALSE(both.slope);
}

// T5Attention._relative_position_bucket of Hugging Face transformers 4.57
// (models/t5/modeling_t5.py) at its defaults, evaluated by hand in IEEE float32: the first distance
// of every bucket.
constexpr std::array<int, 32> causal_buckets = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                                35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
constexpr std::array<int, 16> both_buckets = {0, 1,  2,  3,  4,  5,  6,  7,
                                              8, 12, 16, 23, 32, 46, 64, 91};

template <std::size_t size>
int bucket_of(const std::array<int, size>& firsts, int distance) {
  int bucket = -1;
  for (const int first : firsts) bucket += distance >= first ? 1 : 0;
  return bucket;
}

TEST_CASE("T5's buckets begin where the published code has them begin") {
  for (int d = 0; d < 1000; ++d) {
    INFO(d);
    CHECK(t5_bucket({32, 128, false}, d) == bucket_of(causal_buckets, d));
    CHECK(t5_bucket({32, 128, false}, -d) == 0);
    CHECK(t5_bucket({32, 128, true}, d) == bucket_of(both_buckets, d));
    if (d > 0) CHECK(t5_bucket({32, 128, true}, -d) == 16 + bucket_of(both_buckets, d));
  }
  CHECK(t5_bucket({32, 128, true}, 1LL << 50) == 15);
}

TEST_CASE("buckets that cannot be are refused") {
  for (const T5Buckets& buckets : {T5Buckets{1, 128, false}, T5Buckets{3, 128, false},
                                   T5Buckets{6, 128, true}, T5Buckets{32, 16, false}}) {
    CHECK_THROWS_AS(t5_bucket(buckets, 0), std::invalid_argument);
  }
  CHECK_THROWS_AS(t5_bias({32, 128, false}, std::vector<Rational>(31), 10), std::invalid_argument);
}

TEST_CASE("each distance has the value of its bucket") {
  std::vector<Rational> values;
  for (int n = 0; n < 32; ++n) values.emplace_back(n * n, 7);
  const RelativeBias bias = t5_bias({32, 128, true}, values, distances);
  const auto value = [&](int bucket) { return static_cast<long double>(bucket * bucket) / 7; };
  check_side(bias.behind,
             [&](long double d) { return value(bucket_of(both_buckets, static_cast<int>(d))); });
  check_side(*bias.ahead, [&](long double d) {
    return d == 0 ? 0 : value(16 + bucket_of(both_buckets, static_cast<int>(d)));
  });
}

TEST_CASE("ALiBi is a slope, or one on each side") {
  const Algebraic slope = parse_positive("2^(-1/2)");
  const RelativeBias causal = alibi_bias(slope, false);
  check_even(causal, alibi_bias(slope, true), [](long double d) { return -std::sqrt(0.5L) * d; });
  CHECK(causal.slope == slope);
}

TEST_CASE("sinusoidal embeddings, from r = 0, and sandwich, from r = 1") {
  const auto cosines = [](long double d, int first, int dimension) {
    long double sum = 0;
    for (int r = first; r < first + dimension / 2; ++r) {
      sum += std::cos(d * std::pow(10000.0L, -2.0L * r / dimension));
    }
    return sum;
  };
  const FrequencyGrid grid(Rational(10000), 24);
  check_even(sinusoidal_bias(grid, false, distances), sinusoidal_bias(grid, true, distances),
             [&](long double d) { return cosines(d, 0, 24); });
  const Algebraic base(10000);
  check_even(sandwich_bias(12, 5, base, 24, false, distances),
             sandwich_bias(12, 5, base, 24, true, distances),
             [&](long double d) { return (cosines(d, 1, 24) - 12) / (8 * 5 / 12.0L); });
  CHECK_THROWS_AS(sandwich_bias(12, 13, base, 24, false, 1), std::invalid_argument);
  CHECK_THROWS_AS(sandwich_bias(12, 0, base, 24, false, 1), std::invalid_argument);
  CHECK_THROWS_AS(sandwich_bias(12, 1, base, 23, false, 1), std::invalid_argument);
}

TEST_CASE("the two kernels of KERPLE") {
  const Real r1 = Real(3) / 2, r2 = Real(1) / 4;
  check_even(kerple_log_bias(r1, r2, false, distances), kerple_log_bias(r1, r2, true, distances),
             [](long double d) { return -1.5L * std::log1p(0.25L * d); });
  check_even(kerple_power_bias(r1, r2, false, distances),
             kerple_power_bias(r1, r2, true, distances),
             [](long double d) { return -1.5L * std::pow(d, 0.25L); });
  CHECK_THROWS_AS(kerple_log_bias(0, 1, false, 1), std::invalid_argument);
  CHECK_THROWS_AS(kerple_log_bias(1, 0, false, 1), std::invalid_argument);
  CHECK_THROWS_AS(kerple_log_bias(1, Real(0x1p-301), false, 1), std::invalid_argument);
  CHECK_THROWS_AS(kerple_power_bias(1, -1, false, 1), std::invalid_argument);
  CHECK_THROWS_AS(kerple_power_bias(1, Real(2.5), false, 1), std::invalid_argument);
}

TEST_CASE("a table holds its numbers, and no others") {
  const RelativeBias bias = table_bias({1, Rational(1, 3)}, {1, 5});
  CHECK(bias.behind.exact(1) == to_real(Rational(1, 3)));
  CHECK(bias.ahead->exact(1) == 5);
  CHECK_FALSE(table_bias({1}, {}).ahead);
  CHECK_THROWS_AS(table_bias({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(table_bias({1}, {2}), std::invalid_argument);
}

}  // namespace
}  // namespace ropelab
