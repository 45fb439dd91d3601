#include "ropelab/comparison/next_token.hpp"

#include <hwy/targets.h>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"

// The numbers beside which none is derived here are mpmath's, from the same logits with 60 digits
// (40 for the vocabulary of 250,880).

using namespace ropelab;

namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

// Multiples of 1/64 in (-8, 8).
template <class Logit>
std::vector<Logit> native_row(std::size_t size) {
  std::vector<Logit> row;
  for (std::size_t v = 0; v < size; ++v) {
    row.push_back(static_cast<Logit>((static_cast<double>(v * 7919 % 1009) - 504) / 64));
  }
  return row;
}

// Those plus 3, each changed by up to 8 times `step`; exact in a Logit that is wide enough.
template <class Logit>
std::vector<Logit> replaced_row(std::size_t size, double step) {
  std::vector<Logit> row = native_row<Logit>(size);
  for (std::size_t v = 0; v < size; ++v) {
    const double change = 3 + (static_cast<double>(v * 31 % 17) - 8) * step;
    row[v] = static_cast<Logit>(static_cast<double>(row[v]) + change);
  }
  return row;
}

template <class Logit>
NextTokenChange change_by(std::size_t size, double step) {
  return next_token_change(native_row<Logit>(size), replaced_row<Logit>(size, step));
}

template <class Logit>
double loss_of(const std::vector<Logit>& row, std::size_t target) {
  return loss(next_token(row), row, target);
}

NextTokenChange change_of(const std::vector<double>& p, const std::vector<double>& q) {
  return next_token_change(p, q);
}

bool is_close(double value, double expected, double relative) {
  return std::abs(value - expected) <= relative * std::abs(expected);
}

// Every figure of a change, for comparing bits.
std::vector<double> figures(const NextTokenChange& change) {
  return {change.divergence,       change.largest,
          change.sum_of_squares,   change.native.greatest,
          change.native.log_sum,   change.replaced.greatest,
          change.replaced.log_sum, static_cast<double>(change.native.first_choice)};
}

}  // namespace

TEST_CASE("the losses of a row are those of 60 digits, whatever its size") {
  struct Case {
    std::size_t size;
    double log_sum, first, last;
  };
  const Case cases[] = {
      {2, 1.5534989612738985095e-6, 13.375001553498961274, 1.5534989612738985095e-6},
      {7, 0.096040944287260288636, 13.471040944287260289, 12.049165944287260289},
      {8, 0.23553158739139596299, 15.032406587391395963, 0.23553158739139596299},
      {9, 0.3053897054977851939, 15.102264705497785194, 2.6960147054977851939},
      {1000, 4.162493428370909601, 19.912493428370909601, 11.771868428370909601},
  };
  for (const auto& [size, log_sum, first, last] : cases) {
    CAPTURE(size);
    const std::vector<float> single = native_row<float>(size);
    const std::vector<double> row = native_row<double>(size);
    CHECK(is_close(next_token(row).log_sum, log_sum, 1e-15));
    CHECK(is_close(loss_of(row, 0), first, 1e-15));
    CHECK(is_close(loss_of(row, size - 1), last, 1e-15));
    CHECK(loss_of(single, 0) == loss_of(row, 0));
    CHECK(log_softmax(row)[0] == -loss_of(row, 0));
    CHECK(log_softmax(single)[size - 1] == -loss_of(row, size - 1));
  }
}

TEST_CASE("e^x is right for every x that counts") {
  // Of two logits, 0 and x, the loss of the first is ln(1 + e^x), here by the C library.
  double worst = 0;
  for (double x = 0; x > -706; x -= 0.0137) {
    const double expected = std::log1p(std::exp(x));
    const double value = loss_of(std::vector<double>{0, x}, 0);
    worst = std::max(worst, std::abs(value - expected) / expected);
  }
  CHECK(worst < 5e-16);
  CHECK(loss_of(std::vector<double>{0, -708}, 0) == 0);
  CHECK(loss_of(std::vector<double>{0, -1e308}, 1) == 1e308);
}

TEST_CASE("divergences are right from 10 down to 1e-28, whatever the two rows share") {
  struct Case {
    std::size_t size;
    int exponent;  // of the step
    double divergence, largest, squares;
  };
  const Case cases[] = {
      {2, 0, 0.00002019547089483627467, 9, 106},
      {2, -3, 1.4350799231650600525e-6, 3.75, 18.0625},
      {2, -12, 9.0640329524117580932e-12, 3.00146484375, 17.997076272964477539},
      {2, -22, 8.653977036718622031e-18, 3.0000014305114746094, 17.999997138982735123},
      {2, -40, 1.2593208034003174823e-28, 3.0000000000054569682, 17.999999999989086064},
      {7, 0, 0.21089493146237319451, 11, 281},
      {7, -16, 1.1612454149241310737e-10, 3.0001220703125, 63.000000050757080317},
      {7, -22, 2.835122783146931718e-14, 3.0000019073486328125, 63.000000000012391865},
      {8, -3, 0.0021640786578435882425, 4, 79.546875},
      {8, -40, 1.1995760502032432565e-25, 3.0000000000072759576, 72.000000000027284841},
      {9, 0, 0.26937246941169556462, 11, 370},
      {9, -12, 2.6620311119694176129e-8, 3.001953125, 81.010268628597259521},
      {1000, 0, 5.8713785298679342232, 11, 33078},
      {1000, -3, 0.18103255613641455892, 4, 9380.15625},
      {1000, -12, 7.0037440154788849819e-7, 3.001953125, 9000.0102220773696899},
      {1000, -22, 6.6790029364653856642e-13, 3.0000019073486328125, 9000.0000085844354771},
      {1000, -40, 9.7192280433749332868e-24, 3.0000000000072759576, 9000.0000000000327418},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.size, expected.exponent);
    const double step = std::ldexp(1, expected.exponent);
    const NextTokenChange change = change_by<double>(expected.size, step);
    // Below 1e-22 the normalisation's error shows, a square of some 1e-15.
    CHECK(is_close(change.divergence, expected.divergence, expected.exponent < -30 ? 1e-6 : 1e-13));
    CHECK(is_close(change.largest, expected.largest, 1e-15));
    CHECK(is_close(change.sum_of_squares, expected.squares, 1e-15));
    if (expected.exponent >= -16) {
      CHECK(figures(change_by<float>(expected.size, step)) == figures(change));
    }
  }
}

TEST_CASE("divergences are right where no logit or difference of logits is exact") {
  struct Case {
    int exponent;
    double divergence;
  };
  const Case cases[] = {{-4, 0.0050835895309326513025},
                        {-14, 4.8290851541506232386e-9},
                        {-20, 1.178970269081825187e-12},
                        {-30, 1.1243535368026712848e-18}};
  for (const auto& [exponent, divergence] : cases) {
    CAPTURE(exponent);
    std::vector<double> native, replaced;
    for (int v = 0; v < 1000; ++v) {
      native.push_back((v * 7919 % 1009 - 504) / 48.);
      replaced.push_back(native.back() + (v * 31 % 17 - 8) / 3. * std::ldexp(1, exponent));
    }
    const double bound =
        0x1p-44 * divergence + 0x1p-48 * std::sqrt(divergence) + 0x1p-95;  // next_token.hpp
    CHECK(std::abs(change_of(native, replaced).divergence - divergence) <= bound);
  }
}

TEST_CASE("a vocabulary of 250,880 tokens loses nothing") {
  constexpr std::size_t size = 250880;
  const std::vector<float> row = native_row<float>(size);
  CHECK(is_close(next_token(row).log_sum, 9.682725764969500243, 1e-15));
  CHECK(is_close(loss_of(row, 12345), 24.448350764969500243, 1e-15));
  CHECK(is_close(change_by<float>(size, 0.125).divergence, 0.1811045388369344725, 1e-14));
  CHECK(is_close(change_by<float>(size, 0x1p-16).divergence, 2.7977339724057694875e-9, 1e-13));
  CHECK(is_close(change_by<double>(size, 0x1p-22).divergence, 6.8304052619126541808e-13, 1e-13));
}

TEST_CASE("extreme logits have their figures") {
  const std::vector<double> far{1000, -1000, 0};
  CHECK(loss_of(far, 0) == 0);
  CHECK(loss_of(far, 1) == 2000);
  CHECK(loss_of(far, 2) == 1000);
  CHECK(is_close(change_of(far, {-1000, 1000, 0}).divergence, 2000, 1e-15));
  CHECK(change_of(far, {-1000, 1000, 0}).largest == 2000);
  CHECK(change_of(far, {-1000, 1000, 0}).sum_of_squares == 8e6);
  CHECK(is_close(change_of({300.5, 300, -5}, {301, 300, -400}).divergence, 0.027955037737188870857,
                 1e-14));
  CHECK(is_close(loss_of(std::vector<double>{300.5, 300, -5}, 0), 0.47407698418010668087, 1e-15));
  // Where p is nearly 1, the loss is what the others have.
  CHECK(is_close(loss_of(std::vector<double>{0, -50}, 0), 1.928749847963917783e-22, 1e-15));
  CHECK(is_close(change_of({0, -50}, {0, -40}).divergence, 4.2462326304588286767e-18, 1e-14));
  CHECK(is_close(change_of({0, -100}, {0, -30}).divergence, 9.3576229688397367794e-14, 1e-14));
}

TEST_CASE("a row has no divergence from itself, or from itself shifted") {
  CHECK(next_token_change(native_row<float>(1000), native_row<float>(1000)).divergence == 0);
  const NextTokenChange shifted = change_by<double>(1000, 0);
  CHECK(shifted.divergence < 1e-30);
  CHECK(shifted.largest == 3);
  CHECK(shifted.same_first_choice);
}

TEST_CASE("the divergence is that of the second row from the first") {
  // p = (1/2, 1/2), q = (1/4, 3/4).
  const std::vector<double> p{0, 0}, q{0, std::log(3.)};
  CHECK(is_close(change_of(p, q).divergence, std::log(4. / 3) / 2, 1e-14));
  CHECK(is_close(change_of(q, p).divergence, 0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-14));
}

TEST_CASE("the first choice is the first of the greatest, or of the NaNs") {
  CHECK(next_token(std::vector<float>{1, 3, 2, 3}).first_choice == 1);
  CHECK(next_token(std::vector<float>{-0.0F, 0.0F}).first_choice == 0);
  CHECK(next_token(std::vector<double>{-no_bound, -no_bound}).first_choice == 0);
  CHECK(next_token(std::vector<double>{1, no_bound, no_bound}).first_choice == 1);
  CHECK(next_token(std::vector<double>{1, quiet_nan, no_bound, quiet_nan}).first_choice == 1);
  std::vector<float> long_row(1003, -1);
  long_row[1002] = -0.5F;
  CHECK(next_token(long_row).first_choice == 1002);
  CHECK(change_of({1, 3, 3}, {1, 4, 4}).same_first_choice);
  CHECK_FALSE(change_of({1, 3, 3}, {1, 3, 4}).same_first_choice);
}

TEST_CASE("a row with a NaN has no distribution, wherever it stands") {
  for (std::size_t place = 0; place < 19; ++place) {
    CAPTURE(place);
    std::vector<float> row(19, 1), good(19, 1);
    row[place] = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(next_token(row).exists());
    CHECK(std::isnan(loss_of(row, (place + 1) % 19)));
    CHECK(next_token(row).first_choice == place);
    for (const NextTokenChange& change :
         {next_token_change(row, good), next_token_change(good, row),
          next_token_change(row, row)}) {
      CHECK(std::isnan(change.divergence));
      CHECK(std::isnan(change.largest));
      CHECK(std::isnan(change.sum_of_squares));
      CHECK_FALSE(change.same_first_choice);
    }
    CHECK(loss(next_token_change(good, row).native, good, 0) == Approx(std::log(19.)));
  }
  CHECK_FALSE(next_token(std::vector<double>{0, no_bound}).exists());
  CHECK(std::isnan(loss_of(std::vector<double>{0, no_bound}, 0)));
  CHECK(std::isnan(loss_of(std::vector<double>{0, no_bound}, 1)));
  CHECK(std::isnan(loss_of(std::vector<double>{-no_bound, -no_bound}, 1)));
}

TEST_CASE("a token may be impossible") {
  const std::vector<double> p{0, -no_bound, 0}, q{0, 0, 0};
  CHECK(loss_of(p, 1) == no_bound);
  CHECK(is_close(change_of(p, q).divergence, std::log(1.5), 1e-15));
  CHECK(change_of(q, p).divergence == no_bound);
  CHECK(change_of(q, p).largest == no_bound);
  CHECK(change_of(q, p).sum_of_squares == no_bound);
  CHECK(change_of(p, p).divergence == 0);
  CHECK(change_of(p, p).largest == 0);
  CHECK(change_of(p, p).sum_of_squares == 0);
}

TEST_CASE("rows and targets that do not fit are refused in a sentence") {
  const std::vector<float> row{1, 2, 3};
  CHECK_THROWS_WITH(loss_of(row, 3), "token 3 is to be predicted, but there are only 3");
  CHECK_THROWS_WITH(next_token(std::vector<float>{}),
                    "a distribution over the next token needs at least one logit");
  CHECK_THROWS_WITH(next_token_change(row, std::vector<float>{1, 2}),
                    "rows of 3 and of 2 logits cannot be compared");
  CHECK_THROWS_AS(next_token_change(std::vector<float>{}, std::vector<float>{}),
                  std::invalid_argument);
}

TEST_CASE("every instruction set gives the same bits") {
  const auto all = [] {
    std::vector<double> result;
    for (const std::size_t size : {1u, 5u, 8u, 13u, 1000u}) {
      for (const double step : {1., 0x1p-3, 0x1p-12}) {
        for (const double x : figures(change_by<float>(size, step))) result.push_back(x);
        for (const double x : figures(change_by<double>(size, step / 3))) result.push_back(x);
      }
    }
    return result;
  };
  const std::vector<double> best = all();
  for (const std::int64_t better :
       {std::int64_t{HWY_SSSE3 * 2 - 1}, std::int64_t{HWY_SSE4 - 1}, std::int64_t{HWY_AVX2 - 1}}) {
    hwy::DisableTargets(better);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    CHECK(all() == best);
  }
  hwy::DisableTargets(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
