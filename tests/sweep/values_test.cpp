#include "ropelab/sweep/values.hpp"

#include <cmath>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/exact/real.hpp"

using namespace ropelab;
using Integers = std::vector<long long>;

namespace {

constexpr long long kMost = 1LL << 53;

Integers integers(std::string_view text) { return parse_integer_values(text, 0, kMost); }

std::vector<double> doubles(std::string_view text) {
  std::vector<double> values;
  for (const Algebraic& value : parse_positive_values(text)) values.push_back(value.to_double());
  return values;
}

}  // namespace

TEST_CASE("a list is split at commas, without the blanks around its items") {
  CHECK(split_list("a") == std::vector<std::string>{"a"});
  CHECK(split_list(" a , b,c ") == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("a list with an empty item, or of nothing, is refused") {
  for (const char* text : {"", " ", ",", "a,", ",a", "a,,b"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(split_list(text), std::invalid_argument);
  }
}

TEST_CASE("values of a list keep their order and are exact") {
  const auto values = parse_positive_values("0.1, 1/3,2^(-1/2),0.1");
  REQUIRE(values.size() == 4);
  CHECK(values[0] == Algebraic(Rational(1, 10)));
  CHECK(values[1] == Algebraic(Rational(1, 3)));
  CHECK(values[2] == Algebraic(Rational(1, 2), 2));
  CHECK(values[3] == values[0]);
  CHECK(integers("64K,1,1M,1") == Integers{65536, 1, 1048576, 1});
}

TEST_CASE("the ends of a range are exact and the points between the nearest doubles") {
  const auto values = parse_positive_values("0.1:0.3:3");
  REQUIRE(values.size() == 3);
  CHECK(values[0] == Algebraic(Rational(1, 10)));
  CHECK(values[1] == Algebraic(to_rational(0.2)));
  CHECK(values[2] == Algebraic(Rational(3, 10)));
}

TEST_CASE("a logarithmic range of powers hits the powers") {
  CHECK(doubles("1e-9:1e-3:7:log") ==
        std::vector<double>{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3});
  CHECK(doubles("1:2:3:log") == std::vector<double>{1, std::sqrt(2.0), 2});
  CHECK(integers("1K:256K:9:log") ==
        Integers{1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144});
}

TEST_CASE("a range may run downwards") {
  CHECK(doubles("1:0.25:3:log") == std::vector<double>{1, 0.5, 0.25});
  CHECK(integers("4:1:4") == Integers{4, 3, 2, 1});
}

TEST_CASE("irrational ends are exact as well") {
  const auto values = parse_positive_values("2^(-1/2):2^(1/2):3");
  CHECK(values.front() == Algebraic(Rational(1, 2), 2));
  CHECK(values.back() == Algebraic(Rational(2), 2));
  CHECK(values[1].to_double() == 1.0606601717798212);  // 3/(2 sqrt 2)
}

TEST_CASE("whole numbers are rounded to the nearest, ties to even, and not repeated") {
  CHECK(integers("1:2:3") == Integers{1, 2});
  CHECK(integers("0:3:3") == Integers{0, 2, 3});
  CHECK(integers("1:4:10") == Integers{1, 2, 3, 4});
  CHECK(integers("1:10:5:log") == Integers{1, 2, 3, 6, 10});
}

TEST_CASE("a range of one point is its first end") {
  CHECK(doubles("0.1:7:1") == std::vector<double>{0.1});
  CHECK(integers("3:9:1:log") == Integers{3});
}

TEST_CASE("a list may hold ranges") { CHECK(integers("1,2:4:3,9") == Integers{1, 2, 3, 4, 9}); }

TEST_CASE("ranges that cannot be meant are refused in a sentence that quotes them") {
  for (const char* text : {"1:2", "1:2:3:lin", "1:2:3:log:4", ":", "1::3", ":2:3", "1:2:", "1:2:0",
                           "1:2:-1", "1:2:1.5", "1:2:3x", "x:2:3", "1:2:1e9"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(doubles(text), std::invalid_argument);
    CHECK_THROWS_AS(integers(text), std::invalid_argument);
  }
  CHECK_THROWS_WITH(doubles("1:2"), ContainsSubstring("'1:2'"));
  CHECK_THROWS_WITH(doubles("1,2:3:0"), ContainsSubstring("'0'"));
  CHECK_THROWS_WITH(doubles("0,5"), ContainsSubstring("(in the list '0,5')"));
  CHECK_THROWS_AS(integers("0:8:3:log"), std::invalid_argument);
  CHECK_THROWS_AS(doubles("0:1:3"), std::invalid_argument);
  CHECK_THROWS_AS(parse_integer_values("1:9:3", 0, 5), std::invalid_argument);
}
