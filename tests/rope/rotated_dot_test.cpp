#include "ropelab/rope/rotated_dot.hpp"

#include <mpfr.h>

#include <random>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using namespace ropelab;

namespace {

using Vector = std::vector<Rational>;

Vector parse_vector(const std::string& text) {
  std::istringstream words(text);
  Vector components;
  for (std::string word; words >> word;) components.push_back(parse_rational(word));
  return components;
}

// Components are multiples of 2^-20 in [-2, 2).
Vector random_vector(std::mt19937_64& random, int size) {
  Vector components;
  for (int n = 0; n < size; ++n) {
    const auto bits = static_cast<long long>(random() >> 42);  // 22 bits
    components.emplace_back(Integer(bits - (1LL << 21)), Integer(1) << 20);
  }
  return components;
}

Vector times(const Rational& factor, Vector v) {
  for (Rational& component : v) component *= factor;
  return v;
}

// From interleaved to half: pair r moves from (2r, 2r+1) to (r, r + D/2).
Vector to_half(const Vector& v) {
  Vector result(v.size());
  for (std::size_t n = 0; n < v.size(); ++n) result[n / 2 + n % 2 * (v.size() / 2)] = v[n];
  return result;
}

// Both vectors rotated by their own positions, then multiplied: the form that the relative
// one is derived from.
Real absolute_form(const FrequencyGrid& grid, const Vector& q, const Vector& k, long long i,
                   long long j) {
  Real sum = 0;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const auto n = static_cast<std::size_t>(2 * pair);
    const auto rotate = [&](const Vector& v, long long position) {
      const Real angle = grid.theta(pair).to_real() * position;
      const Real a = to_real(v[n]);
      const Real b = to_real(v[n + 1]);
      return std::pair<Real, Real>(a * cosine(angle) - b * sine(angle),
                                   a * sine(angle) + b * cosine(angle));
    };
    const auto [q0, q1] = rotate(q, i);
    const auto [k0, k1] = rotate(k, j);
    sum += q0 * k0 + q1 * k1;
  }
  return sum;
}

// cos(d) + k1 sin(d) in MPFR with 4000 bits, to 40 digits.
std::string mpfr_single_pair(long d, const Rational& k1) {
  mpfr_t x, s, c, f;
  mpfr_inits2(4000, x, s, c, f, nullptr);
  mpfr_set_si(x, d, MPFR_RNDN);
  mpfr_sin_cos(s, c, x, MPFR_RNDN);
  mpfr_set_str(f, Integer(numerator(k1)).str().c_str(), 10, MPFR_RNDN);
  mpfr_set_str(x, Integer(denominator(k1)).str().c_str(), 10, MPFR_RNDN);
  mpfr_div(f, f, x, MPFR_RNDN);
  mpfr_fma(c, f, s, c, MPFR_RNDN);
  char text[64];
  mpfr_snprintf(text, sizeof text, "%.39Re", c);
  mpfr_clears(x, s, c, f, nullptr);
  return text;
}

// -cos(d)/sin(d), to `digits` decimals.
Rational minus_cotangent(long d, int digits) {
  mpfr_t x;
  mpfr_init2(x, 4000);
  mpfr_set_si(x, -d, MPFR_RNDN);
  mpfr_cot(x, x, MPFR_RNDN);
  char text[400];
  mpfr_snprintf(text, sizeof text, "%.*Rf", digits, x);
  mpfr_clear(x);
  return parse_rational(text);
}

}  // namespace

TEST_CASE("Rotated dot products agree with 80-digit arithmetic in all 40 digits") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/rotated_dot.csv");
  REQUIRE(reference.records().size() == 60);
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    const FrequencyGrid grid(parse_rational(reference.at(n, "base")),
                             std::stoi(reference.at(n, "rope_dim")));
    const ExactDot dot = exact_rotated_dot(
        grid, parse_vector(reference.at(n, "q")), parse_vector(reference.at(n, "k")),
        std::stoll(reference.at(n, "i")), std::stoll(reference.at(n, "j")), Layout::interleaved);
    CAPTURE(reference.records()[n].line);
    CHECK(parse_rational(dot.to_decimal(40)) == parse_rational(reference.at(n, "dot")));
  }
}

TEST_CASE("The half layout pairs a component with the one half a vector on") {
  const FrequencyGrid grid(Rational(10000), 4);
  const Vector q{1, 2, 3, 4};
  const Vector k{1, 1, 1, 1};
  CHECK(to_double(exact_rotated_dot(grid, q, k, 3, 1, Layout::half).value) == 2.4756205067728676);
  CHECK(to_double(exact_rotated_dot(grid, q, k, 3, 1, Layout::interleaved).value) ==
        4.8208634435056025);
}

TEST_CASE("Both layouts give the same product of vectors that are stored accordingly") {
  std::mt19937_64 random(2);
  for (const int rope_dim : {2, 6, 64}) {
    const FrequencyGrid grid(Rational(500000), rope_dim);
    const Vector q = random_vector(random, rope_dim);
    const Vector k = random_vector(random, rope_dim);
    CHECK(exact_rotated_dot(grid, q, k, 5, 70000, Layout::interleaved).value ==
          exact_rotated_dot(grid, to_half(q), to_half(k), 5, 70000, Layout::half).value);
  }
}

TEST_CASE("Layouts are found by name") {
  CHECK(find_layout("interleaved") == Layout::interleaved);
  CHECK(find_layout("half") == Layout::half);
  CHECK_THROWS_WITH(find_layout("Half"), "'Half' is no layout; there are interleaved and half");
  for (int pair = 0; pair < 3; ++pair) {
    CHECK(pair_components(Layout::interleaved, 6, pair) == std::pair(2 * pair, 2 * pair + 1));
    CHECK(pair_components(Layout::half, 6, pair) == std::pair(pair, pair + 3));
  }
}

TEST_CASE("The relative form is the absolute one, and only the distance counts") {
  std::mt19937_64 random(3);
  for (int n = 0; n < 20; ++n) {
    const int rope_dim = 2 << (n % 4);
    const FrequencyGrid grid(Rational(n % 2 == 0 ? 10000 : 1000000), rope_dim);
    const Vector q = random_vector(random, rope_dim);
    const Vector k = random_vector(random, rope_dim);
    const auto i = static_cast<long long>(random() >> 11) - (1LL << 52);
    const auto j = static_cast<long long>(random() >> 11) - (1LL << 52);
    const ExactDot dot = exact_rotated_dot(grid, q, k, i, j, Layout::interleaved);
    CAPTURE(rope_dim, i, j);
    CHECK(abs(dot.value - absolute_form(grid, q, k, i, j)) < ldexp(Real(1), -400));
    CHECK(
        dot.value ==
        exact_rotated_dot(grid, q, k, i / 2 + 17, j + 17 - (i - i / 2), Layout::interleaved).value);
  }
}

TEST_CASE("The product is bilinear and does not mind who is the query") {
  std::mt19937_64 random(4);
  const FrequencyGrid grid(Rational(10000), 16);
  const Vector q = random_vector(random, 16);
  const Vector k = random_vector(random, 16);
  const auto dot = [&](const Vector& a, const Vector& b, long long i, long long j) {
    return exact_rotated_dot(grid, a, b, i, j, Layout::interleaved).value;
  };
  const Real once = dot(q, k, 1000, 7);
  CHECK(dot(k, q, 7, 1000) == once);
  CHECK(dot(times(-8, q), k, 1000, 7) == -8 * once);
  CHECK(abs(dot(times(Rational(1, 3), q), k, 1000, 7) - once / 3) < ldexp(Real(1), -400));
  Vector sum = q;
  for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += k[n];
  CHECK(abs(dot(sum, k, 1000, 7) - once - dot(k, k, 1000, 7)) < ldexp(Real(1), -400));
}

TEST_CASE("At equal positions the product is the rational one") {
  const FrequencyGrid grid(Rational(10000), 4);
  const Vector q{Rational(1, 3), Rational(1, 10), 0, 1};
  const Vector k{1, 1, 1, Rational(1, 7)};
  for (const long long position : {0LL, 1LL << 53, -(1LL << 53)}) {
    const ExactDot dot = exact_rotated_dot(grid, q, k, position, position, Layout::interleaved);
    REQUIRE(dot.rational);
    CHECK(*dot.rational == Rational(121, 210));
    CHECK(dot.to_decimal(40) == "0.5761904761904761904761904761904761904762");
  }
}

TEST_CASE("A product whose coefficients vanish is exactly 0") {
  const FrequencyGrid grid(Rational(10000), 4);
  const Vector zeros(4, Rational(0));
  const ExactDot nothing = exact_rotated_dot(grid, zeros, zeros, 5, 1, Layout::interleaved);
  REQUIRE(nothing.rational);
  CHECK(*nothing.rational == 0);
  // With base 1 all pairs turn alike: what one adds, the other takes away.
  const Vector q{1, 2, 1, 2};
  const Vector k{3, 5, -3, -5};
  const ExactDot cancelled =
      exact_rotated_dot(FrequencyGrid(Rational(1), 4), q, k, 5, 1, Layout::interleaved);
  REQUIRE(cancelled.rational);
  CHECK(*cancelled.rational == 0);
  CHECK(cancelled.value == 0);
  CHECK_FALSE(exact_rotated_dot(grid, q, k, 5, 1, Layout::interleaved).rational);
}

TEST_CASE("Base 1 turns all pairs by one angle") {
  const ExactDot two = exact_rotated_dot(FrequencyGrid(Rational(1), 4), {1, 0, 1, 0}, {1, 0, 1, 0},
                                         3, 1, Layout::interleaved);
  CHECK(two.value == 2 * cosine(Real(2)));
}

TEST_CASE("Cancellation of any depth leaves all digits right") {
  const FrequencyGrid grid(Rational(7), 2);  // one pair, theta = 1
  for (const long d : {1L, 12345L, -99999999L}) {
    for (const int digits : {5, 20, 50, 120, 200, 300}) {
      const Rational k1 = minus_cotangent(d, digits);
      CAPTURE(d, digits);
      const ExactDot dot = exact_rotated_dot(grid, {1, 0}, {1, k1}, d, 0, Layout::interleaved);
      CHECK(parse_rational(dot.to_decimal(40)) == parse_rational(mpfr_single_pair(d, k1)));
    }
  }
}

TEST_CASE("Angles beyond any table are reduced exactly") {
  // theta_1 = 10^30: d theta = 3e30 rad.
  const FrequencyGrid grid(Rational(1, pow(Integer(10), 60)), 4);
  const ExactDot dot =
      exact_rotated_dot(grid, {0, 0, 1, 0}, {0, 0, 1, 0}, 3, 0, Layout::interleaved);
  mpfr_t x;
  mpfr_init2(x, 4000);
  mpfr_set_str(x, "3e30", 10, MPFR_RNDN);
  mpfr_cos(x, x, MPFR_RNDN);
  char text[64];
  mpfr_snprintf(text, sizeof text, "%.39Re", x);
  mpfr_clear(x);
  CHECK(parse_rational(dot.to_decimal(40)) == parse_rational(text));
}

TEST_CASE("Vectors and positions that do not fit are refused with what would") {
  const FrequencyGrid grid(Rational(10000), 4);
  const Vector four(4, Rational(1));
  const Vector three(3, Rational(1));
  CHECK_THROWS_WITH(exact_rotated_dot(grid, three, four, 1, 0, Layout::half),
                    "q has 3 components; rope_dim asks for 4");
  CHECK_THROWS_WITH(exact_rotated_dot(grid, four, three, 1, 0, Layout::half),
                    "k has 3 components; rope_dim asks for 4");
  CHECK_THROWS_AS(exact_rotated_dot(grid, four, four, (1LL << 53) + 1, 0, Layout::half),
                  std::invalid_argument);
  CHECK_THROWS_AS(exact_rotated_dot(grid, four, four, 0, -(1LL << 53) - 1, Layout::half),
                  std::invalid_argument);
}
