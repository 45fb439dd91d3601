// Conversions and roundings of exact numbers, against a plain definition by comparison.
#include "ropelab/exact/real.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "exact/printing.hpp"
#include "exact/random_numbers.hpp"
#include "ropelab/exact/double_double.hpp"
#include "ropelab/exact/parse.hpp"

namespace {

using ropelab::find_format;
using ropelab::Format;
using ropelab::Integer;
using ropelab::Rational;
using ropelab::Real;
using ropelab::round_to;
using ropelab::to_rational;
using sample::Random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Whether r is the nearest number of the format to x, ties to even, by exact comparison with
// the half-way points to its neighbours. The result and its neighbours are finite.
bool is_nearest(const Format& format, double r, const Rational& x) {
  const Rational below = (to_rational(next_below(format, r)) + to_rational(r)) / 2;
  const Rational above = (to_rational(next_above(format, r)) + to_rational(r)) / 2;
  const bool even = encode(format, r) % 2 == 0;
  return even ? below <= x && x <= above : below < x && x < above;
}

// 2^exponent, which no double need hold.
Rational two_to(int exponent) {
  const Integer power = Integer(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent < 0 ? Rational(1, power) : Rational(power);
}

// The sum of parts separated by spaces.
Rational sum_of_parts(const std::string& text) {
  std::istringstream parts(text);
  Rational sum = 0;
  for (std::string part; parts >> part;) sum += ropelab::parse_rational(part);
  return sum;
}

}  // namespace

TEST_CASE("Values made to expose double rounding round once") {
  std::ifstream file(ROPELAB_TEST_DATA "/rounding.csv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#' || line.rfind("format,", 0) == 0) continue;
    INFO(line);
    std::istringstream cells(line);
    std::string name;
    std::string value;
    std::string expected;
    std::getline(cells, name, ',');
    std::getline(cells, value, ',');
    std::getline(cells, expected, ',');
    const Format& format = find_format(name);
    const Rational x = sum_of_parts(value);
    const double rounded = round_to(format, x);
    CHECK(same(round_to(format, Rational(-x)), -rounded));
    if (expected == "inf" || expected == "nan") {
      CHECK(same(rounded, expected == "inf" ? kInfinity : std::nan("")));
    } else if (expected.find('e') == std::string::npos) {
      CHECK(to_rational(rounded) == ropelab::parse_rational(expected));
    } else {  // the shortest decimal of a tiny number, as printed
      CHECK(rounded == ropelab::to_double(ropelab::parse_rational(expected)));
    }
    // Reals and pairs of doubles hold most of these exactly.
    if (ropelab::to_rational(ropelab::to_real(x)) == x) {
      CHECK(same(round_to(format, ropelab::to_real(x)), rounded));
    }
    const double high = ropelab::to_double(x);
    const Rational rest = x - to_rational(high);
    const double low = ropelab::to_double(rest);
    if (to_rational(low) == rest) CHECK(same(round_to(format, high, low), rounded));
    ++rows;
  }
  CHECK(rows >= 35);
}

TEST_CASE("Rationals and reals round to the small formats at every tie and beside it") {
  for (const Format& format : ropelab::all_formats()) {
    if (format.bits > 16) continue;
    const Rational hair = two_to(-700);
    // Each encoding of the 8-bit formats, every 37th of the others, and all ends.
    const std::uint64_t step = format.bits == 8 ? 1 : 37;
    int wrong = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (format.bits - 1); bits += step) {
      const double low = decode(format, bits);
      const double high = next_above(format, low);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const Rational tie = (to_rational(low) + to_rational(high)) / 2;
      const double even = bits % 2 == 0 ? low : high;
      if (round_to(format, tie) != even) ++wrong;
      if (round_to(format, Rational(tie - hair)) != low) ++wrong;
      if (round_to(format, Rational(tie + hair)) != high) ++wrong;
      if (round_to(format, Rational(-tie - hair)) != -high) ++wrong;
      const Real real_tie = ropelab::to_real(tie);
      if (round_to(format, real_tie) != even) ++wrong;
      if (round_to(format, Real(real_tie * (1 - ldexp(Real(1), -510)))) != low) ++wrong;
      if (round_to(format, Real(real_tie * (1 + ldexp(Real(1), -510)))) != high) ++wrong;
      if (round_to(format, Real(-real_tie * (1 + ldexp(Real(1), -510)))) != -high) ++wrong;
    }
    INFO(format.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("Random rationals and reals round to the nearest number of every format") {
  Random random(1);
  for (const Format& format : ropelab::all_formats()) {
    int wrong = 0;
    for (int i = 0; i < 2000; ++i) {
      const int top = std::ilogb(format.largest);
      const int least = format.min_exponent - format.precision - 2;
      const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(top - least));
      const Rational x =
          Rational(sample::words(random, 2) + 1, sample::words(random, 2) + 1) * two_to(exponent);
      const double r = round_to(format, x);
      if (!std::isfinite(r) || std::fabs(r) == format.largest) continue;
      if (!is_nearest(format, r, x)) ++wrong;
      const Real y = ropelab::to_real(x);
      if (!is_nearest(format, round_to(format, y), to_rational(y))) ++wrong;
      const ropelab::DoubleDouble pair = ropelab::to_double_double(y);
      const Rational sum = to_rational(pair.high) + to_rational(pair.low);
      if (!is_nearest(format, round_to(format, pair.high, pair.low), sum)) ++wrong;
    }
    INFO(format.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("Overflow begins half an ulp beyond the largest number, exactly") {
  for (const Format& format : ropelab::all_formats()) {
    INFO(format.name);
    const Rational edge =
        to_rational(format.largest) + to_rational(ulp(format, format.largest)) / 2;
    const Rational hair = two_to(-2000);
    const double beyond = format.overflow == ropelab::Overflow::nan ? std::nan("") : kInfinity;
    const bool tie_stays = format.name == "float8_e4m3fn";
    CHECK(round_to(format, Rational(edge - hair)) == format.largest);
    CHECK(same(round_to(format, edge), tie_stays ? format.largest : beyond));
    CHECK(same(round_to(format, Rational(edge + hair)), beyond));
    CHECK(same(round_to(format, Rational(-edge - hair)), -beyond));
    CHECK(same(round_to(format, two_to(5000)), beyond));
    CHECK(same(round_to(format, ldexp(Real(-1), 5000)), -beyond));
    CHECK(round_to(format, two_to(-5000)) == 0);
    CHECK(same(round_to(format, ldexp(Real(-1), -5000)), -0.0));
  }
}

TEST_CASE("Infinities and NaN among the reals follow the format") {
  const Real infinity = std::numeric_limits<Real>::infinity();
  CHECK(round_to(find_format("float16"), infinity) == kInfinity);
  CHECK(round_to(find_format("float16"), Real(-infinity)) == -kInfinity);
  CHECK(std::isnan(round_to(find_format("float8_e4m3fn"), infinity)));
  CHECK(std::isnan(round_to(find_format("float32"), std::numeric_limits<Real>::quiet_NaN())));
  CHECK(round_to(find_format("float32"), Real(0)) == 0);
}

TEST_CASE("Doubles and reals become rationals exactly") {
  CHECK(to_rational(0.1) == Rational(Integer("3602879701896397"), Integer(1) << 55));
  CHECK(to_rational(-5e-324) == Rational(-1, Integer(1) << 1074));
  CHECK(to_rational(0.0) == 0);
  CHECK(to_rational(0x1p1023) == Rational(Integer(1) << 1023));
  CHECK_THROWS_AS(to_rational(kInfinity), std::domain_error);
  CHECK_THROWS_AS(to_rational(std::nan("")), std::domain_error);
  CHECK_THROWS_AS(to_rational(std::numeric_limits<Real>::infinity()), std::domain_error);
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Real x = sample::real(random, -800, 800);
    CHECK(ropelab::to_real(to_rational(Real(-x))) == -x);
  }
}

TEST_CASE("Rationals become the nearest real, ties to even") {
  const Rational one = 1;
  CHECK(ropelab::to_real(Rational(one + two_to(-512))) == 1);
  CHECK(ropelab::to_real(Rational(one + two_to(-512) + two_to(-3000))) == 1 + ldexp(Real(1), -511));
  CHECK(ropelab::to_real(Rational(one + 3 * two_to(-512))) == 1 + ldexp(Real(1), -510));
  CHECK(ropelab::to_real(Rational(one - two_to(-514))) == 1);
  CHECK(ropelab::to_real(Rational(-one - two_to(-511))) == -1 - ldexp(Real(1), -511));
  CHECK(ropelab::to_real(Rational(1, 3)) == Real(1) / 3);
}
