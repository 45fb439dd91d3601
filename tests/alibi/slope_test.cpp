#include "ropelab/alibi/slope.hpp"

#include <string>

#include "catch.hpp"
#include "ropelab/exact/fixed_point.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using namespace ropelab;

namespace {

Algebraic power_of_two(long long numerator, unsigned denominator) {
  return Algebraic::power(Rational(2), numerator, denominator);
}

// 16 ln 2 to 2000 bits, moved by `shift` * 10^-300: a slope made to touch the visible limit.
Algebraic slope_beside_limit(long long reach, int shift) {
  const Rational limit(16 * fixed_point_ln2(2000), Integer(1) << 2000);
  const Rational tiny(shift, pow(Integer(10), 300));
  return Algebraic(Rational((limit + tiny) / reach));
}

}  // namespace

TEST_CASE("Slopes agree with 80-digit arithmetic in all 40 digits and the last bit of a double") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/slopes.csv");
  REQUIRE(reference.records().size() == 332);
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    const int heads = std::stoi(reference.at(n, "heads"));
    const int head = std::stoi(reference.at(n, "head"));
    const Rational expected = parse_rational(reference.at(n, "slope"));
    const Algebraic slope = alibi_slope(heads, head);
    CAPTURE(heads, head);
    CHECK(parse_rational(slope.to_decimal(40)) == expected);
    CHECK(slope.to_double() == to_double(expected));
  }
}

TEST_CASE("Slopes that code in use gets wrong are right") {
  struct Case {
    int heads, head;
    double slope;
  };
  const Case cases[] = {
      // No power of two: the formula of powers of two, or a padded number of heads, is wrong.
      {12, 1, 0.5},
      {12, 8, 0.00390625},
      {12, 9, 0.70710678118654752},
      {12, 12, 0.088388347648318441},
      {66, 65, 0.95760328069857365},
      {66, 66, 0.87812608018664974},
      {62, 1, 0.84089641525371454},
      {48, 33, 0.91700404320467123},
      {48, 48, 0.068156733291578604},
      // BLOOM-560M and -176B.
      {16, 1, 0.70710678118654752},
      {112, 1, 0.91700404320467123},
  };
  for (const auto& [heads, head, slope] : cases) {
    CAPTURE(heads, head);
    CHECK(alibi_slope(heads, head).to_double() == slope);
  }
}

TEST_CASE("Eight heads have the slopes 1/2, 1/4 ... 1/256") {
  for (int head = 1; head <= 8; ++head) {
    CHECK(alibi_slope(8, head) == Algebraic(Rational(1, 1 << head)));
  }
}

TEST_CASE("The slopes of a power of two are the powers of the first") {
  for (int heads = 1; heads <= 256; heads *= 2) {
    Algebraic power;
    for (int head = 1; head <= heads; ++head) {
      power = power * alibi_slope(heads, 1);
      REQUIRE(alibi_slope(heads, head) == power);
    }
    CHECK(power == Algebraic(Rational(1, 256)));
  }
}

TEST_CASE("Any number of heads takes those of the power of two below and odd ones of that above") {
  for (int heads = 1, p = 1; heads <= 300; ++heads) {
    if (heads == 2 * p) p = heads;
    for (int head = 1; head <= heads; ++head) {
      CAPTURE(heads, head);
      const Algebraic expected =
          head <= p ? alibi_slope(p, head) : alibi_slope(2 * p, 2 * (head - p) - 1);
      REQUIRE(alibi_slope(heads, head) == expected);
    }
  }
}

TEST_CASE("A million heads have slopes too") {
  constexpr int heads = 1 << 20;
  CHECK(alibi_slope(heads, 1) == power_of_two(-1, 1U << 17));
  CHECK(alibi_slope(heads, heads) == Algebraic(Rational(1, 256)));
  CHECK(alibi_slope(heads - 1, heads - 1) == power_of_two(-8 * (heads - 3), heads));
  CHECK(alibi_slope(heads, 1).to_double() == to_double(power(Real(2), Real(-1) / (1 << 17))));
  CHECK(alibi_slope(heads, 1) < Algebraic());
}

TEST_CASE("A head out of range is refused with the range") {
  CHECK_THROWS_WITH(alibi_slope(0, 1), "heads is 0; it must be at least 1");
  CHECK_THROWS_WITH(alibi_slope(-8, 1), "heads is -8; it must be at least 1");
  CHECK_THROWS_WITH(alibi_slope(16, 0), "head is 0; it must be from 1 to 16");
  CHECK_THROWS_AS(alibi_slope(16, 17), std::invalid_argument);
}

TEST_CASE("The last visible key is where slope times distance last stays within 16 ln 2") {
  CHECK(visible_reach(Algebraic(Rational(1))) == 11);  // 16 ln 2 = 11.09...
  CHECK(visible_reach(power_of_two(-1, 2)) == 15);
  CHECK(visible_reach(Algebraic(Rational(1, 2))) == 22);
  CHECK(visible_reach(Algebraic(Rational(1, 256))) == 2839);
  CHECK(visible_reach(Algebraic(Rational(12))) == 0);
  CHECK(visible_reach(power_of_two(300, 1)) == 0);
  for (const int heads : {12, 16, 112}) {
    for (int head = 1; head <= heads; ++head) {
      const Algebraic slope = alibi_slope(heads, head);
      const Real d(visible_reach(slope));
      CAPTURE(heads, head, d);
      CHECK(slope.to_real() * d <= 16 * ln2());
      CHECK(slope.to_real() * (d + 1) > 16 * ln2());
    }
  }
}

TEST_CASE("Slopes closer to the visible limit than a Real can tell are decided all the same") {
  for (const long long reach : {1LL, 1000LL, 999999999999LL}) {
    CHECK(visible_reach(slope_beside_limit(reach, -1)) == reach);
    CHECK(visible_reach(slope_beside_limit(reach, 1)) == reach - 1);
  }
}

TEST_CASE("A reach beyond the largest machine integer is exact too") {
  CHECK(visible_reach(Algebraic(Rational(1, Integer("1000000000000000000")))) ==
        Integer("11090354888959124950"));
  for (const long long exponent : {-52, -59, -60, -64, -405, -1000, -1074}) {
    const Algebraic slope = power_of_two(exponent, 1);
    const Integer d = visible_reach(slope);
    CAPTURE(exponent, d);
    // Both sides times 2^-exponent: a whole number against 16 ln 2 * 2^-exponent.
    const auto bits = static_cast<unsigned>(-exponent);
    const Integer limit = 16 * fixed_point_ln2(bits + 16);
    CHECK(d << 16 <= limit);
    CHECK((d + 1) << 16 > limit);
  }
}

TEST_CASE("The reach within a context stops at its end") {
  CHECK(visible_reach(Algebraic(Rational(1)), 100) == 11);
  CHECK(visible_reach(Algebraic(Rational(1)), 7) == 7);
  CHECK(visible_reach(power_of_two(-1000, 1), 65535) == 65535);
}
