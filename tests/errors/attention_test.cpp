// Attention measured: against scores and weights in reals, the error table, and itself.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <tbb/global_control.h>

#include "catch.hpp"
#include "errors/attention_judge.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/attention.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

constexpr AddedBias all_biases_list[] = {AddedBias::exact, AddedBias::native, AddedBias::native_key,
                                         AddedBias::pair};
const std::vector<AddedBias> all_biases(std::begin(all_biases_list), std::end(all_biases_list));

Construction attention_construction(const std::string& phase, long long context, int head,
                                    long long head_dim = 64) {
  return {parse_positive(phase) / Algebraic(context), alibi_slope(16, head), head_dim, {}};
}

std::vector<std::size_t> rows_up_to(std::size_t context) {
  std::vector<std::size_t> rows(context);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// One setting of the plain computation in reals: pipeline ideal-trig, in which position, theta and
// phase are exact and every other step is in T.
struct AttentionJudge {
  Construction construction;
  Format t;
  NativeAddition addition;
  long long first_position;
  ContentRow content;

  double rounded(const Real& x) const { return round_to(t, x); }
  Real position(std::size_t row) const {
    return Real(first_position + static_cast<long long>(row));
  }
  Real root() const { return sqrt(Real(construction.head_dim)); }

  Real exact(std::size_t i, std::size_t j) const {
    return Real(content(i)[j]) - construction.slope.to_real() * Real(i - j);
  }

  Real native(std::size_t i, std::size_t j, const Real& positions) const {
    const Real c(content(i)[j]), m = construction.slope.to_real();
    if (addition == NativeAddition::after_scaling) return rounded(c + rounded(m * positions));
    const double sum = rounded(c * root() + rounded(m * root() * positions));
    return rounded(Real(sum) * rounded(1 / root()));
  }

  Real pair(std::size_t i, std::size_t j) const {
    const Real theta = construction.theta.to_real();
    const double n = rounded(construction.slope.to_real() * root() / theta);
    const Real cosine_i(rounded(cosine(theta * position(i))));
    const Real sine_i(rounded(sine(theta * position(i))));
    const Real cosine_j(rounded(cosine(theta * position(j))));
    const Real sine_j(rounded(sine(theta * position(j))));
    const Real first = Real(rounded(-n * cosine_i)) * -sine_j;
    const Real second = Real(rounded(-n * sine_i)) * cosine_j;
    Real sum = rounded(Real(content(i)[j]) * root());
    sum = rounded(sum + rounded(first));
    sum = rounded(sum + rounded(second));
    return rounded(sum * rounded(1 / root()));
  }

  Real score(AddedBias bias, std::size_t i, std::size_t j) const {
    switch (bias) {
      case AddedBias::native:
        return native(i, j, -Real(i - j));
      case AddedBias::native_key:
        return native(i, j, position(j));
      case AddedBias::pair:
        return pair(i, j);
      default:
        return exact(i, j);
    }
  }

  std::vector<Real> by_distance(AddedBias bias, std::size_t i) const {
    std::vector<Real> scores;
    for (std::size_t d = 0; d <= i; ++d) scores.push_back(score(bias, i, i - d));
    return scores;
  }
};

void check_close(double value, const Real& expected) {
  CHECK(value == Approx(to_double(expected)).epsilon(1e-10).margin(1e-30));
}

void check_attention_against_reals(const AttentionJudge& judge,
                                   const std::vector<std::size_t>& rows, std::size_t context) {
  const DistanceReference reference(judge.construction, context);
  const auto measured =
      measure_attention({reference, parse_pipeline("ideal-trig", judge.t), judge.t, judge.addition,
                         judge.first_position, judge.content},
                        all_biases, rows);
  REQUIRE(measured.size() == all_biases.size());
  const Real count(rows.size());
  for (std::size_t b = 0; b < all_biases.size(); ++b) {
    CAPTURE(judge.t.name, added_bias_names[b]);
    JudgedChange change;
    JudgedStatistics statistics;
    Real distance = 0;
    for (const std::size_t i : rows) {
      const auto exact = judge.by_distance(AddedBias::exact, i);
      const auto scores = judge.by_distance(all_biases[b], i);
      const JudgedChange c = judged_change(exact, scores);
      const JudgedStatistics s = judged_statistics(scores);
      change.total_variation += c.total_variation / count;
      change.divergence += c.divergence / count;
      change.largest = std::max(change.largest, c.largest);
      statistics.entropy += s.entropy / count;
      statistics.greatest += s.greatest / count;
      statistics.variance += s.variance / count;
      distance += Real(s.half_distance) / count;
    }
    REQUIRE(measured[b].has_value());
    check_close(measured[b]->total_variation, change.total_variation);
    check_close(measured[b]->divergence, change.divergence);
    check_close(measured[b]->largest_change, change.largest);
    check_close(measured[b]->entropy, statistics.entropy);
    check_close(measured[b]->greatest, statistics.greatest);
    check_close(measured[b]->variance, statistics.variance);
    check_close(measured[b]->half_distance, distance);
  }
  CHECK(measured[0]->total_variation == 0);
  CHECK(measured[0]->divergence == 0);
  CHECK(measured[0]->largest_change == 0);
  CHECK(measured[3]->divergence > 0);
}

std::vector<std::optional<AttentionFigures>> pair_figures(const DistanceReference& reference,
                                                          const Pipeline& pipeline,
                                                          const ContentRow& content,
                                                          const std::vector<std::size_t>& rows) {
  return measure_attention(
      {reference, pipeline, float32_format(), NativeAddition::after_scaling, 0, content},
      {AddedBias::pair}, rows);
}

}  // namespace

TEST_CASE("attention is that of scores and weights computed in reals") {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64", "float8_e5m2"}) {
    for (const NativeAddition addition :
         {NativeAddition::after_scaling, NativeAddition::before_scaling}) {
      check_attention_against_reals({attention_construction("1", 24, 6, 48), find_format(dtype),
                                     addition, 5, random_content(1.5, 3)},
                                    {0, 1, 9, 23}, 24);
    }
  }
}

TEST_CASE("without content the last query's weights change as the error table says") {
  const std::size_t context = 300;
  const DistanceReference reference(attention_construction("0.1", context, 4), context);
  for (const char* name :
       {"ideal-trig", "naive", "fp32-rope", "fused", "exact", "fused,accumulation=float32-fma"}) {
    CAPTURE(name);
    const Pipeline pipeline = parse_pipeline(name, find_format("bfloat16"));
    const auto figures = pair_figures(reference, pipeline, random_content(0, 1), {context - 1});
    CHECK(figures[0]->total_variation ==
          measure_all_pairs(pipeline, reference, 0).weights_total_variation);
  }
}

TEST_CASE("among components the last query's weights change as the error table says") {
  const std::size_t context = 70;
  const DistanceReference reference(attention_construction("0.1", context, 4, 16), context);
  const Pipeline pipeline = parse_pipeline("fused", find_format("bfloat16"));
  const Content content{7, PairPlace::halves};
  const auto figures = measure_attention(
      {reference, pipeline, find_format("bfloat16"), NativeAddition::after_scaling, 2, content},
      all_biases, {context - 1});
  const Measurement measured = measure_all_pairs_among_content(pipeline, reference, 2, content, {});
  CHECK(figures[0]->total_variation == 0);
  CHECK(figures[3]->total_variation == measured.weights_total_variation);
  const Pipeline exact = parse_pipeline("exact", float32_format());
  const auto truncated = measure_attention(
      {reference, exact, float32_format(), NativeAddition::after_scaling, 2, content},
      {AddedBias::pair}, {context - 1});
  CHECK(truncated[0]->total_variation ==
        measure_all_pairs_among_content(exact, reference, 2, content, {})
            .exact_weights_total_variation);
}

TEST_CASE("where the first position is does not matter to bias by distance, but to bias by key") {
  const DistanceReference reference(attention_construction("0.1", 50, 2), 50);
  const auto figures_from = [&](long long first, AddedBias bias) {
    return *measure_attention(
        {reference, parse_pipeline("fused", find_format("bfloat16")), find_format("bfloat16"),
         NativeAddition::after_scaling, first, random_content(1, 1)},
        {bias}, rows_up_to(50))[0];
  };
  CHECK(figures_from(0, AddedBias::native).divergence ==
        figures_from(1000, AddedBias::native).divergence);
  CHECK(figures_from(1000, AddedBias::native_key).divergence >
        10 * figures_from(0, AddedBias::native_key).divergence);
}

TEST_CASE("only a bias whose scores overflow has no figures") {
  const Format float16 = find_format("float16");
  const DistanceReference reference(attention_construction("0.1", 4096, 1), 4096);
  const auto figures = measure_attention({reference, parse_pipeline("ideal-trig", float16), float16,
                                          NativeAddition::after_scaling, 0, random_content(1, 1)},
                                         all_biases, {0, 100});
  CHECK(figures[0].has_value());
  CHECK(figures[1].has_value());
  CHECK(!figures[3].has_value());  // N is infinite
  const ContentRow huge = [](std::size_t row) { return std::vector<double>(row + 1, 1e5); };
  const auto beyond = measure_attention({reference, parse_pipeline("exact", float16), float16,
                                         NativeAddition::after_scaling, 0, huge},
                                        all_biases, {0, 100});
  CHECK(beyond[0].has_value());
  CHECK(!beyond[1].has_value());
  CHECK(beyond[3].has_value());
}

TEST_CASE("figures of attention do not depend on threads") {
  const DistanceReference reference(attention_construction("0.1", 200, 3), 200);
  const Pipeline pipeline = parse_pipeline("naive", find_format("bfloat16"));
  const auto figures = [&] {
    return *pair_figures(reference, pipeline, random_content(1, 9), rows_up_to(200))[0];
  };
  const AttentionFigures many = figures();
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const AttentionFigures alone = figures();
  CHECK(many.divergence == alone.divergence);
  CHECK(many.entropy == alone.entropy);
  CHECK(many.variance == alone.variance);
}

TEST_CASE("sampled rows are spread over the context and hold the last") {
  for (const auto& [context, count] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {1, 64}, {64, 64}, {65, 64}, {1000, 64}, {1000, 1}, {1000, 3}}) {
    CAPTURE(context, count);
    const auto rows = sample_rows(context, count, 1);
    REQUIRE(rows.size() == std::min(context, count));
    CHECK(rows.back() == context - 1);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      CHECK(rows[n] >= n * context / rows.size());
      CHECK(rows[n] < (n + 1) * context / rows.size());
    }
  }
  CHECK(sample_rows(1000, 64, 1) != sample_rows(1000, 64, 2));
  CHECK(sample_rows(1000, 2000, 1) == rows_up_to(1000));
}

TEST_CASE("random content has mean 0 and its standard deviation, and depends on seed and row") {
  const std::vector<double> scores = random_content(2.5, 1)(99999);
  REQUIRE(scores.size() == 100000);
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / 1e5;
  double squares = 0;
  for (const double score : scores) squares += score * score;
  CHECK(std::abs(mean) < 4 * 2.5 / std::sqrt(1e5));
  CHECK(std::sqrt(squares / 1e5) == Approx(2.5).epsilon(0.01));
  CHECK(random_content(1, 1)(5) != random_content(1, 2)(5));
  CHECK(random_content(1, 1)(5)[0] != random_content(1, 1)(6)[0]);
  CHECK(random_content(0, 1)(5) == std::vector<double>(6, 0));
}

}  // namespace ropelab
