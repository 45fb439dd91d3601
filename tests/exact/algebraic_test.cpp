#include "ropelab/exact/algebraic.hpp"

#include <cmath>
#include <ctime>
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "exact/printing.hpp"
#include "exact/random_numbers.hpp"
#include "ropelab/exact/parse.hpp"

namespace {

using ropelab::Algebraic;
using ropelab::find_format;
using ropelab::Format;
using ropelab::Integer;
using ropelab::Rational;
using ropelab::Real;
using ropelab::round_to;
using ropelab::square_root;

Algebraic algebraic_two_to(long long numerator, unsigned denominator) {
  return Algebraic::power(2, numerator, denominator);
}

}  // namespace

TEST_CASE("A root is kept as small as it can be") {
  CHECK(square_root(64) == Algebraic(8));
  CHECK(square_root(64).root() == 1);
  CHECK(square_root(2).root() == 2);
  CHECK(square_root(8).radicand() == 8);
  CHECK(Algebraic(16, 8) == square_root(2));
  CHECK(Algebraic(16, 8).root() == 2);
  CHECK(Algebraic(16, 8).radicand() == 2);
  CHECK(Algebraic(Rational(4, 9), 4).radicand() == Rational(2, 3));
  CHECK(Algebraic(Rational(8, 27), 6).root() == 2);
  CHECK(Algebraic(Rational(1, 4096), 12).to_rational() == Rational(1, 2));
  CHECK(Algebraic(72, 2).radicand() == 72);
  CHECK(Algebraic(36, 4).radicand() == 6);
  CHECK(Algebraic(Rational(pow(Integer(1000003), 15)), 10).root() == 2);
  CHECK(Algebraic(Rational(pow(Integer(1000003), 15)), 10).radicand() ==
        Rational(pow(Integer(1000003), 3)));
  CHECK(Algebraic().to_rational() == 1);
  CHECK(Algebraic(1, 4096).root() == 1);
  CHECK(Algebraic::power(10, 0, 7) == Algebraic());
  CHECK(Algebraic::power(Rational(9, 4), -3, 6) == Algebraic(Rational(2, 3)));
}

TEST_CASE("Roots of 12345678987654321, a perfect square of a square, are found whole") {
  const Integer n("12345678987654321");  // 111111111^2
  CHECK(square_root(Rational(n)).to_rational() == 111111111);
  CHECK(Algebraic(Rational(n * n * n), 6).to_rational() == 111111111);
  CHECK_FALSE(square_root(Rational(n + 1)).is_rational());
}

TEST_CASE("Products and quotients of roots become rational exactly when they are") {
  CHECK((square_root(2) * square_root(2)).to_rational() == 2);
  CHECK(square_root(2) * square_root(3) == square_root(6));
  CHECK(square_root(square_root(2)) == Algebraic(2, 4));
  CHECK(square_root(Algebraic(Rational(9, 16))) == Algebraic(Rational(3, 4)));
  CHECK(square_root(6) / square_root(2) == square_root(3));
  CHECK((square_root(6) * square_root(10) * square_root(15)).to_rational() == 30);
  CHECK((algebraic_two_to(-1, 2) * square_root(2)).to_rational() == 1);
  CHECK((algebraic_two_to(-8, 3) * algebraic_two_to(2, 3)).to_rational() == Rational(1, 4));
  CHECK((square_root(Rational(12, 7)) * square_root(Rational(7, 3))).to_rational() == 2);
  // 1859 = 11 * 13^2 is no power, but what 11 leaves of it is.
  CHECK((square_root(1859) * square_root(11)).to_rational() == 143);
  CHECK((square_root(1859) / square_root(11)).to_rational() == 13);
  CHECK_FALSE((square_root(2) * square_root(3)).is_rational());
  CHECK_FALSE((algebraic_two_to(1, 2) * algebraic_two_to(1, 3)).is_rational());
  CHECK((algebraic_two_to(1, 2) * algebraic_two_to(1, 3)).root() == 6);
  CHECK((algebraic_two_to(1, 2) * algebraic_two_to(1, 3)).radicand() == 32);
  CHECK((square_root(2) / square_root(2)).root() == 1);
  CHECK_THROWS_AS(square_root(2).to_rational(), std::domain_error);
}

TEST_CASE("N of a slope with an even exponent and a square head dimension is rational") {
  // m = 2^(-8/16), h = 64, theta = 0.1/65536: N = m sqrt(h) / theta.
  const Algebraic theta = ropelab::parse_positive("0.1/65536");
  const Algebraic n1 = algebraic_two_to(-1, 2) * square_root(64) / theta;
  CHECK_FALSE(n1.is_rational());
  CHECK(n1.to_decimal(16) == "3707276.000947326");
  CHECK((algebraic_two_to(-1, 1) * square_root(64) / theta).to_rational() == 2621440);
  CHECK((algebraic_two_to(-1, 2) * square_root(128) / theta).to_rational() == 5242880);
}

TEST_CASE("Equal numbers are equal however they were made, and close ones are not") {
  CHECK(square_root(6) == square_root(2) * square_root(3));
  CHECK(square_root(Rational(4, 9)) == Algebraic(Rational(2, 3)));
  CHECK_FALSE(square_root(2) == square_root(3));
  CHECK_FALSE(square_root(2) == Algebraic(2));
  const Rational tiny(1, Integer(1) << 2000);
  CHECK_FALSE(Algebraic(Rational(1 + tiny)) == Algebraic(1));
  CHECK(Algebraic(1) < Algebraic(Rational(1 + tiny)));
  CHECK_FALSE(Algebraic(Rational(1 + tiny)) < Algebraic(1));
}

TEST_CASE("Order is exact for numbers that no fixed precision tells apart") {
  const Rational tiny(1, Integer(1) << 1500);
  CHECK(square_root(2) < square_root(2 + tiny));
  CHECK_FALSE(square_root(2 + tiny) < square_root(2));
  CHECK_FALSE(square_root(2) < square_root(2));
  CHECK(Algebraic(2, 4096) < Algebraic(2 + tiny, 4096));
  CHECK(Algebraic(2 - tiny, 3) < Algebraic(2, 3));
  // sqrt(2) between two rationals 2^-600 apart.
  const Integer scaled = sqrt(Integer(2) << 1200);
  const Algebraic below(Rational(scaled, Integer(1) << 600));
  const Algebraic above(Rational(scaled + 1, Integer(1) << 600));
  CHECK(below < square_root(2));
  CHECK(square_root(2) < above);
  CHECK_FALSE(above < square_root(2));
  CHECK_FALSE(square_root(2) < below);
  CHECK(square_root(2) < Algebraic(Rational(3, 2)));
}

TEST_CASE("As a real an algebraic number holds 500 bits, and all of them where it is dyadic") {
  CHECK(Algebraic(Rational(3, 1024)).to_real() == Real(3) / 1024);
  CHECK(algebraic_two_to(-1074, 1).to_real() == ldexp(Real(1), -1074));
  sample::Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Rational x(sample::words(random, 2) + 1, sample::words(random, 1) + 1);
    const Real exact = sqrt(ropelab::to_real(x));
    CHECK(abs(square_root(x).to_real() / exact - 1) < ldexp(Real(1), -500));
    const Real power = ropelab::power(ropelab::to_real(x), Real(-7) / 96);
    CHECK(abs(Algebraic::power(x, -7, 96).to_real() / power - 1) < ldexp(Real(1), -500));
  }
}

TEST_CASE("Rounding settles symbolically what 500 bits cannot") {
  const Format& float16 = find_format("float16");
  const Rational tie = Rational(2049, 2048);  // between 1 and 1 + 2^-10
  const Rational tiny(1, Integer(1) << 1500);
  CHECK(round_to(float16, Algebraic(tie)) == 1);
  CHECK(round_to(float16, square_root(tie * tie)) == 1);
  CHECK(round_to(float16, square_root(tie * tie + tiny)) == 1 + 0x1p-10);
  CHECK(round_to(float16, square_root(tie * tie - tiny)) == 1);
  CHECK(round_to(float16, Algebraic(tie * tie * tie + tiny, 3)) == 1 + 0x1p-10);
  CHECK(Algebraic(tie * tie + tiny, 2).to_double() == 1 + 0x1p-11);
  // Half-way past the largest number, and to the smallest.
  const Rational edge = 65520;
  CHECK(round_to(float16, square_root(edge * edge - tiny)) == 65504);
  CHECK(round_to(float16, square_root(edge * edge + tiny)) ==
        std::numeric_limits<double>::infinity());
  const Format& e4m3 = find_format("float8_e4m3fn");
  CHECK(round_to(e4m3, square_root(Rational(464 * 464) - tiny)) == 448);
  CHECK(std::isnan(round_to(e4m3, square_root(Rational(464 * 464) + tiny))));
  CHECK(round_to(saturating(e4m3), square_root(Rational(464 * 464) + tiny)) == 448);
  const Rational least(1, Integer(1) << 50);
  CHECK(round_to(float16, square_root(least - tiny)) == 0);
  CHECK(round_to(float16, square_root(least + tiny)) == 0x1p-24);
}

TEST_CASE("Square roots of doubles round as the machine rounds them") {
  sample::Random random(2);
  for (int i = 0; i < 500; ++i) {
    const double x =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 80) - 40);
    if (x == 0) continue;
    CHECK(square_root(ropelab::to_rational(x)).to_double() == std::sqrt(x));
  }
}

TEST_CASE("Decimals of algebraic numbers are correctly rounded, ties included") {
  CHECK(square_root(2).to_decimal(40) == "1.414213562373095048801688724209698078570");
  CHECK(algebraic_two_to(-1, 2).to_decimal(17) == "0.70710678118654752");
  CHECK(Algebraic(Rational(1, 3)).to_decimal(200).size() == 202);
  const Rational tiny(1, Integer(1) << 1500);
  const Rational tie(5, 2);
  CHECK(square_root(tie * tie).to_decimal(1) == "2");
  CHECK(square_root(tie * tie + tiny).to_decimal(1) == "3");
  CHECK(square_root(tie * tie - tiny).to_decimal(1) == "2");
  CHECK(square_root(Rational(9995 * 9995) + tiny).to_decimal(3) == "10000");
  CHECK(square_root(Rational(9995 * 9995) - tiny).to_decimal(3) == "9990");
  CHECK_THROWS_AS(square_root(2).to_decimal(141), std::invalid_argument);
}

TEST_CASE("What is not positive has no roots here") {
  CHECK_THROWS_AS(Algebraic(0), std::invalid_argument);
  CHECK_THROWS_AS(Algebraic(Rational(-1, 2)), std::invalid_argument);
  CHECK_THROWS_AS(square_root(-2), std::invalid_argument);
  CHECK_THROWS_AS(Algebraic(2, 0), std::invalid_argument);
}

TEST_CASE("Products of powers with large and unrelated roots stay fast") {
  const std::clock_t start = std::clock();
  const Rational base = ropelab::parse_rational("500000.123456789");
  Algebraic product;
  for (const unsigned root : {4096u, 4095u, 4093u, 4091u}) {
    product = product * Algebraic::power(base, -4001, root) * Algebraic::power(10007, 17, root);
  }
  CHECK(product.to_double() > 0);
  CHECK_FALSE(product.is_rational());
  CHECK((product / product).is_rational());
  CHECK(Algebraic::power(base, 4095, 4096) < Algebraic(base));
  CHECK(Algebraic(ropelab::parse_rational("1e300/7919")).to_double() == 1e300 / 7919);
  const double seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;  // of the processor
  CHECK(seconds < 5);  // multiplied out it would be hours
}
