// Decimal printing against fmt's layout and C's digits, which are judges of their own.
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "catch.hpp"
#include "exact/printing.hpp"
#include "exact/random_numbers.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/exact/real.hpp"

namespace {

using ropelab::Integer;
using ropelab::parse_rational;
using ropelab::Rational;
using ropelab::Real;
using ropelab::to_decimal;
using sample::Random;

double random_double(Random& random) {
  for (;;) {
    const auto x = std::bit_cast<double>(random());
    if (std::isfinite(x) && x != 0) return x;
  }
}

// How many digits a decimal has, zeros in front not counted.
int count_digits(const std::string& text) {
  int count = 0;
  for (const char c : text.substr(0, text.find('e'))) {
    if ('0' <= c && c <= '9' && (c != '0' || count > 0)) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("Decimals are laid out as the table says") {
  struct Row {
    const char* value;
    int digits;
    const char* text;
  };
  for (const Row& row : {Row{"1/3", 5, "0.33333"},
                         Row{"2/3", 5, "0.66667"},
                         Row{"-2/3", 1, "-0.7"},
                         Row{"1", 1, "1"},
                         Row{"1", 3, "1.00"},
                         Row{"0", 7, "0"},
                         Row{"12345", 3, "12300"},
                         Row{"12345", 5, "12345"},
                         Row{"12345", 7, "12345.00"},
                         Row{"0.0001", 2, "0.00010"},
                         Row{"0.00001", 2, "1.0e-05"},
                         Row{"0.00001", 1, "1e-05"},
                         Row{"0.00009996", 3, "0.000100"},
                         Row{"9999999999999999", 16, "9999999999999999"},
                         Row{"9999999999999999", 15, "1.00000000000000e+16"},
                         Row{"1e15", 1, "1000000000000000"},
                         Row{"1e16", 1, "1e+16"},
                         Row{"-1.5e-300", 3, "-1.50e-300"},
                         Row{"0.5", 1, "0.5"},
                         Row{"2.5", 1, "2"},
                         Row{"3.5", 1, "4"},
                         Row{"2.50000000000000000000000000000000000000001", 1, "3"},
                         Row{"9.95", 2, "10"},
                         Row{"9.85", 2, "9.8"},
                         Row{"1e-320", 4, "1.000e-320"}}) {
    INFO(row.value << " to " << row.digits);
    CHECK(to_decimal(parse_rational(row.value), row.digits) == row.text);
  }
}

TEST_CASE("The shortest decimals of doubles come out as fmt lays them out") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    double x = random_double(random);
    int exponent = 0;
    if (i % 2 == 0) x = std::ldexp(std::frexp(x, &exponent), i % 140 - 70);
    const std::string shortest = fmt::format("{}", x);
    CHECK(to_decimal(parse_rational(shortest), count_digits(shortest)) == shortest);
  }
}

TEST_CASE("Digits of doubles are those that C prints") {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const double x = std::fabs(random_double(random));
    const int digits = 1 + i % 40;
    char expected[64];
    std::snprintf(expected, sizeof expected, "%.*e", digits - 1, x);
    const std::string text = to_decimal(ropelab::to_rational(x), digits);
    if (text.find('e') != std::string::npos) CHECK(text == expected);
    CHECK(to_decimal(Real(x), digits) == text);
    // Ties, which doubles with few bits meet often.
    const double few_bits =
        std::ldexp(static_cast<double>(random() % 4096), -static_cast<int>(random() % 40));
    if (few_bits == 0) continue;
    std::snprintf(expected, sizeof expected, "%.*e", i % 9, few_bits);
    const Rational printed = parse_rational(expected);
    CHECK(parse_rational(to_decimal(ropelab::to_rational(few_bits), i % 9 + 1)) == printed);
  }
}

TEST_CASE("Reals print what they are, and names where they are no number") {
  CHECK(to_decimal(ropelab::pi(), 50) == "3.1415926535897932384626433832795028841971693993751");
  CHECK(to_decimal(Real(-2), 1) == "-2");
  CHECK(to_decimal(Real(0), 10) == "0");
  CHECK(to_decimal(std::numeric_limits<Real>::infinity(), 5) == "inf");
  CHECK(to_decimal(Real(-std::numeric_limits<Real>::infinity()), 5) == "-inf");
  CHECK(to_decimal(std::numeric_limits<Real>::quiet_NaN(), 5) == "nan");
  CHECK_THROWS_AS(to_decimal(Rational(1), 0), std::invalid_argument);
}
