// Designs of biases that are no slope: what is measured of them, against a plain loop over every
// pair in 512-bit arithmetic, and what searches find where the answer is known.
#include <cmath>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/design/search.hpp"
#include "ropelab/design/wave_fit.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

HeadTask fit_task(const RelativeBias& bias, std::size_t context,
                  const char* pipeline = "ideal-trig", const char* dtype = "float64",
                  std::size_t window = 0) {
  return task_of_bias(bias, 64, context, window == 0 ? context : window,
                      parse_pipeline(pipeline, find_format(dtype)));
}

RelativeBias one_sided_table() {
  std::vector<Rational> behind, ahead;
  for (int d = 0; d < 40; ++d) {
    behind.emplace_back(-d, 3);
    ahead.emplace_back(-d * d, 20);
  }
  return table_bias(behind, ahead);
}

// Over both sides, by the definitions.
struct PlainFit {
  double rounding = -1, total = 0, visible = 0, truncation = 0;
  Real rounding_squares = 0, total_squares = 0, truncation_squares = 0;
  std::uint64_t pairs = 0, not_finite = 0;

  PlainFit(const HeadTask& task, const HeadDesign& design) {
    const ContentScores scores(task.pipeline, scale_of(task),
                               score_table(task.pipeline, design.pairs, 0, task.context));
    for (std::size_t i = 0; i < task.context; ++i) {
      for (std::size_t j = 0; j < task.context; ++j) {
        const std::size_t size = i > j ? i - j : j - i;
        if (size >= task.window) continue;
        look_at(task, design, Real(i) - Real(j), (j > i ? *task.ahead : task.bias).exact(size),
                (j > i ? *task.ahead : task.bias).exact(0), scores.score(i, j));
      }
    }
  }

  void look_at(const HeadTask& task, const HeadDesign& design, const Real& distance,
               const Real& bias, const Real& nearest, DoubleDouble f) {
    ++pairs;
    Real s = 0;
    for (const RotatedPair& pair : design.pairs) {
      const Real phase = pair.theta.to_real() * distance;
      const Real q0 = pair.query[0], q1 = pair.query[1], k0 = pair.key[0], k1 = pair.key[1];
      const Real turn = distance < 0 ? Real(-sine(-phase)) : sine(phase);
      s += (q0 * k0 + q1 * k1) * cosine(abs(phase)) + (q0 * k1 - q1 * k0) * turn;
    }
    s = s / sqrt(Real(task.head_dim)) - Real(design.offset);
    const Real lost = s - bias;
    truncation = std::max(truncation, to_double(Real(abs(lost))));
    truncation_squares += lost * lost;
    if (!std::isfinite(f.high)) {
      ++not_finite;
      return;
    }
    const Real rounded = to_real(f) - Real(design.offset) - s;
    const Real wrong = to_real(f) - Real(design.offset) - bias;
    rounding = std::max(rounding, to_double(Real(abs(rounded))));
    total = std::max(total, to_double(Real(abs(wrong))));
    if (bias >= nearest - 16 * ln2()) visible = std::max(visible, to_double(Real(abs(wrong))));
    rounding_squares += rounded * rounded;
    total_squares += wrong * wrong;
  }

  double rms(const Real& squares, std::uint64_t count) const {
    return to_double(Real(sqrt(squares / Real(count))));
  }
};

void check_close(double a, double b) { CHECK(std::fabs(a - b) <= 1e-12 * std::fabs(b)); }

TEST_CASE("pairs with keys ahead are measured as a plain loop over both sides measures them") {
  HeadDesign several{.method = Method::multi_pair};
  several.pairs = {{parse_positive("1/300"), {-1000.5, 3}, {0.25, 2}},
                   {parse_positive("1/70"), {40, -7}, {0, 1}}};
  HeadDesign one{.method = Method::multi_pair};
  one.pairs = {{parse_positive("1/9"), {-3, 20}, {1, 0.5}}};
  for (const std::size_t window : {std::size_t{40}, std::size_t{17}}) {
    for (const char* dtype : {"float16", "bfloat16", "float32", "float64", "float8_e5m2"}) {
      for (const char* pipeline : {"ideal-trig", "naive", "fused", "exact"}) {
        for (HeadDesign design : {several, one}) {
          design.offset = 0.5;
          const HeadTask task = fit_task(one_sided_table(), 40, pipeline, dtype, window);
          const PlainFit expected(task, design);
          const DesignErrors found = measure(task, design);
          const PairErrors& errors = found.measurement.errors;
          INFO(window << " " << dtype << " " << pipeline << " " << design.pairs.size());
          CHECK(errors.pairs == expected.pairs);
          CHECK(errors.nonfinite_pairs == expected.not_finite);
          check_close(found.truncation.maximum, expected.truncation);
          check_close(found.truncation.rms,
                      expected.rms(expected.truncation_squares, expected.pairs));
          if (expected.not_finite == expected.pairs) continue;
          const std::uint64_t finite = expected.pairs - expected.not_finite;
          check_close(*errors.total_maximum, expected.total);
          check_close(*errors.visible_maximum, expected.visible);
          check_close(*errors.total_rms, expected.rms(expected.total_squares, finite));
          if (expected.rounding < 1e-20) continue;  // of exact steps, what a hundred bits leave
          check_close(errors.rounding_maximum->error, expected.rounding);
          check_close(*errors.rounding_rms, expected.rms(expected.rounding_squares, finite));
        }
      }
    }
  }
}

TEST_CASE("the largest rounding error of keys ahead stands where it is") {
  // Behind, nothing rotates visibly; ahead the bias is the same, so only i and j differ.
  HeadDesign design{.method = Method::multi_pair};
  design.pairs = {{parse_positive("1/7"), {1000, 3}, {0.5, 2}}};
  const HeadTask task = fit_task(one_sided_table(), 40, "fused", "float16");
  const LargestError largest = *measure(task, design).measurement.errors.rounding_maximum;
  const ContentScores scores(task.pipeline, scale_of(task),
                             score_table(task.pipeline, design.pairs, 0, task.context));
  const auto i = static_cast<std::size_t>(largest.i), j = static_cast<std::size_t>(largest.j);
  const Real phase = design.pairs[0].theta.to_real() * (Real(largest.i) - Real(largest.j));
  const Real sine_part =
      (1000 * Real(2) - 3 * Real(0.5)) * (phase < 0 ? Real(-sine(-phase)) : sine(phase));
  const Real s = ((1000 * Real(0.5) + 3 * Real(2)) * cosine(abs(phase)) + sine_part) / 8;
  check_close(to_double(Real(abs(to_real(scores.score(i, j)) - s))), largest.error);
}

TEST_CASE("what is visible is told by the weights, on each side by its own") {
  const HeadTask task = fit_task(one_sided_table(), 40);
  CHECK(task.visible == 33);        // 11.09 logits at a third each
  CHECK(task.visible_ahead == 14);  // d^2/20
  CHECK_FALSE(task.is_even);
  const HeadTask even = fit_task(kerple_log_bias(4, 1, true, 60), 60);
  CHECK(even.is_even);
  CHECK(even.visible == 15);  // (1 + d)^4 <= 2^16
  CHECK(even.visible_ahead == 15);
}

Found searched_fit(Method method, const HeadTask& task, SearchOptions options) {
  const auto found = DesignSearch(std::move(options)).best({method}, {task});
  REQUIRE(found.size() == 1);
  return found.front();
}

SearchOptions for_truncation(int most_pairs) {
  SearchOptions options;
  options.objective = Objective::truncation;
  options.most_pairs = most_pairs;
  return options;
}

TEST_CASE("on its own grid a sinusoidal bias is exact") {
  const FrequencyGrid grid(Rational(10000), 16);
  for (const bool bidirectional : {false, true}) {
    SearchOptions options = for_truncation(8);
    for (int r = 0; r < 8; ++r) options.grid.push_back(grid.theta(r));
    const HeadTask task = fit_task(sinusoidal_bias(grid, bidirectional, 200), 200);
    const Found found = searched_fit(Method::grid, task, options);
    CHECK(found.design.pairs.size() == 8);
    CHECK(found.errors.truncation.maximum < 1e-13);
    // With half of the frequencies it is not.
    options.most_pairs = 4;
    CHECK(searched_fit(Method::grid, task, options).errors.truncation.maximum > 0.01);
  }
}

double sine_part(const RotatedPair& pair) {
  return pair.query[0] * pair.key[1] - pair.query[1] * pair.key[0];
}

TEST_CASE("an even bias takes cosines alone, another one sines as well") {
  const auto sines = [](const HeadTask& task) {
    double greatest = 0, all = 0;
    for (const RotatedPair& pair :
         searched_fit(Method::multi_pair, task, for_truncation(3)).design.pairs) {
      greatest = std::max(greatest, std::fabs(sine_part(pair)));
      all = std::max(all, std::fabs(pair.query[0] * pair.key[0] + pair.query[1] * pair.key[1]));
    }
    return greatest / all;
  };
  CHECK(sines(fit_task(alibi_bias(parse_positive("1/4"), true), 60)) < 1e-14);
  CHECK(sines(fit_task(one_sided_table(), 40)) > 1e-3);
}

TEST_CASE("a bias of both sides that is not even is fitted on both") {
  // cos and sin of one frequency: one pair is all it takes.
  const double theta = 0x1p-5;
  std::vector<Rational> behind, ahead;
  for (int d = 0; d < 80; ++d) {
    behind.push_back(to_rational(std::cos(d * theta) - 2 * std::sin(d * theta)));
    ahead.push_back(to_rational(std::cos(d * theta) + 2 * std::sin(d * theta)));
  }
  SearchOptions options = for_truncation(1);
  options.grid = {parse_positive("2^-5")};
  const HeadTask task = fit_task(table_bias(behind, ahead), 80);
  CHECK(searched_fit(Method::grid, task, options).errors.truncation.maximum < 1e-14);
  // With sines of the wrong sign ahead, no fit of that frequency could be.
  const HeadTask other = fit_task(table_bias(behind, behind), 80);
  CHECK(searched_fit(Method::grid, other, options).errors.truncation.maximum > 0.5);
}

TEST_CASE("a constant is its offset, in every format") {
  const RelativeBias bias =
      t5_bias({32, 128, true}, std::vector<Rational>(32, Rational(7, 3)), 100);
  for (const char* dtype : {"float16", "float32"}) {
    const Found found = searched_fit(Method::multi_pair, fit_task(bias, 100, "fused", dtype), {});
    CHECK(found.errors.measurement.errors.total_maximum < 1e-15);
    CHECK(std::fabs(found.design.offset + 7 / 3.0) < 1e-15);
    for (const RotatedPair& pair : found.design.pairs) {
      CHECK(pair.query == std::array<double, 2>{0, 0});
    }
  }
}

TEST_CASE("more pairs are no worse, and one is the best of all frequencies that a scan tries") {
  const HeadTask task = fit_task(kerple_log_bias(1, 1, true, 150), 150);
  double before = 1e9;
  for (int pairs = 1; pairs <= 4; ++pairs) {
    const double value =
        searched_fit(Method::multi_pair, task, for_truncation(pairs)).errors.truncation.maximum;
    CHECK(value <= before);
    before = value;
  }
  std::vector<double> distances;
  Eigen::VectorXd target(150);
  for (int d = 0; d < 150; ++d) {
    distances.push_back(d);
    target[d] = -std::log1p(d);
  }
  double least = 1e9;
  for (int n = 0; n < 400; ++n) {
    const double theta = 1e-3 * std::pow(3000, n / 399.0);
    const WaveFit fit(distances, target,
                      {{Wave::Kind::cosine, theta, 0}, {Wave::Kind::constant, 0, 0}});
    least = std::min(least, fit.fit().largest_error);
  }
  const double found =
      searched_fit(Method::multi_pair, task, for_truncation(1)).errors.truncation.maximum;
  CHECK(found <= 1.01 * least);
}

TEST_CASE("what needs a slope is refused for other biases") {
  const HeadTask task = fit_task(kerple_log_bias(1, 1, false, 50), 50);
  for (const Method method : {Method::single, Method::dyadic, Method::rank_two}) {
    CHECK_THROWS_AS(DesignSearch({}).best({method}, {task}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace ropelab
