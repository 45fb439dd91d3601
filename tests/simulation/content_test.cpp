// Random content, and where the pair stands in it.
#include <cmath>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/content.hpp"

namespace ropelab {
namespace {

TEST_CASE("content has mean 0, variance 1 and the tails of a normal variable") {
  const Step exact;
  double sum = 0, squares = 0, fourths = 0;
  int beyond_three = 0;
  constexpr int positions = 4000;
  constexpr std::size_t head_dim = 64;
  for (int position = 0; position < positions; ++position) {
    for (const double x : content_vector(1, Role::query, position, head_dim, exact)) {
      sum += x;
      squares += x * x;
      fourths += x * x * x * x;
      beyond_three += std::abs(x) > 3 ? 1 : 0;
      REQUIRE(std::abs(x) <= largest_content);
    }
  }
  constexpr double count = positions * static_cast<double>(head_dim);
  CHECK(std::abs(sum / count) < 0.01);
  CHECK(squares / count == Approx(1).margin(0.02));
  CHECK(fourths / count == Approx(2.9).margin(0.05));  // twelve uniform numbers; normal: 3
  CHECK(beyond_three / count == Approx(0.0024).margin(0.0006));
}

TEST_CASE("content differs by seed, role and position, and by nothing else") {
  const Step storage = find_format("float32");
  const auto vector = content_vector(1, Role::key, 100, 8, storage);
  CHECK(content_vector(1, Role::key, 100, 8, storage) == vector);
  CHECK(content_vector(2, Role::key, 100, 8, storage) != vector);
  CHECK(content_vector(1, Role::query, 100, 8, storage) != vector);
  CHECK(content_vector(1, Role::key, 101, 8, storage) != vector);
  const auto longer = content_vector(1, Role::key, 100, 9, storage);
  CHECK(std::vector<double>(longer.begin(), longer.end() - 1) == vector);
}

TEST_CASE("content is stored in its format, as multiples of its quantum") {
  for (const Format& format : all_formats()) {
    const double quantum = content_quantum(format);
    for (const double x : content_vector(3, Role::query, 5, 1000, format)) {
      REQUIRE(is_member(format, x));
      REQUIRE(std::fmod(x, quantum) == 0);
    }
  }
  const auto wide = content_vector(3, Role::query, 5, 1000, find_format("float64"));
  CHECK(content_vector(3, Role::query, 5, 1000, Step()) == wide);
  const auto single = content_vector(3, Role::query, 5, 1000, find_format("float32"));
  for (std::size_t n = 0; n < wide.size(); ++n) {
    REQUIRE(std::abs(single[n] - wide[n]) <= 0x1p-21);
    REQUIRE(std::fmod(wide[n], 0x1p-48) == 0);
  }
}

// With powers of two as products every order of adding shows: in float32 the small ones are lost
// behind a large one.
double sum_in_float32(PairPlace place, const std::string& accumulation) {
  const Pipeline pipeline =
      parse_pipeline("naive,accumulation=" + accumulation, find_format("float32"));
  const ExactInput scale(parse_positive("1"));
  const Components<DoubleDouble> query{0x1p30, -0x1p30}, key{1.0, 1.0};
  const auto value = score_among_content<DoubleDouble>(pipeline, scale, place, query, key,
                                                       {1, 2, 4, 8}, {1, 1, 1, 1});
  return std::get<double>(value);
}

TEST_CASE("the pair stands first, last, or at the ends of halves") {
  CHECK(sum_in_float32(PairPlace::first, "float32") == 15);
  CHECK(sum_in_float32(PairPlace::last, "float32") == 0);    // 15 is lost beside 2^30
  CHECK(sum_in_float32(PairPlace::halves, "float32") == 0);  // 3, then 4 and 8, are lost
  CHECK(sum_in_float32(PairPlace::halves, "float64") == 15);
  CHECK(sum_in_float32(PairPlace::halves, "exact") == 15);
}

TEST_CASE("fused accumulation rounds the first product only") {
  const Pipeline pipeline =
      parse_pipeline("naive,accumulation=float32-fma", find_format("float32"));
  const ExactInput scale(parse_positive("1"));
  const double x = 1 + 0x1p-12;  // its square needs 25 bits
  const auto sum = [&](std::vector<double> q, std::vector<double> k) {
    const Components<DoubleDouble> zero{0.0, 0.0};
    return std::get<double>(
        score_among_content<DoubleDouble>(pipeline, scale, PairPlace::last, zero, zero, q, k));
  };
  CHECK(sum({x, 1}, {x, -1}) == 0x1p-11);            // the square is first, and rounded
  CHECK(sum({1, x}, {-1, x}) == 0x1p-11 + 0x1p-24);  // the square is second
}

}  // namespace
}  // namespace ropelab
