// Double-double arithmetic against Real. The bounds are those of the header; what is found is
// pinned from below too.
#include "ropelab/exact/double_double.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "exact/printing.hpp"
#include "exact/random_numbers.hpp"

namespace {

using ropelab::DoubleDouble;
using ropelab::Real;
using ropelab::sine_cosine;
using ropelab::sine_deficit;
using ropelab::to_double_double;
using ropelab::to_real;
using sample::Random;

double log2_of(const Real& x) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  const int exponent = x.backend().exponent();
  return std::log2(abs(ldexp(x, -exponent)).convert_to<double>()) + exponent;
}

// The worst error seen, and where.
struct WorstDoubleDouble {
  double bits = -std::numeric_limits<double>::infinity();
  DoubleDouble at;

  void see(DoubleDouble x, const Real& error) {
    const double now = log2_of(error);
    if (!(now <= bits)) {
      bits = now;
      at = x;
    }
  }
};

Real relative_error(DoubleDouble computed, const Real& truth) {
  return (to_real(computed) - truth) / truth;
}

void check_bits(const WorstDoubleDouble& worst, double most, double least) {
  INFO("worst at " << ropelab::to_hexadecimal(worst.at.high) << " + "
                   << ropelab::to_hexadecimal(worst.at.low) << ": 2^" << worst.bits);
  CHECK(worst.bits < most);
  CHECK(worst.bits > least);
}

bool is_normalised(DoubleDouble x) { return x.high + x.low == x.high; }

}  // namespace

TEST_CASE("Operations on double-doubles keep the error bounds that [JMP] prove") {
  const double u2 = -106;  // log2(u^2)
  Random random(1);
  WorstDoubleDouble sum;
  WorstDoubleDouble sum_double;
  WorstDoubleDouble product;
  WorstDoubleDouble product_double;
  WorstDoubleDouble quotient;
  bool normalised = true;
  for (int i = 0; i < 20000; ++i) {
    const int spread = i % 2 == 0 ? 2 : 60;
    DoubleDouble a = sample::double_double(random, -spread, spread);
    const DoubleDouble b = sample::double_double(random, -spread, spread);
    if (i % 3 == 0) a = -a;
    const Real x = to_real(a);
    const Real y = to_real(b);
    if (x + y != 0) sum.see(a, relative_error(a + b, x + y));
    if (x + b.high != 0) sum_double.see(a, relative_error(a + b.high, x + b.high));
    product.see(a, relative_error(a * b, x * y));
    product_double.see(a, relative_error(a * b.high, x * b.high));
    quotient.see(a, relative_error(a / b, x / y));
    for (const DoubleDouble r : {a + b, a + b.high, a * b, a * b.high, a / b, a - b}) {
      normalised = normalised && is_normalised(r);
    }
  }
  CHECK(normalised);
  check_bits(sum, u2 + std::log2(3.01), u2 - 2);
  check_bits(sum_double, u2 + 1, u2 - 2);
  check_bits(product, u2 + std::log2(5.0), u2 - 1);
  check_bits(product_double, u2 + 1, u2 - 2);
  check_bits(quotient, u2 + std::log2(15.0), u2 - 1);
}

TEST_CASE("Exact sums and products lose nothing") {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const double a = sample::double_double(random, -80, 80).high;
    const double b = -sample::double_double(random, -80, 80).high;
    CHECK(to_real(ropelab::exact_sum(a, b)) == Real(a) + b);
    CHECK(to_real(ropelab::exact_product(a, b)) == Real(a) * b);
  }
}

TEST_CASE("A real becomes the nearest double-double") {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const Real x = sample::real(random, -300, 300);
    const DoubleDouble pair = to_double_double(x);
    CHECK(pair.high == ropelab::to_double(x));
    CHECK(abs(to_real(pair) / x - 1) <= ldexp(Real(1), -107));
  }
  const DoubleDouble infinite = to_double_double(ldexp(Real(1), 5000));
  CHECK(std::isinf(infinite.high));
  CHECK(infinite.low == 0);
}

TEST_CASE("Sine and cosine stay below the error that they state") {
  Random random(4);
  WorstDoubleDouble sine;
  WorstDoubleDouble cosine;
  for (int i = 0; i < 30000; ++i) {
    DoubleDouble x = sample::double_double(random, i % 2 == 0 ? -10 : 30, i % 2 == 0 ? 30 : 40);
    if (i % 5 == 0) {  // next to where the table changes, and to zeros of either
      const Real step = ropelab::pi() / 512 * static_cast<double>(random() >> (20 + i % 40));
      if (step > ldexp(Real(1), 40)) continue;
      x = to_double_double(step);
    }
    if (i % 3 == 0) x = -x;
    const ropelab::SineCosine result = sine_cosine(x);
    REQUIRE(result.error == 0x1p-103);
    sine.see(x, to_real(result.sine) - ropelab::sine(to_real(x)));
    cosine.see(x, to_real(result.cosine) - ropelab::cosine(to_real(x)));
  }
  check_bits(sine, -103, -108);
  check_bits(cosine, -103, -108);
}

TEST_CASE("The quick sine and cosine stay below the error that they state") {
  Random random(6);
  WorstDoubleDouble sine;  // as a multiple of the bound
  WorstDoubleDouble cosine;
  const auto see = [](WorstDoubleDouble& worst, DoubleDouble x, DoubleDouble found,
                      const Real& truth, double error) {
    const Real bound = ldexp(abs(truth), -63) + error;
    worst.see(x, abs(to_real(found) - truth) / bound);
  };
  for (int i = 0; i < 60000; ++i) {
    const int least[] = {-10, 5, 23, -900};
    const int most[] = {5, 24, 25, -5};
    DoubleDouble x = sample::double_double(random, least[i % 4], most[i % 4]);
    if (i % 5 == 0) {  // next to where the table changes, and to zeros of either
      const Real step = ropelab::pi() / 512 * static_cast<double>(random() >> (31 + i % 32));
      if (step == 0 || step > ldexp(Real(1), 25)) continue;
      x = to_double_double(step);
      if (i % 10 == 0) x.low = 0;
    }
    if (i % 3 == 0) x = -x;
    const ropelab::QuickSineCosine result = quick_sine_cosine(x);
    const double size = std::fabs(x.high);
    REQUIRE(result.error <= (size < 0x1p-8 ? 0 : 0x1p-93 * (size + 1)));
    REQUIRE(is_normalised(result.sine));
    REQUIRE(is_normalised(result.cosine));
    see(sine, x, result.sine, ropelab::sine(to_real(x)), result.error);
    see(cosine, x, result.cosine, ropelab::cosine(to_real(x)), result.error);
  }
  check_bits(sine, 0, -4);
  check_bits(cosine, 0, -4);
}

TEST_CASE("The sine of a small angle is good relative to itself, down to the least doubles") {
  Random random(5);
  WorstDoubleDouble sine;
  WorstDoubleDouble cosine;
  for (int i = 0; i < 10000; ++i) {
    DoubleDouble x = sample::double_double(random, i % 2 == 0 ? -900 : -70, -8);
    if (i % 3 == 0) x = -x;
    const ropelab::SineCosine result = sine_cosine(x);
    sine.see(x, relative_error(result.sine, ropelab::sine(to_real(x))));
    cosine.see(x, relative_error(result.cosine, ropelab::cosine(to_real(x))));
  }
  check_bits(sine, -100, -107);
  check_bits(cosine, -100, -110);
  CHECK(sine_cosine(DoubleDouble{0, 0}).sine.high == 0);
  CHECK(sine_cosine(DoubleDouble{0, 0}).cosine.high == 1);
  CHECK(std::signbit(sine_cosine(DoubleDouble{-0.0, 0}).sine.high));
  CHECK(sine_cosine(DoubleDouble{5e-324, 0}).sine.high == 5e-324);
  CHECK(sine_cosine(DoubleDouble{0x1p-60, 0}).cosine.low == -0x1p-121);
}

TEST_CASE("The sine deficit does not cancel") {
  Random random(6);
  WorstDoubleDouble small;
  WorstDoubleDouble large;
  for (int i = 0; i < 8000; ++i) {
    const DoubleDouble x = sample::double_double(random, i % 2 == 0 ? -279 : -5, 0);
    small.see(x, relative_error(sine_deficit(x), ropelab::sine_deficit(to_real(x))));
    const DoubleDouble y = sample::double_double(random, 0, 40);
    large.see(y, (to_real(sine_deficit(y)) - ropelab::sine_deficit(to_real(y))) / (1 + to_real(y)));
  }
  for (const double x : {1.0, std::nextafter(1.0, 0.0)}) {
    small.see({x, 0},
              relative_error(sine_deficit(DoubleDouble{x, 0}), ropelab::sine_deficit(Real(x))));
  }
  check_bits(small, -100, -107);
  check_bits(large, -102, -109);
  CHECK(sine_deficit(DoubleDouble{0, 0}).high == 0);
}

TEST_CASE("The exponential and the exponential less one keep their relative errors") {
  Random random(7);
  WorstDoubleDouble whole;
  WorstDoubleDouble less_one;
  WorstDoubleDouble tiny;
  for (int i = 0; i < 10000; ++i) {
    DoubleDouble x = sample::double_double(random, i % 2 == 0 ? -8 : -120, i % 2 == 0 ? 10 : 3);
    if (i % 3 != 0) x = -x;
    if (i % 10 == 0) {  // on and beside the points of the table
      const Real step = ropelab::ln2() / 128 * (static_cast<int>(random() % 4000) - 2000);
      x = to_double_double(step);
    }
    if (std::fabs(x.high) > 700 || x.high == 0) continue;
    const Real truth = ropelab::natural_exponential(to_real(x));
    if (x.high >= -670) whole.see(x, relative_error(exponential(x), truth));
    if (x.high < -670) tiny.see(x, to_real(exponential(x)) - truth);
    // e^x - 1 of the smallest x keeps 380 bits here, which is plenty.
    less_one.see(x, relative_error(exponential_minus_one(x), truth - 1));
  }
  check_bits(whole, -100, -107);
  check_bits(less_one, -96, -107);
  check_bits(tiny, -1072, -1080);
}

TEST_CASE("The exponential ends in 0 and infinity, and less one in -1 and infinity") {
  CHECK(exponential(DoubleDouble{0, 0}).high == 1);
  CHECK(exponential(DoubleDouble{-701, 0}).high == 0);
  CHECK(std::isinf(exponential(DoubleDouble{701, 0}).high));
  CHECK(exponential(DoubleDouble{701, 0}).low == 0);
  CHECK(exponential_minus_one(DoubleDouble{-701, 0}).high == -1);
  CHECK(exponential_minus_one(DoubleDouble{0, 0}).high == 0);
  CHECK(exponential_minus_one(DoubleDouble{5e-324, 0}).high == 5e-324);
  CHECK(std::isinf(exponential_minus_one(DoubleDouble{701, 0}).high));
  CHECK(std::isnan(exponential(DoubleDouble{std::nan(""), 0}).high));
}
