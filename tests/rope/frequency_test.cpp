#include "ropelab/rope/frequency.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "catch.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using namespace ropelab;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double greatest_distance(const FrequencyGrid& grid, FrequencyFormula formula) {
  const auto thetas = evaluate_frequencies(grid, formula, float32_format());
  double greatest = 0;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const double theta = thetas[static_cast<std::size_t>(pair)];
    greatest = std::max(greatest, distance_in_ulp(float32_format(), theta, grid.theta(pair)));
  }
  return greatest;
}

// The formulas in MPFR, whose functions are correctly rounded to any precision: right as long
// as nothing leaves the range of normal numbers.
class MpfrVariable {
 public:
  explicit MpfrVariable(int precision) { mpfr_init2(x_, precision); }
  ~MpfrVariable() { mpfr_clear(x_); }
  MpfrVariable(const MpfrVariable&) = delete;
  MpfrVariable& operator=(const MpfrVariable&) = delete;
  operator mpfr_ptr() { return x_; }
  double value() const { return mpfr_get_d(x_, MPFR_RNDN); }

 private:
  mpfr_t x_;
};

double mpfr_frequency(int precision, double base, int rope_dim, int pair,
                      FrequencyFormula formula) {
  MpfrVariable b(precision);
  MpfrVariable x(precision);
  mpfr_set_d(b, base, MPFR_RNDN);
  const bool runs = formula == FrequencyFormula::running_product;
  mpfr_set_si(x, runs ? -2 : 2 * pair, MPFR_RNDN);
  mpfr_div_si(x, x, rope_dim, MPFR_RNDN);
  if (formula == FrequencyFormula::power) {
    mpfr_pow(x, b, x, MPFR_RNDN);
    mpfr_ui_div(x, 1, x, MPFR_RNDN);
    return x.value();
  }
  if (formula == FrequencyFormula::exponential_log) {
    mpfr_log(b, b, MPFR_RNDN);
    mpfr_mul(x, x, b, MPFR_RNDN);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    return x.value();
  }
  mpfr_pow(b, b, x, MPFR_RNDN);
  mpfr_set_ui(x, 1, MPFR_RNDN);
  for (int r = 0; r < pair; ++r) mpfr_mul(x, x, b, MPFR_RNDN);
  return x.value();
}

}  // namespace

TEST_CASE("Frequencies agree with 80-digit arithmetic in all 40 digits and the last bit") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/frequencies.csv");
  REQUIRE(reference.records().size() == 60);
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    const Rational base = parse_rational(reference.at(n, "base"));
    const int rope_dim = std::stoi(reference.at(n, "rope_dim"));
    const int pair = std::stoi(reference.at(n, "pair"));
    const Rational expected = parse_rational(reference.at(n, "theta"));
    const Algebraic theta = frequency(base, rope_dim, pair);
    CAPTURE(reference.at(n, "base"), rope_dim, pair);
    CHECK(parse_rational(theta.to_decimal(40)) == expected);
    CHECK(theta.to_double() == to_double(expected));
  }
}

TEST_CASE("Frequencies that code in use gets wrong are right") {
  CHECK(frequency(10000, 64, 1).to_double() == 0.74989420933245583);
  CHECK(frequency(10000, 64, 31).to_double() == 0.0001333521432163324);
  CHECK(frequency(1, 64, 9) == Algebraic());
  // A running product in float32 is 0.012 rad off at this phase.
  const Real phase = 131071 * frequency(10000, 128, 7).to_real();
  CHECK(to_double(phase) == 47863.738033418833);
  CHECK(to_double(cosine(phase)) == 0.0031596462807151569);
  CHECK(to_double(sine(3 * frequency(10000, 4, 1).to_real())) == 0.029995500202495661);
}

TEST_CASE("The frequencies of a grid multiply as its exponents add") {
  for (const Rational& base : {Rational(10000), Rational(500000), Rational(1, 3), Rational(7, 2)}) {
    for (const int rope_dim : {2, 6, 64, 80}) {
      const FrequencyGrid grid(base, rope_dim);
      CHECK(grid.theta(0) == Algebraic());
      for (int pair = 1; pair < grid.pairs(); ++pair) {
        CHECK(grid.theta(pair) * grid.theta(grid.pairs() - pair) == Algebraic(Rational(1 / base)));
      }
    }
  }
}

TEST_CASE("A grid of an irrational base is that of its power with as many times the dimension") {
  const FrequencyGrid of_root(Algebraic(Rational(10000), 3), 64);
  const FrequencyGrid of_base(Rational(10000), 192);
  for (int pair = 0; pair < 32; ++pair) CHECK(of_root.theta(pair) == of_base.theta(pair));
}

TEST_CASE("The slowest pair is the last, and the first where the base is below 1") {
  CHECK(FrequencyGrid(Rational(10000), 64).slowest_pair() == 31);
  CHECK(FrequencyGrid(Rational(1), 64).slowest_pair() == 31);
  CHECK(FrequencyGrid(Rational(1, 2), 64).slowest_pair() == 0);
}

TEST_CASE("The nearest pair is the nearest in ratio, and the first of two on a tie") {
  const FrequencyGrid grid(Rational(10000), 64);
  for (int pair = 0; pair < grid.pairs(); ++pair)
    CHECK(grid.nearest_pair(grid.theta(pair)) == pair);
  CHECK(grid.nearest_pair(Algebraic(Rational(100))) == 0);
  CHECK(grid.nearest_pair(Algebraic(Rational(1, 1000000000))) == 31);
  const Algebraic tie = Algebraic::power(Rational(10000), -21, 64);  // between pairs 10 and 11
  CHECK(grid.nearest_pair(tie) == 10);
  const Algebraic hair(Rational(pow(Integer(10), 400) + 1, pow(Integer(10), 400)));
  CHECK(grid.nearest_pair(tie * hair) == 10);
  CHECK(grid.nearest_pair(tie / hair) == 11);
  // In absolute distance 0.5 is nearer to 1 than to 0.1; in ratio the middle is 0.316.
  CHECK(FrequencyGrid(Rational(100), 4).nearest_pair(Algebraic(Rational(32, 100))) == 0);
  CHECK(FrequencyGrid(Rational(100), 4).nearest_pair(Algebraic(Rational(31, 100))) == 1);
  CHECK(FrequencyGrid(Rational(1), 64).nearest_pair(Algebraic(Rational(1, 7))) == 0);
  CHECK(FrequencyGrid(Rational(1, 100), 4).nearest_pair(Algebraic(Rational(4))) == 1);
}

TEST_CASE("Grids and pairs that do not exist are refused with what would") {
  CHECK_THROWS_WITH(FrequencyGrid(Rational(0), 64), "base is 0; it must be above 0");
  CHECK_THROWS_AS(FrequencyGrid(Rational(-10000), 64), std::invalid_argument);
  for (const int rope_dim : {-2, 0, 1, 63}) {
    CHECK_THROWS_AS(FrequencyGrid(Rational(10000), rope_dim), std::invalid_argument);
  }
  CHECK_THROWS_WITH(FrequencyGrid(Rational(10000), 63),
                    "rope_dim is 63; it must be an even number from 2 on");
  CHECK_THROWS_WITH(frequency(10000, 64, 32),
                    "pair is 32; with rope_dim 64 it must be from 0 to 31");
  CHECK_THROWS_AS(frequency(10000, 64, -1), std::invalid_argument);
}

TEST_CASE("Every formula gives MPFR's numbers to the bit in every format that holds them") {
  for (const std::string_view name : {"float16", "bfloat16", "float32", "float64"}) {
    const Format& format = find_format(name);
    for (const double base : {2.0, 10.0, 10000.0, 26000.0, 500000.0, 1e6}) {
      if (base > format.largest) continue;
      for (const int rope_dim : {2, 64, 80, 128}) {
        const FrequencyGrid grid(to_rational(base), rope_dim);
        for (const FrequencyFormula formula : frequency_formulas()) {
          const auto thetas = evaluate_frequencies(grid, formula, format);
          REQUIRE(thetas.size() == static_cast<std::size_t>(grid.pairs()));
          for (int pair = 0; pair < grid.pairs(); ++pair) {
            const double expected = mpfr_frequency(format.precision, base, rope_dim, pair, formula);
            if (expected < std::ldexp(1.0, format.min_exponent)) break;
            CAPTURE(name, base, rope_dim, pair, formula_name(formula));
            CHECK(thetas[static_cast<std::size_t>(pair)] == expected);
          }
        }
      }
    }
  }
}

// numpy's float32, whose functions are not correctly rounded, has 1 or 2, 6 or 7 and 34 here.
TEST_CASE("What the formulas lose in float32 is known to the last bit") {
  struct Case {
    int base, rope_dim;
    double power, exponential_log, running_product;
  };
  const Case cases[] = {
      {10000, 64, 1.0055115642194998, 7.0198578230240329, 4.0198578230240329},
      {10000, 128, 1.0055115642194998, 7.0198578230240329, 34.25359617408759},
      {500000, 128, 1.2872377496956071, 8.6690219698949758, 22.025718378924562},
      {1000000, 128, 1.2927272868133433, 5.7464038259124068, 31.963185870892094},
  };
  for (const auto& [base, rope_dim, power, exponential_log, running_product] : cases) {
    const FrequencyGrid grid(Rational(base), rope_dim);
    CAPTURE(base, rope_dim);
    CHECK(greatest_distance(grid, FrequencyFormula::power) == power);
    CHECK(greatest_distance(grid, FrequencyFormula::exponential_log) == exponential_log);
    CHECK(greatest_distance(grid, FrequencyFormula::running_product) == running_product);
  }
}

TEST_CASE("All formulas are exact where every step is") {
  // theta_r = 2^-r: the quotients, powers and products are all numbers of float32, and only
  // ln 2^64 is not.
  const FrequencyGrid grid(Rational(Integer(1) << 64), 128);
  CHECK(greatest_distance(grid, FrequencyFormula::power) == 0);
  CHECK(greatest_distance(grid, FrequencyFormula::running_product) == 0);
  CHECK(greatest_distance(grid, FrequencyFormula::exponential_log) > 0);
  for (const FrequencyFormula formula : frequency_formulas()) {
    CHECK(greatest_distance(FrequencyGrid(Rational(1), 64), formula) == 0);
  }
}

TEST_CASE("A base that a format does not hold is rounded to it or overflows as it would") {
  const FrequencyGrid grid(Rational(500000), 4);
  const Format& half = find_format("float16");
  CHECK(evaluate_frequencies(grid, FrequencyFormula::power, half) == std::vector<double>{1, 0});
  const auto explog = evaluate_frequencies(grid, FrequencyFormula::exponential_log, half);
  CHECK(std::isnan(explog[0]));  // 0 * infinity
  CHECK(explog[1] == 0);
  const auto running = evaluate_frequencies(grid, FrequencyFormula::running_product, half);
  CHECK(running == std::vector<double>{1, 0});
  const FrequencyGrid tiny(Rational(1, 1000000000), 4);
  CHECK(evaluate_frequencies(tiny, FrequencyFormula::power, half) ==
        std::vector<double>{1, infinity});
}
