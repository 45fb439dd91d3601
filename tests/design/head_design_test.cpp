// The errors of designs, against plain loops over every pair in 512-bit arithmetic.
#include "ropelab/design/head_design.hpp"

#include <cmath>

#include "catch.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/row_errors.hpp"
#include "ropelab/design/search.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

struct PlainErrors {
  double rounding = 0, total = 0, visible = 0, truncation = 0;
  long long i = 0, j = 0;
  std::uint64_t not_finite = 0;
};

Real simulated(const HeadTask& task, const HeadDesign& design, std::size_t distance) {
  if (design.pairs.empty()) return -task.slope->to_real() * Real(distance) + Real(design.offset);
  Real sum = 0;
  for (const RotatedPair& pair : design.pairs) {
    const Real phase = pair.theta.to_real() * Real(distance);
    const Real q0 = pair.query[0], q1 = pair.query[1], k0 = pair.key[0], k1 = pair.key[1];
    sum += (q0 * k0 + q1 * k1) * cosine(phase) + (q0 * k1 - q1 * k0) * sine(phase);
  }
  return sum / sqrt(Real(task.head_dim));
}

PlainErrors plain(const HeadTask& task, const HeadDesign& design) {
  ScoreTable table = design.pairs.empty()
                         ? factor_table(task.pipeline, step_per_position(task), design.factor_terms,
                                        design.unit_exponent, 0, task.context)
                         : score_table(task.pipeline, design.pairs, 0, task.context);
  const ContentScores scores(task.pipeline, scale_of(task), std::move(table));
  PlainErrors result;
  Real rounding = -1;
  for (std::size_t i = 0; i < task.context; ++i) {
    for (std::size_t j = i - std::min(i, task.window - 1); j <= i; ++j) {
      const Real bias = -task.slope->to_real() * Real(i - j) + Real(design.offset);
      const Real s = simulated(task, design, i - j);
      result.truncation = std::max(result.truncation, to_double(Real(abs(s - bias))));
      const DoubleDouble f = scores.score(i, j);
      if (!std::isfinite(f.high)) {
        ++result.not_finite;
        continue;
      }
      const Real error = abs(to_real(f) - s);
      if (error > rounding) {
        rounding = error;
        result.i = static_cast<long long>(i);
        result.j = static_cast<long long>(j);
      }
      const double total = to_double(Real(abs(to_real(f) - bias)));
      result.total = std::max(result.total, total);
      if (task.slope->to_double() * static_cast<double>(i - j) <= 16 * std::log(2.0)) {
        result.visible = std::max(result.visible, total);
      }
    }
  }
  result.rounding = to_double(rounding);
  return result;
}

void check(const PairErrors& errors, const PlainErrors& expected) {
  REQUIRE(errors.rounding_maximum);
  CHECK(errors.rounding_maximum->error == expected.rounding);
  CHECK(errors.rounding_maximum->i == expected.i);
  CHECK(errors.rounding_maximum->j == expected.j);
  CHECK(errors.total_maximum == expected.total);
  CHECK(errors.visible_maximum == expected.visible);
}

HeadDesign two_pairs() {
  HeadDesign design{.method = Method::multi_pair};
  design.pairs = {{parse_positive("1/300"), {-1000.5, 3}, {0.25, 2}},
                  {parse_positive("1/70"), {40, -7}, {0, 1}}};
  return design;
}

TEST_CASE("the errors of several pairs are those of a plain loop, in every arithmetic") {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64", "float8_e5m2"}) {
    for (const char* pipeline :
         {"ideal-trig", "naive", "fused", "fp32-rope", "fused,accumulation=float32-fma",
          "fused,accumulation=bfloat16", "ideal-trig,scaling=exact"}) {
      const HeadTask task = alibi_task(parse_positive("1/3"), 64, 90, 90,
                                       parse_pipeline(pipeline, find_format(dtype)));
      for (HeadDesign design : {two_pairs(), HeadDesign{.method = Method::rank_two}}) {
        if (design.pairs.empty()) {
          design.factor_terms = 2;
          design.unit_exponent = 3;
        }
        design.offset = 0.5;
        const auto found = measure(task, design);
        const auto expected = plain(task, design);
        INFO(dtype << " " << pipeline << " " << design.pairs.size());
        const PairErrors& errors = found.measurement.errors;
        CHECK(errors.nonfinite_pairs == expected.not_finite);
        CHECK(errors.pairs == 90 * 91 / 2);
        CHECK(found.truncation.maximum == expected.truncation);
        if (expected.not_finite == errors.pairs) continue;
        check(errors, expected);
      }
    }
  }
}

TEST_CASE("one pair is measured by its own kernels, to the same figures") {
  HeadDesign design{.method = Method::single};
  design.pairs = {{parse_positive("1/300"), {-1000, 0}, {0, 2}}};
  for (const char* dtype : {"float16", "float32", "float64"}) {
    const HeadTask task = alibi_task(parse_positive("1/2"), 64, 200, 200,
                                     parse_pipeline("ideal-trig", find_format(dtype)));
    const auto expected = plain(task, design);
    const auto errors = measure(task, design).measurement.errors;
    check(errors, expected);
  }
}

TEST_CASE("scores on both sides of 0, some of them 0, are measured to the same figures") {
  HeadDesign whole{.method = Method::multi_pair};
  for (int copy = 0; copy < 2; ++copy) {
    whole.pairs.push_back({parse_positive("2^-14"), {-128, 0}, {0, 128}});
  }
  for (const char* dtype : {"float16", "bfloat16", "float32"}) {
    const HeadTask task = alibi_task(parse_positive("1/4"), 64, 200, 200,
                                     parse_pipeline("fused", find_format(dtype)));
    const HeadDesign design = moved_apart(task, whole);
    const ContentScores scores(task.pipeline, scale_of(task),
                               score_table(task.pipeline, design.pairs, 0, task.context));
    int zeros = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      for (std::size_t j = 0; j <= i; ++j) zeros += scores.score(i, j) == DoubleDouble{0, 0};
    }
    INFO(dtype << " " << zeros);
    if (task.pipeline[StepName::storage]->precision < 24) CHECK(zeros > 0);
    const auto expected = plain(task, design);
    const auto errors = measure(task, design).measurement.errors;
    check(errors, expected);
  }
}

TEST_CASE("errors of rows are those of all pairs, and stop where they are enough") {
  const HeadTask task = alibi_task(parse_positive("1/3"), 64, 2500, 2000,
                                   parse_pipeline("fused", find_format("bfloat16")));
  HeadDesign design = two_pairs();
  design.pairs[0].theta = parse_positive("1/90000");
  design.offset = 0.5;
  REQUIRE(come_by_rows(task, Objective::total));
  const RowErrors rows(task, Objective::total, design.offset);
  const ScoreRows scores = rows.scores(score_table(task.pipeline, design.pairs, 0, task.context));
  const auto all = rows.of_all(scores, false, 1e9, {});
  CHECK(all.queries == 2500);
  const double largest = measure(task, design).measurement.errors.total_maximum.value();
  CHECK(all.errors.largest() == Approx(largest).epsilon(1e-12));
  CHECK(rows.of_queries(scores, spread_queries(task, 2500), false, 1e9).errors.least ==
        all.errors.least);
  for (const std::size_t query : {all.errors.query_of_least, all.errors.query_of_greatest}) {
    ErrorRange of_query;
    rows.add_query(scores, query, of_query);
    CHECK((of_query.least == all.errors.least || of_query.greatest == all.errors.greatest));
  }
  const auto enough = rows.of_all(scores, true, largest / 100, {});
  CHECK(enough.queries < 2500);
  CHECK(enough.errors.half_width() > largest / 100);
  CHECK(rows.of_queries(scores, {2400, 10}, false, largest / 100).queries == 1);
}

TEST_CASE("native: what rounding the bias costs") {
  const HeadTask task = alibi_task(parse_positive("1/3"), 64, 3000, 3000,
                                   parse_pipeline("naive", find_format("bfloat16")));
  HeadDesign design{.method = Method::native};
  double greatest = 0;
  for (int d = 0; d < 3000; ++d) {
    const double rounded = round_to(find_format("bfloat16"), Rational(-d, 3));
    greatest = std::max(greatest, std::fabs(rounded + d / 3.0));
  }
  const auto found = measure(task, design);
  CHECK(std::fabs(*found.measurement.errors.total_maximum - greatest) < 1e-12);
  CHECK(found.truncation.maximum == 0);
}

TEST_CASE("a window leaves out the pairs beyond it, of one rotated pair and of several") {
  HeadDesign one{.method = Method::single};
  one.pairs = {{parse_positive("1/300"), {-1000, 0}, {0, 2}}};
  for (const std::size_t window : std::vector<std::size_t>{1, 2, 64, 65, 130}) {
    const HeadTask task = alibi_task(parse_positive("1/3"), 64, 130, window,
                                     parse_pipeline("naive", find_format("bfloat16")));
    for (const HeadDesign& design : {one, two_pairs()}) {
      INFO("window " << window << ", pairs " << design.pairs.size());
      const auto expected = plain(task, design);
      const DesignErrors found = measure(task, design);
      const PairErrors& errors = found.measurement.errors;
      CHECK(errors.pairs == window * 130 - window * (window - 1) / 2);
      CHECK(errors.nonfinite_pairs == expected.not_finite);
      CHECK(found.truncation.maximum == expected.truncation);
      check(errors, expected);
    }
  }
}

TEST_CASE("native: a window leaves out the pairs beyond it") {
  const HeadTask task = alibi_task(parse_positive("1/3"), 64, 100, 10,
                                   parse_pipeline("naive", find_format("bfloat16")));
  const auto errors = measure(task, {.method = Method::native}).measurement.errors;
  CHECK(errors.pairs == 955);
  CHECK(errors.order_lost == 0);
}

}  // namespace
}  // namespace ropelab
