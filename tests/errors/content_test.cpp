// Scores among content: the kernels against the plain definition, the measures against sums of
// reals over all pairs, and the bound.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>

#include <tbb/global_control.h>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/bound.hpp"
#include "ropelab/errors/content_diagonals.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

Construction content_construction(const std::string& phase, std::size_t context,
                                  long long head_dim = 64) {
  return {parse_positive(phase) / Algebraic(static_cast<long long>(context)),
          alibi_slope(16, 1),
          head_dim,
          {}};
}

// The share of a diagonal, pair by pair: tiles begin at multiples of 64, sums run in 8 lanes.
kernel::Share plain_share(const ContentScores& scores, std::size_t d, DoubleDouble center) {
  kernel::Share share;
  for (std::size_t tile = d / 64 * 64; tile < scores.size(); tile += 64) {
    double sum[8] = {}, squares[8] = {};
    for (std::size_t i = std::max(tile, d); i < std::min(tile + 64, scores.size()); ++i) {
      const DoubleDouble f = scores.score(i, i - d);
      if (d > 0 && !(f < scores.score(i, i - d + 1))) ++share.lost;
      if (!std::isfinite(f.high)) {
        ++share.not_finite;
        continue;
      }
      const double x = deviation(f, scores.content_score(i, i - d), center);
      share.least = std::min(share.least, x);
      share.greatest = std::max(share.greatest, x);
      sum[i % 8] += x;
      squares[i % 8] += x * x;
    }
    double of_sum = 0, of_squares = 0;
    for (const double x : sum) of_sum += x;
    for (const double x : squares) of_squares += x;
    share.sum += of_sum;
    share.sum_of_squares += of_squares;
  }
  return share;
}

bool same(const kernel::Share& a, const kernel::Share& b) {
  return a.sum == b.sum && a.sum_of_squares == b.sum_of_squares && a.least == b.least &&
         a.greatest == b.greatest && a.lost == b.lost && a.not_finite == b.not_finite;
}

void check_tiles_against_plain(const Pipeline& pipeline, const Construction& construction,
                               std::size_t context, PairPlace place) {
  const DistanceReference reference(construction, context);
  const ContentScores scores(pipeline, construction, 3, context, {7, place});
  const auto shares = measure_deviations(scores, reference.simulated());
  REQUIRE(shares.size() == context);
  int wrong = 0;
  for (std::size_t d = 0; d < context; ++d) {
    if (!same(shares[d], plain_share(scores, d, reference.simulated()[d]))) ++wrong;
  }
  INFO(pipeline.name << " context " << context << " place " << static_cast<int>(place));
  CHECK(wrong == 0);
}

constexpr PairPlace content_places[] = {PairPlace::first, PairPlace::last, PairPlace::halves};

const std::vector<std::string> content_pipelines = {
    "ideal-trig",
    "naive",
    "fused",
    "fused,accumulation=float32-fma",
    "fused,accumulation=float32-fma,scaling=float64",
    "naive,accumulation=float32,scaling=float64",
    "ideal-trig,accumulation=float64,scaling=float32",
    "ideal-trig,storage=float64,accumulation=bfloat16",
    "ideal-trig,storage=float8_e5m2,accumulation=float16"};

TEST_CASE("content kernels agree with the plain definition in every format and pipeline") {
  for (const Format& dtype : all_formats()) {
    for (const std::string& name : content_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      check_tiles_against_plain(pipeline, content_construction("0.3", 70, 6), 70,
                                PairPlace::halves);
      check_tiles_against_plain(pipeline, content_construction("0.01", 66, 16), 66,
                                PairPlace::last);
    }
  }
}

TEST_CASE("content kernels agree with the plain definition at every context from 1 to 65") {
  std::size_t turn = 0;
  for (std::size_t context = 1; context <= 65; ++context) {
    for (const auto* dtype : {"float16", "float32", "float64"}) {
      check_tiles_against_plain(parse_pipeline("naive", find_format(dtype)),
                                content_construction("1", context, 4), context,
                                content_places[turn++ % 3]);
    }
  }
}

TEST_CASE("content kernels agree with the plain definition across the ends of tiles") {
  for (const std::size_t context : {127u, 128u, 129u, 193u, 200u}) {
    for (const PairPlace place : content_places) {
      check_tiles_against_plain(parse_pipeline("fused", find_format("bfloat16")),
                                content_construction("0.1", context, 8), context, place);
    }
  }
}

TEST_CASE("content kernels agree with the plain definition at any head dimension") {
  // From 210 on, sums of content need two doubles; 1, 2 and 80 have roots of every kind.
  for (const long long head_dim : {1LL, 2LL, 80LL, 210LL, 256LL}) {
    for (const auto* dtype : {"float8_e4m3fn", "bfloat16", "float32", "float64"}) {
      check_tiles_against_plain(parse_pipeline("ideal-trig", find_format(dtype)),
                                content_construction("0.1", 40, head_dim), 40, PairPlace::last);
    }
  }
}

TEST_CASE("content kernels treat infinite, NaN and huge scores as the plain definition does") {
  for (const char* phase : {"1e-5", "1e-3", "1e-37", "1e-40", "3"}) {
    for (const Format& dtype : all_formats()) {
      for (const char* name : {"ideal-trig", "ideal-trig,accumulation=float32-fma"}) {
        const Construction construction = content_construction(phase, 40, 4);
        check_tiles_against_plain(parse_pipeline(name, dtype), construction, 40, PairPlace::halves);
        check_tiles_against_plain(parse_pipeline(name, saturating(dtype)), construction, 40,
                                  PairPlace::first);
      }
    }
  }
}

TEST_CASE("a pipeline that no content kernel knows takes the plain definition") {
  for (const char* name : {"ideal-trig,storage=exact", "ideal-trig,accumulation=exact"}) {
    check_tiles_against_plain(parse_pipeline(name, find_format("float32")),
                              content_construction("0.1", 20, 4), 20, PairPlace::halves);
  }
}

TEST_CASE("no figure among content depends on the instruction set or on the number of threads") {
  const std::size_t context = 150;
  const Construction construction = content_construction("0.1", context, 20);
  const DistanceReference reference(construction, context);
  for (const Format& dtype : all_formats()) {
    for (const char* name : {"naive", "fused,accumulation=float32-fma"}) {
      const ContentScores scores(parse_pipeline(name, dtype), construction, 0, context,
                                 {1, PairPlace::halves});
      std::vector<std::vector<kernel::Share>> runs;
      for (const auto set : {InstructionSet::scalar, InstructionSet::sse4, InstructionSet::avx2,
                             InstructionSet::best}) {
        for (const std::size_t threads : {1u, 2u}) {
          const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
          use_instruction_set(set);
          runs.push_back(measure_deviations(scores, reference.simulated()));
        }
      }
      use_instruction_set(InstructionSet::best);
      for (const auto& run : runs) {
        CHECK(std::equal(run.begin(), run.end(), runs.front().begin(), same));
      }
    }
  }
}

TEST_CASE("measurements tell the share that is done, and it changes no figure") {
  const std::size_t context = 300;
  const Construction construction = content_construction("0.1", context, 4);
  const DistanceReference reference(construction, context);
  const Content content{1, PairPlace::last};
  for (const char* name : {"naive", "naive,accumulation=float64", "naive,accumulation=exact"}) {
    const Pipeline pipeline = parse_pipeline(name, float32_format());
    std::mutex telling;
    std::vector<double> shares;
    const ShareObserver observer = [&](double share) {
      const std::lock_guard lock(telling);
      shares.push_back(share);
    };
    const Interruption watched = Interruption().watched_by(observer);
    const auto check_shares = [&](std::size_t count) {
      std::sort(shares.begin(), shares.end());
      INFO(name);
      REQUIRE(shares.size() == count);
      CHECK(shares.front() > 0);
      CHECK(std::adjacent_find(shares.begin(), shares.end()) == shares.end());
      CHECK(shares.back() == 1);
      shares.clear();
    };
    const auto all = measure_all_pairs(pipeline, reference, 0, watched).errors;
    check_shares(5);  // blocks of 64 diagonals
    CHECK(all.rounding_rms == measure_all_pairs(pipeline, reference, 0).errors.rounding_rms);
    const auto among = measure_all_pairs_among_content(pipeline, reference, 0, content, watched);
    check_shares(15);  // tiles of 64 queries on them
    CHECK(among.errors.rounding_rms ==
          measure_all_pairs_among_content(pipeline, reference, 0, content).errors.rounding_rms);
    measure_sampled_pairs(pipeline, reference, 0, 3000, 1, watched);
    CHECK(!shares.empty());
    CHECK(*std::max_element(shares.begin(), shares.end()) == 1);
  }
}

// The error measures by sums of reals over all pairs.
struct ExactMeasures {
  Real rounding = 0, total = 0, rounding_squares = 0, total_squares = 0;
  long long i = 0, j = 0;
};

ExactMeasures exact_measures(const ContentScores& scores, const DistanceReference& reference) {
  ExactMeasures all;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Real f = to_real(scores.score(i, j)) - scores.exact_content_score(i, j);
      const Real rounding = abs(f - reference.exact_simulated(i - j));
      const Real total = abs(f - reference.exact_bias(i - j));
      all.rounding_squares += rounding * rounding;
      all.total_squares += total * total;
      all.total = std::max(all.total, total);
      if (rounding > all.rounding) {
        all.rounding = rounding;
        all.i = static_cast<long long>(i);
        all.j = static_cast<long long>(j);
      }
    }
  }
  return all;
}

TEST_CASE("errors among content are those of reals") {
  const std::size_t context = 90;
  for (const Format& dtype : all_formats()) {
    for (const auto* name : {"ideal-trig", "fused"}) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      const Construction construction = content_construction("0.9", context, 10);
      const DistanceReference reference(construction, context);
      const Content content{5, PairPlace::halves};
      const auto errors = measure_all_pairs_among_content(pipeline, reference, 0, content).errors;
      if (errors.nonfinite_pairs > 0) continue;
      const ContentScores scores(pipeline, construction, 0, context, content);
      const ExactMeasures exact = exact_measures(scores, reference);
      const Real pairs = context * (context + 1) / 2;
      INFO(dtype.name << " " << name);
      CHECK(errors.rounding_maximum->error == to_double(exact.rounding));
      CHECK(errors.rounding_maximum->i == exact.i);
      CHECK(errors.rounding_maximum->j == exact.j);
      CHECK(*errors.total_maximum == to_double(exact.total));
      CHECK(*errors.rounding_rms ==
            Approx(to_double(Real(sqrt(exact.rounding_squares / pairs)))).epsilon(1e-12));
      CHECK(*errors.total_rms ==
            Approx(to_double(Real(sqrt(exact.total_squares / pairs)))).epsilon(1e-12));
    }
  }
}

TEST_CASE(
    "rms errors among content hold where scores are nearer to B than to S, or to S than to B") {
  struct Case {
    const char *theta, *slope, *dtype, *pipeline;
    std::size_t context;
    long long head_dim;
  };
  for (const Case& of : {Case{"2^-14", "1", "float64", "naive,trig=float16", 64, 64},
                         Case{"2^-12", "1/2", "float64", "fused,table=float16", 64, 64},
                         Case{"2^-7", "65536", "float64", "ideal-trig,table=float16", 2, 64},
                         Case{"2^-7", "1", "bfloat16", "fp32-rope", 2, 1},
                         Case{"0.01", "1", "float64", "ideal-trig", 64, 16}}) {
    const Construction construction{
        parse_positive(of.theta), parse_positive(of.slope), of.head_dim, {}};
    const DistanceReference reference(construction, of.context);
    const Pipeline pipeline = parse_pipeline(of.pipeline, find_format(of.dtype));
    const Content content{1, PairPlace::last};
    const ContentScores scores(pipeline, construction, 0, of.context, content);
    const ExactMeasures exact = exact_measures(scores, reference);
    const Real pairs = of.context * (of.context + 1) / 2;
    const auto all = measure_all_pairs_among_content(pipeline, reference, 0, content).errors;
    const auto sampled =
        measure_sampled_pairs_among_content(pipeline, reference, 0, content, 1000000, 1).errors;
    INFO(of.theta << " " << of.pipeline);
    for (const PairErrors& errors : {all, sampled}) {
      CHECK(*errors.total_maximum == to_double(exact.total));
      CHECK(*errors.rounding_rms ==
            Approx(to_double(Real(sqrt(exact.rounding_squares / pairs)))).epsilon(1e-12));
      CHECK(*errors.total_rms ==
            Approx(to_double(Real(sqrt(exact.total_squares / pairs)))).epsilon(1e-12));
    }
  }
}

TEST_CASE("among content a sample of all pairs is all pairs") {
  const std::size_t context = 70;
  const Construction construction = content_construction("0.1", context, 12);
  const DistanceReference reference(construction, context);
  const Pipeline pipeline = parse_pipeline("naive", find_format("bfloat16"));
  const Content content{2, PairPlace::last};
  const Measurement all = measure_all_pairs_among_content(pipeline, reference, 7, content);
  const Measurement sampled =
      measure_sampled_pairs_among_content(pipeline, reference, 7, content, 1000000, 1);
  CHECK(sampled.errors.pairs == all.errors.pairs);
  CHECK(sampled.errors.rounding_maximum->error == all.errors.rounding_maximum->error);
  CHECK(sampled.errors.rounding_maximum->i == all.errors.rounding_maximum->i);
  CHECK(sampled.errors.rounding_maximum->j == all.errors.rounding_maximum->j);
  CHECK(sampled.errors.total_maximum == all.errors.total_maximum);
  CHECK(sampled.errors.visible_maximum == all.errors.visible_maximum);
  CHECK(*sampled.errors.rounding_rms == Approx(*all.errors.rounding_rms).epsilon(1e-12));
  CHECK(*sampled.errors.total_rms == Approx(*all.errors.total_rms).epsilon(1e-12));
  CHECK(sampled.errors.order_lost == Approx(all.errors.order_lost).epsilon(1e-12));
  CHECK(sampled.weights_total_variation == all.weights_total_variation);
}

TEST_CASE("the weights of the last query take content on both sides") {
  const std::size_t context = 30;
  const Construction construction = content_construction("1", context, 8);
  const DistanceReference reference(construction, context);
  const Pipeline pipeline = parse_pipeline("naive", find_format("float16"));
  const Content content{2, PairPlace::last};
  const auto measured = measure_all_pairs_among_content(pipeline, reference, 0, content);
  const ContentScores scores(pipeline, construction, 0, context, content);
  std::vector<DoubleDouble> native, simulated, computed;
  for (std::size_t d = 0; d < context; ++d) {
    const Real c = scores.exact_content_score(context - 1, context - 1 - d);
    native.push_back(to_double_double(reference.exact_bias(d) + c));
    simulated.push_back(to_double_double(reference.exact_simulated(d) + c));
    computed.push_back(scores.score(context - 1, context - 1 - d));
  }
  CHECK(*measured.weights_total_variation ==
        Approx(total_variation(softmax(native), softmax(computed))).epsilon(1e-13));
  CHECK(*measured.exact_weights_total_variation ==
        Approx(total_variation(softmax(native), softmax(simulated))).epsilon(1e-13));
}

TEST_CASE("rms errors among content hold at the ends of the range of float64") {
  const std::size_t context = 20;
  Construction construction = content_construction("0.1", context, 4);
  construction.slope = parse_positive("2^600");
  const DistanceReference reference(construction, context);
  const auto errors =
      measure_all_pairs_among_content(parse_pipeline("ideal-trig", find_format("float64")),
                                      reference, 0, {1, PairPlace::halves})
          .errors;
  CHECK(*errors.rounding_rms > 0);
  CHECK(*errors.rounding_rms <= errors.rounding_maximum->error);
}

TEST_CASE("the rounding bound is never exceeded among content") {
  std::mt19937_64 random(20240608);
  const auto pick = [&](auto count) { return static_cast<std::size_t>(random() % count); };
  const char* phases[] = {"1e-6", "1e-4", "0.01", "0.1", "0.7", "1.5", "3", "40"};
  int bounded = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t context = 1 + pick(150u);
    const Format& dtype = all_formats()[pick(6u)];
    const Pipeline pipeline =
        parse_pipeline(content_pipelines[pick(content_pipelines.size())], dtype);
    const Construction construction =
        content_construction(phases[pick(8u)], context, 2 + 2 * static_cast<long long>(pick(40u)));
    const PairPlace place = content_places[pick(3u)];
    const auto bound = rounding_bound(
        pipeline,
        {construction.theta.to_double(), amplitude(construction).to_double(), 1,
         static_cast<double>(construction.head_dim), 0, static_cast<double>(context), place});
    if (!bound) continue;
    ++bounded;
    const DistanceReference reference(construction, context);
    const auto errors =
        measure_all_pairs_among_content(pipeline, reference, 0, {random(), place}).errors;
    INFO(dtype.name << " " << pipeline.name << " context " << context << " theta "
                    << construction.theta.to_double());
    REQUIRE(errors.nonfinite_pairs == 0);
    CHECK(errors.rounding_maximum->error <= *bound);
  }
  CHECK(bounded > 80);
}

}  // namespace
}  // namespace ropelab
