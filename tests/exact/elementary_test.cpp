// Real's elementary functions inside MPFI's enclosures. What is promised is 2^-500; what is
// found is pinned from below as well, so that a judge that compares a value with itself shows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "exact/mpfi_judge.hpp"
#include "exact/printing.hpp"
#include "exact/random_numbers.hpp"
#include "ropelab/exact/real.hpp"

namespace {

using judge::Interval;
using ropelab::Real;
using sample::Random;

using IntervalJudge = std::function<void(Interval&)>;

// The worst error seen, and where.
struct WorstReal {
  double bits = -INFINITY;
  Real at = 0;

  void see(const Real& x, const Real& computed, const IntervalJudge& judge) {
    Interval truth(x);
    judge(truth);
    const double error = error_bits(computed, truth);
    if (!(error <= bits)) {
      bits = error;
      at = x;
    }
  }
};

void check_500_bits(const WorstReal& worst) {
  INFO("worst at " << ropelab::to_decimal(worst.at, 160) << ": 2^" << worst.bits);
  CHECK(worst.bits < -500);
  CHECK(worst.bits > -514);
}

void sin_judge(Interval& x) { mpfi_sin(x.get(), x.get()); }
void cos_judge(Interval& x) { mpfi_cos(x.get(), x.get()); }
void exp_judge(Interval& x) { mpfi_exp(x.get(), x.get()); }
void log_judge(Interval& x) { mpfi_log(x.get(), x.get()); }
void deficit_judge(Interval& x) {
  Interval s;
  mpfi_sin(s.get(), x.get());
  mpfi_sub(x.get(), x.get(), s.get());
}

}  // namespace

TEST_CASE("pi and ln 2 are correctly rounded") {
  Interval truth;
  mpfi_const_pi(truth.get());
  CHECK(error_bits(ropelab::pi(), truth) < -512);
  mpfi_const_log2(truth.get());
  CHECK(error_bits(ropelab::ln2(), truth) < -512);
}

TEST_CASE("Sine and cosine hold 500 bits for angles of every size up to 2^64") {
  Random random(1);
  WorstReal sine;
  WorstReal cosine;
  for (int i = 0; i < 1500; ++i) {
    Real x = sample::real(random, i % 3 == 0 ? -300 : -8, 64);
    if (i % 2 != 0) x = -x;
    sine.see(x, ropelab::sine(x), sin_judge);
    cosine.see(x, ropelab::cosine(x), cos_judge);
  }
  check_500_bits(sine);
  check_500_bits(cosine);
}

TEST_CASE("Sine and cosine hold 500 bits at the reals nearest to multiples of pi/2 and pi/4") {
  Random random(2);
  WorstReal sine;
  WorstReal cosine;
  for (int i = 0; i < 1500; ++i) {
    const std::uint64_t k = i < 200 ? static_cast<std::uint64_t>(i) + 1 : random() >> (3 + i % 60);
    const Real x = ropelab::pi() * k / (i % 3 == 0 ? 4 : 2);
    if (x > ropelab::largest_angle() || x == 0) continue;
    sine.see(x, ropelab::sine(x), sin_judge);
    cosine.see(x, ropelab::cosine(x), cos_judge);
  }
  check_500_bits(sine);
  check_500_bits(cosine);
}

TEST_CASE("Sine and cosine hold 500 bits at the doubles nearest to multiples of pi/2") {
  // Convergents p/q of pi: p is a double very close to q pi. Source: continued fraction of pi,
  // OEIS A002485.
  WorstReal sine;
  WorstReal cosine;
  for (const double x : {22.0,
                         333.0,
                         355.0,
                         103993.0,
                         104348.0,
                         208341.0,
                         312689.0,
                         833719.0,
                         1146408.0,
                         4272943.0,
                         5419351.0,
                         80143857.0,
                         165707065.0,
                         245850922.0,
                         411557987.0,
                         1068966896.0,
                         2549491779.0,
                         6167950454.0,
                         14885392687.0,
                         21053343141.0,
                         1783366216531.0,
                         3587785776203.0,
                         5371151992734.0,
                         8958937768937.0,
                         139755218526789.0,
                         428224593349304.0}) {
    for (const double scale : {0.5, 1.0}) {
      sine.see(x * scale, ropelab::sine(x * scale), sin_judge);
      cosine.see(x * scale, ropelab::cosine(x * scale), cos_judge);
    }
  }
  check_500_bits(sine);
  check_500_bits(cosine);
}

TEST_CASE("Sine and cosine keep their symmetries exactly and refuse angles beyond 2^64") {
  CHECK(ropelab::sine(0) == 0);
  CHECK(ropelab::cosine(0) == 1);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Real x = sample::real(random, -20, 64);
    CHECK(ropelab::sine(-x) == -ropelab::sine(x));
    CHECK(ropelab::cosine(-x) == ropelab::cosine(x));
  }
  const Real largest = ropelab::largest_angle();
  CHECK(largest == ldexp(Real(1), 64));
  CHECK_NOTHROW(ropelab::sine(largest));
  CHECK_THROWS_AS(ropelab::sine(largest * 2), std::domain_error);
  CHECK_THROWS_AS(ropelab::cosine(-largest * 2), std::domain_error);
  CHECK_THROWS_AS(ropelab::sine(std::numeric_limits<Real>::quiet_NaN()), std::domain_error);
}

TEST_CASE("The sine deficit holds 500 bits for every angle, however small") {
  Random random(4);
  WorstReal worst;
  for (int i = 0; i < 1000; ++i) {
    const Real x = sample::real(random, i % 2 == 0 ? -200 : -3, 64);
    worst.see(x, ropelab::sine_deficit(x), deficit_judge);
  }
  for (const double x : {1.0, std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0)}) {
    worst.see(x, ropelab::sine_deficit(x), deficit_judge);
  }
  check_500_bits(worst);
  CHECK(ropelab::sine_deficit(0) == 0);
  CHECK_THROWS_AS(ropelab::sine_deficit(-1), std::domain_error);
}

TEST_CASE("The exponential holds 500 bits up to 2^29, and beyond ends in 0 and infinity") {
  Random random(5);
  WorstReal worst;
  for (int i = 0; i < 1000; ++i) {
    Real x = sample::real(random, i % 2 == 0 ? -520 : -3, 29);
    if (i % 3 == 0) x = -x;
    worst.see(x, ropelab::natural_exponential(x), exp_judge);
  }
  for (int k = -300; k <= 300; ++k) {  // where the reduction may pick either neighbour
    if (k == 0) continue;
    const Real x = ropelab::ln2() * k;
    worst.see(x, ropelab::natural_exponential(x), exp_judge);
  }
  check_500_bits(worst);
  CHECK(ropelab::natural_exponential(0) == 1);
  CHECK(isinf(ropelab::natural_exponential(2e9)));
  CHECK(ropelab::natural_exponential(-2e9) == 0);
}

TEST_CASE("The logarithm holds 500 bits everywhere, also close to 1") {
  Random random(6);
  WorstReal worst;
  for (int i = 0; i < 600; ++i) {
    const Real x = sample::real(random, i % 2 == 0 ? -5000 : -2, i % 2 == 0 ? 5000 : 2);
    worst.see(x, ropelab::natural_logarithm(x), log_judge);
    const Real offset = sample::real(random, -511, -1);
    const Real near_one = i % 2 == 0 ? Real(1 + offset) : Real(1 - offset / 2);
    if (near_one != 1) worst.see(near_one, ropelab::natural_logarithm(near_one), log_judge);
  }
  check_500_bits(worst);
  CHECK(ropelab::natural_logarithm(1) == 0);
  CHECK_THROWS_AS(ropelab::natural_logarithm(0), std::domain_error);
  CHECK_THROWS_AS(ropelab::natural_logarithm(-1), std::domain_error);
}

TEST_CASE("Powers hold 500 bits for bases and exponents of every kind") {
  Random random(7);
  WorstReal worst;
  for (int i = 0; i < 800; ++i) {
    const Real base = sample::real(random, -30, 30);
    Real exponent = sample::real(random, -20, 20);
    if (i % 4 == 0) exponent = Real(static_cast<int>(random() % 129) - 64);
    if (i % 3 == 0) exponent = -exponent;
    if (exponent == 0) continue;
    Interval y(exponent);
    worst.see(base, ropelab::power(base, exponent), [&](Interval& x) {
      mpfi_log(x.get(), x.get());
      mpfi_mul(x.get(), x.get(), y.get());
      mpfi_exp(x.get(), x.get());
    });
  }
  check_500_bits(worst);
}

TEST_CASE("Powers are exact where whole exponents allow") {
  CHECK(ropelab::power(3, 64) == Real(pow(ropelab::Integer(3), 64)));
  CHECK(ropelab::power(2, -20) == ldexp(Real(1), -20));
  CHECK(ropelab::power(Real(0.5), 7) == 0.0078125);
  CHECK(ropelab::power(ropelab::pi(), 0) == 1);
  CHECK_THROWS_AS(ropelab::power(0, 2), std::domain_error);
  CHECK_THROWS_AS(ropelab::power(-2, 2), std::domain_error);
}

TEST_CASE("Sums, products, quotients and square roots of reals are correctly rounded") {
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    const Real a = sample::real(random, -40, 40);
    const Real b = sample::real(random, -40, 40);
    CHECK(a + b == ropelab::to_real(ropelab::to_rational(a) + ropelab::to_rational(b)));
    CHECK(a - b == ropelab::to_real(ropelab::to_rational(a) - ropelab::to_rational(b)));
    CHECK(a * b == ropelab::to_real(ropelab::to_rational(a) * ropelab::to_rational(b)));
    CHECK(a / b == ropelab::to_real(ropelab::to_rational(a) / ropelab::to_rational(b)));
    Interval root(a);
    mpfi_sqrt(root.get(), root.get());
    CHECK(error_bits(sqrt(a), root) < -511.99);
  }
}
