// Statistics of attention weights: closed forms, and sums of reals by the plain definitions.
#include <cmath>
#include <random>

#include "catch.hpp"
#include "errors/attention_judge.hpp"
#include "ropelab/errors/attention_statistics.hpp"

namespace ropelab {
namespace {

AttentionWeights weights_of(const std::vector<double>& scores) {
  std::vector<DoubleDouble> wide;
  for (const double score : scores) wide.push_back({score, 0});
  return AttentionWeights(wide);
}

bool close(double x, const Real& expected, double relative, double absolute = 0) {
  return abs(Real(x) - expected) <= Real(relative) * abs(expected) + Real(absolute);
}

std::vector<double> random_scores(std::size_t size, double deviation, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2 * deviation, 2 * deviation);
  std::vector<double> scores(size);
  for (double& score : scores) score = uniform(engine);
  return scores;
}

// What the header promises, and the last rounding to double.
void check_statistics_against_reals(const std::vector<double>& p, const std::vector<double>& q) {
  const std::vector<Real> a(p.begin(), p.end()), b(q.begin(), q.end());
  const WeightStatistics statistics = statistics_of(weights_of(q));
  const JudgedStatistics judged = judged_statistics(b);
  CHECK(close(statistics.entropy, judged.entropy, 0x1p-53, 0x1p-70));
  CHECK(close(statistics.greatest, judged.greatest, 0x1p-53, 0x1p-70));
  CHECK(close(statistics.variance, judged.variance, 0x1p-53, 0x1p-70));
  CHECK(statistics.half_distance == static_cast<double>(judged.half_distance));
  const WeightChange change = change_between(weights_of(p), weights_of(q));
  const JudgedChange expected = judged_change(a, b);
  CAPTURE(change.divergence, to_double(expected.divergence));
  CHECK(close(change.total_variation, expected.total_variation, 0x1p-53, 0x1p-85));
  CHECK(close(change.largest, expected.largest, 0x1p-53, 0x1p-85));
  CHECK(close(change.divergence, expected.divergence, 0x1p-40, 0x1p-140));
}

}  // namespace

TEST_CASE("equal scores give equal weights, of entropy ln n and no variance") {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 64u, 999u, 1000u}) {
    CAPTURE(n);
    const WeightStatistics statistics = statistics_of(weights_of(std::vector<double>(n, -123.456)));
    CHECK(statistics.entropy == Approx(std::log(static_cast<double>(n))).epsilon(1e-15));
    CHECK(statistics.greatest == 1 / static_cast<double>(n));
    CHECK(statistics.variance < 1e-60);
    CHECK(statistics.half_distance == static_cast<double>((n + 1) / 2 - 1));
  }
}

TEST_CASE("weights under a linear bias have their closed forms") {
  for (const auto& [slope, n] : std::vector<std::pair<double, int>>{
           {0.5, 1}, {0.5, 2}, {0.5, 100}, {0.00390625, 2048}, {2, 3000}, {1e-9, 50}}) {
    CAPTURE(slope, n);
    std::vector<double> scores;
    for (int d = 0; d < n; ++d) scores.push_back(-slope * d);
    const WeightStatistics statistics = statistics_of(weights_of(scores));
    const Real r = natural_exponential(Real(-slope)), all = natural_exponential(Real(-slope) * n);
    const Real sum = (1 - all) / (1 - r);
    const Real distances = r * (1 - n * (all / r) + (n - 1) * all) / ((1 - r) * (1 - r));
    const Real squares = (1 - all * all) / (1 - r * r) / (sum * sum);
    CHECK(close(statistics.greatest, 1 / sum, 1e-15));
    CHECK(close(statistics.entropy, natural_logarithm(sum) + slope * distances / sum, 1e-15));
    CHECK(abs(Real(statistics.variance) - (squares / n - Real(1) / (Real(n) * n))) <=
          Real(1e-15) * statistics.variance + Real(1e-33));
    // The first D with 1 - r^(D+1) >= half of 1 - r^n.
    int half = 0;
    while (1 - natural_exponential(Real(-slope) * (half + 1)) < (1 - all) / 2) ++half;
    CHECK(statistics.half_distance == half);
  }
}

TEST_CASE("scores that are shifted alike have the same weights") {
  const std::vector<double> p = random_scores(300, 8, 1);
  std::vector<DoubleDouble> wide, shifted;
  for (const double x : p) {
    wide.push_back({x, 0});
    shifted.push_back(exact_sum(x, 1e5));
  }
  const WeightChange change = change_between(AttentionWeights(wide), AttentionWeights(shifted));
  CHECK(change.total_variation < 1e-28);
  CHECK(change.largest < 1e-28);
  CHECK(change.divergence >= 0);
  CHECK(change.divergence < 1e-55);
  const WeightChange none = change_between(AttentionWeights(wide), AttentionWeights(wide));
  CHECK(none.total_variation == 0);
  CHECK(none.largest == 0);
  CHECK(none.divergence == 0);
}

TEST_CASE("statistics and changes agree with sums of reals, from changes of 1e-14 to 1e3") {
  unsigned seed = 10;
  for (const std::size_t n : {1u, 2u, 17u, 400u}) {
    for (const double deviation : {0.0, 1.0, 50.0}) {
      const std::vector<double> p = random_scores(n, deviation, ++seed);
      for (const double size : {1e-14, 1e-8, 1e-3, 0.5, 5.0, 1e3}) {
        CAPTURE(n, deviation, size);
        std::vector<double> q = random_scores(n, size, ++seed);
        for (std::size_t d = 0; d < n; ++d) q[d] += p[d];
        if (n > 1) check_statistics_against_reals(p, q);
      }
    }
  }
}

TEST_CASE("a weight below every double still counts in the divergence") {
  const WeightChange change = change_between(weights_of({0, -2000}), weights_of({-3000, 0}));
  CHECK(change.total_variation == 1);
  CHECK(change.largest == 1);
  CHECK(change.divergence == Approx(3000).epsilon(1e-15));
  CHECK(statistics_of(weights_of({-3000, 0})).entropy == 0);
  CHECK(statistics_of(weights_of({-3000, 0})).half_distance == 1);
}

TEST_CASE("the divergence is that of the second weights from the first") {
  // p = (1/2, 1/2), q = (1/4, 3/4).
  const AttentionWeights p = weights_of({0, 0});
  const AttentionWeights q({{0, 0}, to_double_double(natural_logarithm(Real(3)))});
  CHECK(change_between(p, q).divergence == Approx(std::log(4.0 / 3) / 2).epsilon(1e-15));
  CHECK(change_between(q, p).divergence ==
        Approx(0.25 * std::log(0.5) + 0.75 * std::log(1.5)).epsilon(1e-14));
  CHECK(change_between(p, q).total_variation == 0.25);
  CHECK(change_between(p, q).largest == 0.25);
}

TEST_CASE("weights need scores, and finite ones") {
  CHECK_THROWS_AS(AttentionWeights({}), std::invalid_argument);
  CHECK_THROWS_AS(weights_of({0, std::nan("")}), std::invalid_argument);
  CHECK_THROWS_AS(weights_of({0, -INFINITY}), std::invalid_argument);
}

}  // namespace ropelab
