#include "ropelab/rope/scaling.hpp"

#include <mpfr.h>

#include <string>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/rope/rotated_dot.hpp"
#include "ropelab/rope/scaling_text.hpp"
#include "ropelab/table/csv_reader.hpp"

using namespace ropelab;

namespace {

Scaling one(const std::string& text) { return parse_scalings(text).at(0); }

FrequencyGrid grid_of(const std::string& base, int rope_dim, const std::string& scaling,
                      long long length = 65536) {
  return FrequencyGrid(parse_rational(base), rope_dim, at_length(one(scaling), length));
}

// A number of 800 bits. Operators round to that; functions are MPFR's.
class Mpfr {
 public:
  Mpfr(double x = 0) {
    mpfr_init2(x_, 800);
    mpfr_set_d(x_, x, MPFR_RNDN);
  }
  explicit Mpfr(const std::string& decimal) : Mpfr() {
    mpfr_set_str(x_, decimal.c_str(), 10, MPFR_RNDN);
  }
  Mpfr(const Mpfr& other) : Mpfr() { mpfr_set(x_, other.x_, MPFR_RNDN); }
  Mpfr& operator=(const Mpfr& other) {
    mpfr_set(x_, other.x_, MPFR_RNDN);
    return *this;
  }
  ~Mpfr() { mpfr_clear(x_); }

  template <class Function, class... Arguments>
  static Mpfr of(Function function, const Arguments&... arguments) {
    Mpfr result;
    function(result.x_, arguments.x_..., MPFR_RNDN);
    return result;
  }
  static Mpfr pi() {
    Mpfr result;
    mpfr_const_pi(result.x_, MPFR_RNDN);
    return result;
  }
  friend Mpfr operator+(const Mpfr& a, const Mpfr& b) { return of(mpfr_add, a, b); }
  friend Mpfr operator-(const Mpfr& a, const Mpfr& b) { return of(mpfr_sub, a, b); }
  friend Mpfr operator*(const Mpfr& a, const Mpfr& b) { return of(mpfr_mul, a, b); }
  friend Mpfr operator/(const Mpfr& a, const Mpfr& b) { return of(mpfr_div, a, b); }

  // |a - b| < 2^-450 |b|.
  friend bool agree(const Mpfr& a, const Mpfr& b) {
    const Mpfr error = of(mpfr_abs, (a - b) / b), bound(0x1p-450);
    return mpfr_less_p(error.x_, bound.x_) != 0;
  }

 private:
  mpfr_t x_;
};

Mpfr logarithm(const Mpfr& x) { return Mpfr::of(mpfr_log, x); }
Mpfr mpfr_theta(double base, int rope_dim, int pair) {
  return Mpfr::of(mpfr_pow, Mpfr(base), Mpfr(-2.0 * pair) / Mpfr(rope_dim));
}

bool same_40_digits(const std::string& text, const std::string& expected) {
  return parse_rational(text) == parse_rational(expected);
}

}  // namespace

TEST_CASE("Scaled frequencies and factors agree with 80-digit arithmetic in all 40 digits") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/scaling.csv");
  REQUIRE(reference.records().size() == 602);
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    const auto at = [&](const char* column) { return reference.at(n, column); };
    CAPTURE(at("base"), at("rope_dim"), at("pair"), at("length"), at("scaling"));
    const Scaling scaling = at_length(one(at("scaling")), std::stoll(at("length")));
    const FrequencyGrid grid(parse_rational(at("base")), std::stoi(at("rope_dim")), scaling);
    const std::string theta = grid.theta(std::stoi(at("pair"))).to_decimal(40);
    CHECK(same_40_digits(theta, at("theta")));
    CHECK(same_40_digits(to_decimal(attention_factor(scaling), 40), at("attention_factor")));
    CHECK(same_40_digits(to_decimal(softmax_factor(scaling), 40), at("softmax_factor")));
  }
}

TEST_CASE("Scaled thetas are exact where they are algebraic") {
  const FrequencyGrid plain(Rational(10000), 64);
  CHECK(grid_of("10000", 64, "linear:factor=2.5").theta(7) ==
        plain.theta(7) / Algebraic(Rational(5, 2)));
  // The slowest pair is divided by the factor, the fastest stays.
  const FrequencyGrid ntk = grid_of("10000", 64, "ntk:factor=8");
  CHECK(ntk.theta(0) == Algebraic());
  CHECK(ntk.theta(31) == plain.theta(31) / Algebraic(8));
  CHECK(ntk.theta(5) == FrequencyGrid(*ntk.scaling().base(), 64).theta(5));
  const FrequencyGrid yarn = grid_of("10000", 64, "yarn:factor=8:original=131072");
  CHECK(yarn.scaling().range()->low == 22);
  CHECK(yarn.scaling().range()->high == 35);
  CHECK(yarn.theta(22) == plain.theta(22));
  CHECK(yarn.theta(31) == plain.theta(31) * Algebraic(Rational(4 * 8 + 9, 13 * 8)));
}

TEST_CASE(
    "llama3 with yarn's ends is linear in the number of turns, yarn in the index of the pair") {
  const Rational low = 1, high = 4;
  const Llama3Scaling llama3{8, 8192, low, high};
  // Half-way between 1 and 4 turns in 8192 positions.
  const Real theta = Real(5) * pi() / 8192;
  const Rational share = extrapolated_share(llama3, Algebraic(to_rational(theta)));
  CHECK(to_double(share) == 0.5);
  CHECK(extrapolated_share({20, 46}, 33) == Rational(1, 2));
}

TEST_CASE("What stands for a transcendental theta is within 2^-450 of it") {
  const Mpfr original(8192), factor(8), one_turn = Mpfr(2) * Mpfr::pi();
  const FrequencyGrid yarn = grid_of("500000", 128, "yarn:factor=8:original=8192:truncate=false");
  const FrequencyGrid llama3 = grid_of("500000", 128, "llama3:factor=8:original=8192");
  const auto scaled = [&](const Mpfr& theta, const Mpfr& share) {
    return theta * (share + (Mpfr(1) - share) / factor);
  };
  const auto end = [&](double turns) {
    return Mpfr(64) * logarithm(original / one_turn / Mpfr(turns)) / logarithm(Mpfr(500000));
  };
  for (int pair = 20; pair < 35; ++pair) {
    CAPTURE(pair);
    const Mpfr theta = mpfr_theta(500000, 128, pair);
    const Mpfr by_index = (end(1) - Mpfr(pair)) / (end(1) - end(32));
    CHECK(agree(Mpfr(yarn.theta(pair).to_decimal(140)), scaled(theta, by_index)));
    if (pair < 29) continue;
    const Mpfr by_turns = (original * theta / one_turn - Mpfr(1)) / Mpfr(3);
    CHECK(agree(Mpfr(llama3.theta(pair).to_decimal(140)), scaled(theta, by_turns)));
  }
}

TEST_CASE("dynamic-ntk is ntk by a factor that grows with the length, from the original one on") {
  const FrequencyGrid plain(Rational(10000), 128);
  for (const long long length : {1, 2047, 2048}) {
    const FrequencyGrid grid = grid_of("10000", 128, "dynamic-ntk:factor=2:original=2048", length);
    CHECK(grid.theta(63) == plain.theta(63));
  }
  const FrequencyGrid grid = grid_of("10000", 128, "dynamic-ntk:factor=2:original=2048", 8192);
  CHECK(grid.theta(63) == grid_of("10000", 128, "ntk:factor=7").theta(63));
  // A length of its own goes before the context.
  CHECK(grid_of("10000", 128, "dynamic-ntk:factor=2:original=2048:length=8192", 2048).theta(63) ==
        grid.theta(63));
}

TEST_CASE("The slowest and nearest pairs of a scaled grid are found where it does not go one way") {
  const FrequencyGrid grid =
      grid_of("10000", 6, "longrope:original=4:short_factor=1 1 1:long_factor=1 2000 2:factor=2");
  CHECK(grid.slowest_pair() == 1);
  CHECK(grid.nearest_pair(grid.theta(1)) == 1);
  CHECK(grid.nearest_pair(grid.theta(2)) == 2);
  // Of several that are equally slow, the last.
  CHECK(grid_of("1", 6, "linear:factor=3").slowest_pair() == 2);
  CHECK(grid_of("1/2", 6, "linear:factor=3").slowest_pair() == 0);
}

TEST_CASE("A rotated dot product cancels exactly where a scaling makes far pairs turn alike") {
  // Thetas 1, 1/10 and 1/100, the last one divided by 1/100.
  const FrequencyGrid grid =
      grid_of("1000", 6, "longrope:original=4:short_factor=1 1 1:long_factor=1 1 1/100:factor=2");
  REQUIRE(grid.theta(0) == grid.theta(2));
  const ExactDot dot =
      exact_rotated_dot(grid, {1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, -1, 0}, 9, 2, Layout::interleaved);
  CHECK(dot.rational == Rational(0));
}

TEST_CASE(
    "The end of yarn's range is the pair that turns so often, and untruncated it is no index") {
  const Algebraic base(10000);
  const Real pair = correction_dimension(base, 64, 4096, 32);
  const Real theta = power(Real(10000), Real(-2 * pair / 64));
  CHECK(abs(Real(theta * 4096 / (2 * pi()) - 32)) < ldexp(Real(1), -470));
  YarnScaling yarn;
  yarn.original = 4096;
  const CorrectionRange whole = correction_range(yarn, base, 64);
  yarn.truncate = false;
  const CorrectionRange real = correction_range(yarn, base, 64);
  CHECK(whole.low < real.low);
  CHECK(real.low < whole.low + 1);
  CHECK(real.high < whole.high);
  CHECK(whole.high < real.high + 1);
}

TEST_CASE("Where every pair turns more than beta_fast times, yarn leaves all as they are") {
  const FrequencyGrid grid = grid_of("2", 8, "yarn:factor=4:original=65536");
  CHECK(grid.scaling().range()->low > 7);
  for (int pair = 0; pair < 4; ++pair) CHECK(grid.theta(pair) == grid.unscaled_theta(pair));
}

TEST_CASE("A scaling's text names every parameter and reads back") {
  const std::pair<const char*, const char*> texts[] = {
      {"none", "none"},
      {"linear:factor=4", "linear:factor=4"},
      {" ntk : factor = 5/2 ", "ntk:factor=2.5"},
      {"ntk:factor=1/3", "ntk:factor=1/3"},
      {"dynamic-ntk,factor=2,original=2K", "dynamic-ntk:factor=2:original=2048"},
      {"yarn:factor=32,original=4096,truncate=false",
       "yarn:factor=32:original=4096:beta_fast=32:beta_slow=1:truncate=false:rule=default:mscale="
       "1"},
      {"yarn:factor=40,original=4096,mscale=0.707,mscale_all_dim=0.707",
       "yarn:factor=40:original=4096:beta_fast=32:beta_slow=1:truncate=true:rule=ratio:"
       "mscale=0.707:mscale_all_dim=0.707"},
      {"yarn:factor=40,original=4096,attention_factor=1.2,mscale_all_dim=1",
       "yarn:factor=40:original=4096:beta_fast=32:beta_slow=1:truncate=true:mscale_all_dim=1:"
       "attention_factor=1.2"},
      {"llama3:factor=8,original=8192",
       "llama3:factor=8:original=8192:low_freq_factor=1:high_freq_factor=4"},
      {"longrope:original=4096,long_factor=1 2.5,short_factor=1  1,factor=131072/4096",
       "longrope:original=4096:short_factor=1 1:long_factor=1 2.5:factor=32"}};
  for (const auto& [written, shown] : texts) {
    CAPTURE(written);
    CHECK(text_of(one(written)) == shown);
    CHECK(text_of(one(shown)) == shown);
  }
}

TEST_CASE("In a list of scalings an item with = belongs to the name before it") {
  const auto scalings =
      parse_scalings("none,linear:factor=4,yarn:factor=2,original=64,ntk,factor=3");
  REQUIRE(scalings.size() == 4);
  CHECK(text_of(scalings[0]) == "none");
  CHECK(text_of(scalings[1]) == "linear:factor=4");
  CHECK(std::get<YarnScaling>(scalings[2]).original == 64);
  CHECK(std::get<NtkScaling>(scalings[3]).factor == 3);
}

TEST_CASE("Scalings that cannot be meant are refused with what would be right") {
  const std::pair<const char*, const char*> texts[] = {
      {"", "'' is no scaling; there are none, linear, ntk, dynamic-ntk, yarn, llama3, longrope"},
      {"dynamic",
       "'dynamic' is no scaling; there are none, linear, ntk, dynamic-ntk, yarn, llama3, "
       "longrope"},
      {"factor=4", "'factor=4' has no scaling before it; write NAME:factor=4"},
      {"yarn:original=4096", "yarn: it lacks factor; write yarn:factor=..."},
      {"yarn:factor=4", "yarn: it lacks original; write yarn:original=..."},
      {"linear:factor=0", "linear: factor: '0' is not positive; write a number above 0"},
      {"ntk:factor=-1", "ntk: factor: '-1' is not positive; write a number above 0"},
      {"linear:factor=4:factor=5", "linear: 'factor' is given twice"},
      {"linear:4", "linear: '4' is no parameter; write NAME=VALUE, as in factor=4"},
      {"linear:factor=4,beta_fast=1", "linear: 'beta_fast' is no parameter of it; it takes factor"},
      {"none:factor=4", "none: 'factor' is no parameter of it; it takes none"},
      {"yarn:factor=4,original=0",
       "yarn: original: '0' is out of range; write a whole number from 1 to 9007199254740992"},
      {"yarn:factor=4,original=64,truncate=yes", "yarn: truncate: 'yes' is neither true nor false"},
      {"yarn:factor=4,original=64,rule=paper", "yarn: rule: 'paper' is neither default nor ratio"},
      {"yarn:factor=4,original=64,mscale=-1",
       "yarn: mscale: '-1' is negative; write 0 or a number above it"},
      {"yarn:factor=4,original=64,rule=ratio,attention_factor=1",
       "yarn: attention_factor leaves nothing to rule and mscale; write only one of them"},
      {"longrope:original=64,short_factor=1 x,long_factor=1,factor=2",
       "longrope: short_factor: 'x' is not a number; write 0.5, 1e-6, 1/3, 2^-20, 2^(-1/2), "
       "0x1p-13 or 64K"},
      {"longrope:original=64,short_factor=,long_factor=1,factor=2",
       "longrope: short_factor: it has no numbers; write them with blanks between"},
      {"longrope:original=64,short_factor=1,long_factor=1",
       "longrope: it takes one of factor and attention_factor"}};
  for (const auto& [text, sentence] : texts) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_scalings(text), sentence);
  }
  // Practice reads one without the other in two ways.
  for (const char* lone : {"mscale=0.7", "mscale_all_dim=0.7", "mscale=0,mscale_all_dim=1"}) {
    const std::string text = "yarn:factor=40,original=4096," + std::string(lone);
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_scalings(text), ContainsSubstring("rule=default"));
    CHECK_NOTHROW(parse_scalings(text + ",rule=default"));
    CHECK_NOTHROW(parse_scalings(text + ",rule=ratio"));
  }
}

TEST_CASE("A scaling that does not fit the grid is refused") {
  const auto refused = [](const std::string& base, int rope_dim, const std::string& scaling,
                          const std::string& part) {
    CAPTURE(scaling);
    CHECK_THROWS_WITH(FrequencyGrid(parse_rational(base), rope_dim, one(scaling)),
                      ContainsSubstring(part));
  };
  refused("10000", 2, "ntk:factor=4", "'ntk' divides by rope-dim - 2");
  refused("10000", 64, "dynamic-ntk:factor=4:original=64", "'dynamic-ntk' depends on the length");
  refused("1", 64, "yarn:factor=4:original=64", "a base above 1 would be right");
  refused("10000", 64, "yarn:factor=4:original=64:beta_fast=1:beta_slow=2",
          "'beta_fast=1' is below beta_slow, 2");
  refused("10000", 64, "yarn:factor=4:original=6", "'original=6' is too short");
  refused("10000", 64, "llama3:factor=4:original=64:low_freq_factor=4",
          "'high_freq_factor=4' is not above low_freq_factor, 4");
  const std::string lists = "longrope:short_factor=1 1:long_factor=1 1:length=9";
  refused("10000", 6, lists + ":original=4:factor=2",
          "'short_factor' has a list of 2; a rope-dim of 6 has 3 pairs");
  refused("10000", 4, lists + ":original=1:factor=2", "'original=1' has no logarithm");
  CHECK_NOTHROW(grid_of("10000", 4, lists + ":original=1:attention_factor=2"));
  CHECK_NOTHROW(grid_of("10000", 64, "yarn:factor=4:original=7"));
}
