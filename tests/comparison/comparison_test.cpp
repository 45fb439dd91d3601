#include "ropelab/comparison/comparison.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/comparison/quantile.hpp"

using namespace ropelab;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

PairedDifference of(const std::vector<double>& differences) {
  std::vector<WindowDifference> windows;
  for (const double difference : differences) windows.push_back({255, difference});
  return paired_difference(windows);
}

void check(const PairedDifference& value, double mean, double standard_error, double low,
           double high, double p) {
  CHECK(value.mean == Approx(mean).epsilon(1e-14));
  CHECK(value.standard_error.value() == Approx(standard_error).epsilon(1e-14));
  CHECK(value.ci_low.value() == Approx(low).epsilon(1e-13));
  CHECK(value.ci_high.value() == Approx(high).epsilon(1e-13));
  CHECK(value.p_value.value() == Approx(p).epsilon(1e-13));
}

// A window with the given rows; every row predicts token 0.
void add(Comparison& comparison, const std::vector<std::vector<double>>& native,
         const std::vector<std::vector<double>>& replaced) {
  std::vector<PairedLoss> losses;
  std::vector<NextTokenChange> changes;
  for (std::size_t n = 0; n < native.size(); ++n) {
    changes.push_back(next_token_change(native[n], replaced[n]));
    losses.push_back(
        {loss(changes[n].native, native[n], 0), loss(changes[n].replaced, replaced[n], 0)});
  }
  losses.pop_back();  // what the last position predicts is not known
  comparison.add_window(losses, changes);
}

// Logits of ln p.
std::vector<double> row(const std::vector<double>& probabilities) {
  std::vector<double> logits;
  for (const double p : probabilities) logits.push_back(std::log(p));
  return logits;
}

}  // namespace

// The extra hours of sleep of Student's ten patients (The probable error of a mean, Biometrika 6,
// 1908): R's help page of t.test gives t = 4.0621, p = 0.002833 and the interval 0.7001142 to
// 2.4598858. The digits here, and those of the other cases, are mpmath's, from the regularised
// incomplete beta function with 60 digits.
TEST_CASE("a paired test gives what tables and 60 digits give") {
  check(of({1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}), 1.58, 0.38895872388839524381,
        0.70011423672301720129, 2.4598857632769827987, 0.0028328901973842727403);
  check(of({1, 2}), 1.5, 0.5, -4.853102368087352323, 7.853102368087352323, 0.20483276469913345165);
  check(of({1e-9, 2e-9, 3e-9, 2e-9, 1e-9}), 1.8e-9, 3.7416573867739419502e-10,
        7.6114936631643199455e-10, 2.8388506336835683124e-9, 0.0085809187219247813124);
}

TEST_CASE("windows weigh by their predictions") {
  const std::vector<WindowDifference> windows{{255, 0.5}, {64, -0.25}, {64, 0.125}, {64, 1}};
  check(paired_difference(windows), 0.4105145413870246085, 0.16469801469285471827,
        -0.11362804695981300623, 0.93465712973386222323, 0.088286684196539531423);
}

TEST_CASE("one window has a difference but no test") {
  const PairedDifference difference = of({0.25});
  CHECK(difference.mean == 0.25);
  CHECK_FALSE(difference.standard_error);
  CHECK_FALSE(difference.ci_low);
  CHECK_FALSE(difference.ci_high);
  CHECK_FALSE(difference.p_value);
  CHECK(std::isnan(of({}).mean));
}

TEST_CASE("differences that do not vary decide by themselves") {
  const PairedDifference none = of({0, 0, 0});
  CHECK(none.mean == 0);
  CHECK(none.standard_error == 0.);
  CHECK(none.ci_low == 0.);
  CHECK(none.ci_high == 0.);
  CHECK(none.p_value == 1.);
  const PairedDifference all = of({0.1, 0.1, 0.1});
  CHECK(all.mean == 0.1);
  CHECK(all.standard_error == 0.);
  CHECK(all.ci_low == 0.1);
  CHECK(all.p_value == 0.);
  CHECK(of({1, -1}).p_value == 1.);
}

TEST_CASE("a difference that is not finite leaves no test") {
  for (const double odd : {not_a_number, infinity, -infinity}) {
    const PairedDifference difference = of({0.1, odd, 0.2});
    CHECK_FALSE(std::isfinite(difference.mean));
    CHECK(std::isnan(difference.standard_error.value()));
    CHECK(std::isnan(difference.ci_low.value()));
    CHECK(std::isnan(difference.p_value.value()));
  }
}

// Expected values: numpy.quantile.
TEST_CASE("quantiles are interpolated as NumPy does") {
  const std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6, 5, 3.5};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 0.1) == 1);
  CHECK(quantile(values, 0.5) == 3.75);
  CHECK(quantile(values, 0.75) == 5);
  CHECK(quantile(values, 0.99) == Approx(8.73).epsilon(1e-15));
  CHECK(quantile(values, 1) == 9);
  CHECK(quantile({7}, 0.99) == 7);
  CHECK(quantile({1, infinity}, 0.99) == infinity);
  CHECK(quantile({infinity, infinity}, 0.99) == infinity);
  CHECK(std::isnan(quantile({1, not_a_number}, 0.99)));
  CHECK(std::isnan(quantile({}, 0.99)));
}

TEST_CASE("a comparison takes losses of predictions and changes of positions") {
  Comparison comparison(2);
  add(comparison, {row({0.5, 0.5}), row({0.25, 0.75}), row({0.5, 0.5})},
      {row({0.25, 0.75}), row({0.25, 0.75}), row({0.125, 0.875})});
  add(comparison, {row({0.5, 0.5}), row({0.5, 0.5}), row({0.5, 0.5})},
      {row({0.5, 0.5}), row({0.5, 0.5}), row({0.5, 0.5})});
  const ComparisonFigures figures = comparison.figures();
  CHECK(figures.windows == 2);
  CHECK(figures.predictions == 4);
  CHECK(figures.positions == 6);
  const double ln2 = std::log(2.);
  CHECK(figures.cross_entropy_native == Approx(5 * ln2 / 4));
  CHECK(figures.cross_entropy_replaced == Approx(6 * ln2 / 4));
  CHECK(figures.difference.mean == Approx(ln2 / 4));
  // Differences ln2/2 and 0: standard error ln2/4, t = 1, one degree of freedom.
  CHECK(figures.difference.standard_error.value() == Approx(ln2 / 4));
  CHECK(figures.difference.p_value.value() == Approx(0.5));
  CHECK(figures.rms_probability_change == Approx(0.25 / 2));
  const double first = std::log(4. / 3) / 2, second = 0.5 * std::log(4.) + 0.5 * std::log(4. / 7);
  CHECK(figures.mean_kl == Approx((first + second) / 6));
  CHECK(figures.p99_kl == Approx(first + 0.95 * (second - first)));
  CHECK(figures.max_kl == Approx(second));
  CHECK(figures.max_logit_change == Approx(2 * ln2));
  const double squares = std::pow(ln2, 2) + std::pow(std::log(1.5), 2) + std::pow(2 * ln2, 2) +
                         std::pow(std::log(1.75), 2);
  CHECK(figures.rms_logit_change == Approx(std::sqrt(squares / 12)));
  CHECK(figures.same_top == Approx(4. / 6));
}

TEST_CASE("a model that is replaced by itself does not differ") {
  Comparison comparison(3);
  for (const double x : {1., 2., 3.})
    add(comparison, {{x, 0, 1}, {0, x, 2}}, {{x, 0, 1}, {0, x, 2}});
  const ComparisonFigures figures = comparison.figures();
  CHECK(figures.difference.mean == 0);
  CHECK(figures.difference.p_value == 1.);
  CHECK(figures.rms_probability_change == 0);
  CHECK(figures.max_kl == 0);
  CHECK(figures.rms_logit_change == 0);
  CHECK(figures.same_top == 1);
}

TEST_CASE("a replaced model without distributions has no figures, the native one keeps its own") {
  Comparison comparison(2);
  add(comparison, {{0, 0}, {0, 0}}, {{not_a_number, not_a_number}, {not_a_number, not_a_number}});
  add(comparison, {{0, 0}, {0, 0}}, {{0, 0}, {0, 0}});
  const ComparisonFigures figures = comparison.figures();
  CHECK(figures.cross_entropy_native == Approx(std::log(2.)));
  for (const double figure :
       {figures.cross_entropy_replaced, figures.difference.mean, figures.difference.p_value.value(),
        figures.rms_probability_change, figures.mean_kl, figures.p99_kl, figures.max_kl,
        figures.max_logit_change, figures.rms_logit_change, figures.same_top}) {
    CHECK(std::isnan(figure));
  }
}

TEST_CASE("a change of probability is seen far below the probability") {
  Comparison comparison(2);
  const NextTokenChange none = next_token_change(std::vector<double>{0, 0}, {{0., 0.}});
  comparison.add_window(std::vector<PairedLoss>{{1e-20, 3e-20}}, std::vector{none});
  CHECK(comparison.figures().rms_probability_change == Approx(2e-20).epsilon(1e-14));
}

TEST_CASE("a comparison of nothing is refused") {
  CHECK_THROWS_AS(Comparison(0), std::invalid_argument);
  Comparison comparison(2);
  CHECK_THROWS_AS(comparison.add_window({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(comparison.figures(), std::logic_error);
}

TEST_CASE("bits per byte") {
  CHECK(bits_per_byte(std::log(2.)) == 1);
  CHECK(bits_per_byte(4 * std::log(2.), 2) == 2);
  CHECK(bits_per_byte(1.2438736273878905) == Approx(1.794530313725076).epsilon(1e-15));
}
