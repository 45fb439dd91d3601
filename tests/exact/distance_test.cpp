#include "ropelab/exact/distance.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace ropelab;

TEST_CASE("Distances count the spacing of the format at the exact value") {
  const Format& half = find_format("float16");
  // 1 - 2^-12 lies in the binade below 1, where the spacing is 2^-11.
  const Rational below_one(4095, 4096);
  CHECK(ulp_at(half, below_one) == 0x1p-11);
  CHECK(distance_in_ulp(half, 1.0, below_one) == 0.5);
  CHECK(distance_in_ulp(half, -1.0, Rational(-below_one)) == 0.5);
  CHECK(distance_in_ulp(half, 1.0, Rational(4097, 4096)) == 0.25);
  CHECK(distance_in_ulp(half, 0.0, Rational(0)) == 0);
  CHECK(distance_in_ulp(half, 0x1p-24, Rational(0)) == 1);
}

TEST_CASE("A value that rounds up to a power of two as a double keeps the spacing below it") {
  const Rational below(pow(Integer(2), 80) - 1, pow(Integer(2), 80));
  CHECK(ulp_at(float64_format(), below) == 0x1p-53);
  CHECK(ulp_at(float64_format(), to_real(below)) == 0x1p-53);
  CHECK(ulp_at(float64_format(), Algebraic(below)) == 0x1p-53);
  CHECK(ulp_at(float64_format(), Algebraic(below, 2)) == 0x1p-53);
  CHECK(ulp_at(float64_format(), Rational(1)) == 0x1p-52);
}

TEST_CASE("Spacings reach to both ends of float64") {
  CHECK(ulp_at(float64_format(), Rational(1, pow(Integer(2), 1080))) == 0x1p-1074);
  CHECK(ulp_at(float64_format(), Algebraic(Rational(1, pow(Integer(2), 1080)))) == 0x1p-1074);
  CHECK(ulp_at(float64_format(), Rational(pow(Integer(2), 1024) - 1)) == 0x1p971);
}

TEST_CASE("Rational, real and algebraic forms of a number are equally far") {
  const Algebraic root(Rational(2), 2);
  const double distance = distance_in_ulp(float32_format(), 1.5, root);
  CHECK(distance == distance_in_ulp(float32_format(), 1.5, root.to_real()));
  CHECK(distance == Approx((1.5 - std::sqrt(2.0)) * 0x1p23).epsilon(1e-12));
  CHECK(distance_in_ulp(float32_format(), 1.5, Algebraic(Rational(4, 3))) ==
        distance_in_ulp(float32_format(), 1.5, Rational(4, 3)));
}

TEST_CASE("An infinity is infinitely far, a NaN is no distance") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(distance_in_ulp(float32_format(), -infinity, Rational(1)) == infinity);
  CHECK(std::isnan(distance_in_ulp(float32_format(), std::nan(""), Real(1))));
}
