#include "ropelab/exact/fixed_point.hpp"

#include <mpfr.h>

#include <random>

#include "catch.hpp"

using namespace ropelab;

namespace {

// An MPFR number of 8000 bits: the judge, far more precise than what it judges.
class LongJudge {
 public:
  LongJudge() { mpfr_init2(x_, 8000); }
  ~LongJudge() { mpfr_clear(x_); }
  LongJudge(const LongJudge&) = delete;
  LongJudge& operator=(const LongJudge&) = delete;

  operator mpfr_ptr() { return x_; }

  void set(const Integer& n) { mpfr_set_str(x_, n.str().c_str(), 10, MPFR_RNDN); }

  // radicand^(1/root)
  void set(const Algebraic& a) {
    LongJudge divisor;
    set(Integer(numerator(a.radicand())));
    divisor.set(Integer(denominator(a.radicand())));
    mpfr_div(x_, x_, divisor, MPFR_RNDN);
    mpfr_rootn_ui(x_, x_, a.root(), MPFR_RNDN);
  }

  // |n - x 2^bits|, as a double.
  double distance(const Integer& n, unsigned bits) {
    LongJudge scaled;
    LongJudge value;
    mpfr_mul_2ui(scaled, x_, bits, MPFR_RNDN);
    value.set(n);
    mpfr_sub(scaled, scaled, value, MPFR_RNDN);
    return std::abs(mpfr_get_d(scaled, MPFR_RNDN));
  }

 private:
  mpfr_t x_;
};

}  // namespace

TEST_CASE("Constants are less than 1 off at every precision") {
  LongJudge ln2;
  LongJudge half_pi;
  mpfr_const_log2(ln2, MPFR_RNDN);
  mpfr_const_pi(half_pi, MPFR_RNDN);
  mpfr_div_2ui(half_pi, half_pi, 1, MPFR_RNDN);
  for (const unsigned bits : {0U, 1U, 53U, 64U, 511U, 1024U, 3000U, 7000U}) {
    CAPTURE(bits);
    CHECK(ln2.distance(fixed_point_ln2(bits), bits) < 1);
    CHECK(half_pi.distance(fixed_point_half_pi(bits), bits) < 1);
  }
}

TEST_CASE("Roots are less than 1 off at every precision and size") {
  for (const Algebraic& x :
       {Algebraic(Rational(1, 3)), Algebraic(Rational(10000), 64), Algebraic(Rational(2), 2),
        Algebraic::power(Rational(500000), -63, 64), Algebraic::power(Rational(7), 1001, 2),
        Algebraic::power(Rational(7, 3), -1001, 3)}) {
    LongJudge judge;
    judge.set(x);
    for (const unsigned bits : {0U, 10U, 600U, 1024U, 4000U}) {
      CAPTURE(x.to_decimal(20), bits);
      CHECK(judge.distance(fixed_point(x, bits), bits) < 1);
    }
  }
}

TEST_CASE("Cosine and sine are less than 1 off for angles of either sign, tiny and huge") {
  std::mt19937_64 random(1);
  for (int n = 0; n < 200; ++n) {
    const Algebraic angle = Algebraic::power(Rational(random() % 1000 + 2, random() % 1000 + 2),
                                             static_cast<long long>(random() % 64), 7);
    const Integer multiplier = Integer(random() >> (random() % 64)) * (n % 2 == 0 ? 1 : -1);
    const unsigned bits = static_cast<unsigned>(random() % 1500);
    CAPTURE(angle.to_decimal(20), multiplier.str(), bits);
    LongJudge x;
    LongJudge cosine;
    LongJudge sine;
    x.set(angle);
    cosine.set(multiplier);
    mpfr_mul(x, x, cosine, MPFR_RNDN);
    mpfr_sin_cos(sine, cosine, x, MPFR_RNDN);
    const FixedPointTurn turn = fixed_point_turn(angle, multiplier, bits);
    CHECK(cosine.distance(turn.cosine, bits) < 1);
    CHECK(sine.distance(turn.sine, bits) < 1);
  }
}
