// The vector loops against their definitions in long double, at every length around a vector's.
#include "ropelab/transformer/vector_kernels.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"

namespace ropelab::vector_kernels {
namespace {

template <class Scalar>
constexpr double unit = std::numeric_limits<Scalar>::epsilon();

template <class Scalar>
std::vector<Scalar> random_numbers(std::size_t size, double range, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-range, range);
  std::vector<Scalar> numbers(size);
  for (Scalar& number : numbers) number = static_cast<Scalar>(uniform(engine));
  return numbers;
}

}  // namespace

TEMPLATE_TEST_CASE("exponentials of scores", "", float, double) {
  for (std::size_t size = 1; size <= 70; ++size) {
    const auto scores = random_numbers<TestType>(size, 40, static_cast<unsigned>(size));
    auto exponentials = scores;
    const auto [greatest, sum] = exponentiate(std::span<TestType>(exponentials));
    CHECK(greatest == *std::max_element(scores.begin(), scores.end()));
    long double expected_sum = 0, exponents = 0, squares = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const TestType x = scores[k] - static_cast<TestType>(greatest);
      const long double e = std::exp(static_cast<long double>(x));
      REQUIRE(std::abs(exponentials[k] - e) <= 2 * unit<TestType> * e);
      expected_sum += e;
      const long double rounded = exponentials[k];
      exponents += rounded * (static_cast<long double>(scores[k]) - greatest);
      squares += rounded * rounded;
    }
    CHECK(std::abs(sum - expected_sum) <= 8 * unit<TestType> * expected_sum);
    const Moments moments = moments_of(std::span<const TestType>(exponentials),
                                       std::span<const TestType>(scores), greatest);
    CHECK(std::abs(moments.exponents - exponents) <= 1e-14L * (1 + std::abs(exponents)));
    CHECK(std::abs(moments.squares - squares) <= 1e-14L * squares);
  }
}

TEMPLATE_TEST_CASE("exponentials of scores that are not finite", "", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  for (const std::size_t size : {1u, 3u, 17u, 40u}) {
    for (std::size_t place = 0; place < size; ++place) {
      for (const TestType odd : {infinity, nan}) {
        std::vector<TestType> scores(size, 1);
        scores[place] = odd;
        CHECK(std::isnan(exponentiate(std::span<TestType>(scores)).sum));
        for (const TestType score : scores) REQUIRE(std::isnan(score));
      }
      std::vector<TestType> scores(size, 1);
      scores[place] = -infinity;
      const auto before = scores;
      const auto [greatest, sum] = exponentiate(std::span<TestType>(scores));
      if (size == 1) {
        CHECK(std::isnan(sum));
        continue;
      }
      CHECK(sum == static_cast<double>(size - 1));
      CHECK(scores[place] == 0);
      const Moments moments = moments_of(std::span<const TestType>(scores),
                                         std::span<const TestType>(before), greatest);
      CHECK(moments.exponents == 0);
    }
  }
}

TEMPLATE_TEST_CASE("a line is added, each product and sum rounded", "", float, double) {
  for (std::size_t size = 1; size <= 40; ++size) {
    const auto before = random_numbers<TestType>(size, 10, 5);
    auto scores = before;
    const TestType slope = static_cast<TestType>(0.7), start = -1234;
    add_line(std::span<TestType>(scores), slope, start);
    for (std::size_t k = 0; k < size; ++k) {
      const TestType product = slope * (start + static_cast<TestType>(k));
      REQUIRE(scores[k] == before[k] + product);
    }
  }
}

TEMPLATE_TEST_CASE("GELU with BLOOM's constant", "", float, double) {
  for (const std::size_t size : {1u, 7u, 16u, 33u, 1000u}) {
    auto values = random_numbers<TestType>(size, 8, static_cast<unsigned>(size));
    const auto offsets = random_numbers<TestType>(size, 8, 77);
    const auto before = values;
    add_and_apply_gelu(std::span<TestType>(values), std::span<const TestType>(offsets));
    for (std::size_t k = 0; k < size; ++k) {
      const long double x = static_cast<TestType>(before[k] + offsets[k]);
      const long double expected =
          x * 0.5L * (1 + std::tanh(0.79788456L * x * (1 + 0.044715L * x * x)));
      REQUIRE(std::abs(values[k] - expected) <= 4 * unit<TestType> * std::max(1.0L, std::abs(x)));
    }
  }
  std::vector<TestType> extremes = {1e10, -1e10, 0, std::numeric_limits<TestType>::quiet_NaN()};
  const std::vector<TestType> zeros(4);
  add_and_apply_gelu(std::span<TestType>(extremes), std::span<const TestType>(zeros));
  CHECK(extremes[0] == static_cast<TestType>(1e10));
  CHECK(std::abs(extremes[1]) < 1e-20);
  CHECK(extremes[2] == 0);
  CHECK(std::isnan(extremes[3]));
}

TEMPLATE_TEST_CASE("LayerNorm", "", float, double) {
  for (const std::size_t size : {1u, 5u, 16u, 96u, 131u, 1024u}) {
    auto values = random_numbers<TestType>(size, 3, static_cast<unsigned>(size));
    for (TestType& value : values) value += 2;
    const auto weight = random_numbers<TestType>(size, 1, 1),
               offset = random_numbers<TestType>(size, 1, 2);
    const auto in = values;
    layer_norm(std::span<const TestType>(values), std::span<const TestType>(weight),
               std::span<const TestType>(offset), 1e-5, std::span<TestType>(values));
    long double mean = 0, variance = 0;
    for (const TestType x : in) mean += static_cast<long double>(x) / size;
    for (const TestType x : in) variance += (x - mean) * (x - mean) / size;
    for (std::size_t k = 0; k < size; ++k) {
      const long double expected =
          (in[k] - mean) / std::sqrt(variance + 1e-5L) * weight[k] + offset[k];
      // Of one number only rounding is left of its deviation, which epsilon's root enlarges.
      REQUIRE(std::abs(values[k] - expected) <= 32 * unit<TestType>);
    }
  }
}

}  // namespace ropelab::vector_kernels
