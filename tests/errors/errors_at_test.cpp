// Errors by distance against plain sums over the same pairs, and against those of all pairs.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/budget.hpp"

namespace ropelab {
namespace {

constexpr long long shifted_first = 3;

Construction errors_at_construction(const std::string& phase, std::size_t context, int head = 1,
                                    long long head_dim = 64) {
  return {parse_positive(phase) / Algebraic(static_cast<long long>(context)),
          alibi_slope(16, head),
          head_dim,
          {}};
}

// The errors of the pairs at these distances, one pair after the other, in 512 bits: of
// score(i, j), which content(i, j) is part of. Told in so many logits.
template <class Score, class ContentOf>
PairErrors plain_errors(DistanceRange distances, const DistanceReference& reference,
                        const Score& score, const ContentOf& content, const Real& unit) {
  const std::size_t context = reference.context();
  const std::size_t reach = visible_reach(reference.construction().slope, context);
  PairErrors errors;
  Real largest = -1, largest_total = -1, largest_visible = -1, squares = 0, total_squares = 0;
  std::uint64_t neighbours = 0, lost = 0;
  for (std::size_t i = 0; i < context; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t d = i - j;
      if (d < distances.first || d > distances.last) continue;
      ++errors.pairs;
      const DoubleDouble f = score(i, j);
      if (d > 0) ++neighbours;
      if (d > 0 && !(f < score(i, j + 1))) ++lost;
      if (!std::isfinite(f.high)) {
        ++errors.nonfinite_pairs;
        continue;
      }
      const Real bias = to_real(f) - content(i, j);
      const Real rounding = abs(bias - reference.exact_simulated(d)) / unit;
      const Real total = abs(bias - reference.exact_bias(d)) / unit;
      if (rounding > largest) {
        largest = rounding;
        errors.rounding_maximum = {to_double(rounding), shifted_first + static_cast<long long>(i),
                                   shifted_first + static_cast<long long>(j)};
      }
      largest_total = std::max(largest_total, total);
      if (d <= reach) largest_visible = std::max(largest_visible, total);
      squares += rounding * rounding;
      total_squares += total * total;
    }
  }
  const std::uint64_t finite = errors.pairs - errors.nonfinite_pairs;
  if (finite > 0) {
    errors.rounding_rms = to_double(Real(sqrt(squares / finite)));
    errors.total_maximum = to_double(largest_total);
    errors.total_rms = to_double(Real(sqrt(total_squares / finite)));
  }
  if (largest_visible >= 0) errors.visible_maximum = to_double(largest_visible);
  if (neighbours > 0) errors.order_lost = to_double(Rational(lost, neighbours));
  return errors;
}

PairErrors plain_errors(DistanceRange distances, const Pipeline& pipeline,
                        const DistanceReference& reference, const Real& unit = 1) {
  const ExactInput scale = score_scale(reference.construction());
  const RotatedTable table =
      rotated_table(pipeline, reference.construction(), shifted_first, reference.context());
  return plain_errors(
      distances, reference,
      [&](std::size_t i, std::size_t j) { return score_at(pipeline, scale, table, i, j); },
      [](std::size_t, std::size_t) { return Real(0); }, unit);
}

PairErrors plain_errors_among_content(DistanceRange distances, const Pipeline& pipeline,
                                      const DistanceReference& reference, const Content& content,
                                      const Real& unit = 1) {
  const ContentScores scores(pipeline, reference.construction(), shifted_first, reference.context(),
                             content);
  return plain_errors(
      distances, reference, [&](std::size_t i, std::size_t j) { return scores.score(i, j); },
      [&](std::size_t i, std::size_t j) { return scores.exact_content_score(i, j); }, unit);
}

bool is_near_at(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return !a && !b;
  return std::abs(*a - *b) <= 1e-10 * *b;
}

bool is_same(const std::optional<LargestError>& a, const std::optional<LargestError>& b) {
  if (!a || !b) return !a && !b;
  return a->error == b->error && a->i == b->i && a->j == b->j;
}

bool agrees(const PairErrors& a, const PairErrors& b) {
  return is_same(a.rounding_maximum, b.rounding_maximum) &&
         is_near_at(a.rounding_rms, b.rounding_rms) && a.total_maximum == b.total_maximum &&
         is_near_at(a.total_rms, b.total_rms) && a.visible_maximum == b.visible_maximum &&
         a.order_lost == b.order_lost && a.pairs == b.pairs &&
         a.nonfinite_pairs == b.nonfinite_pairs;
}

// What errors of ranges that cover all distances once make together.
PairErrors combined(const std::vector<PairErrors>& parts, std::size_t context) {
  PairErrors all;
  double squares = 0, total_squares = 0, lost = 0;
  for (const PairErrors& part : parts) {
    const auto finite = static_cast<double>(part.pairs - part.nonfinite_pairs);
    all.pairs += part.pairs;
    all.nonfinite_pairs += part.nonfinite_pairs;
    lost += part.order_lost * static_cast<double>(part.pairs);  // 0 for d = 0
    all.total_maximum = std::max(all.total_maximum, part.total_maximum);
    all.visible_maximum = std::max(all.visible_maximum, part.visible_maximum);
    if (!part.rounding_maximum) continue;
    squares += *part.rounding_rms * *part.rounding_rms * finite;
    total_squares += *part.total_rms * *part.total_rms * finite;
    const auto is_worse = [](const LargestError& a, const LargestError& b) {
      if (a.error != b.error) return a.error > b.error;
      return std::pair(a.i, a.j) < std::pair(b.i, b.j);
    };
    if (!all.rounding_maximum || is_worse(*part.rounding_maximum, *all.rounding_maximum)) {
      all.rounding_maximum = part.rounding_maximum;
    }
  }
  const auto finite = static_cast<double>(all.pairs - all.nonfinite_pairs);
  if (finite > 0) {
    all.rounding_rms = std::sqrt(squares / finite);
    all.total_rms = std::sqrt(total_squares / finite);
  }
  all.order_lost = lost / static_cast<double>(all.pairs - context);
  return all;
}

const std::vector<std::string> pipelines_at = {"ideal-trig", "naive", "fp32-rope", "fused",
                                               "naive,accumulation=exact"};

TEST_CASE("distances are doubled from 1 on, up to the last of the context") {
  CHECK(doubling_distances(1) == std::vector<DistanceRange>{{0, 0}});
  CHECK(doubling_distances(2) == std::vector<DistanceRange>{{0, 0}, {1, 1}});
  CHECK(doubling_distances(8) == std::vector<DistanceRange>{{0, 0}, {1, 1}, {2, 3}, {4, 7}});
  CHECK(doubling_distances(9) ==
        std::vector<DistanceRange>{{0, 0}, {1, 1}, {2, 3}, {4, 7}, {8, 8}});
  CHECK(pairs_at({0, 8}, 9) == 45);
  CHECK(pairs_at({2, 3}, 9) == 13);
}

TEST_CASE("the visible share counts the pairs within reach") {
  const Algebraic half(Rational(1, 2));  // sees 22 positions back
  CHECK(visible_share(half, {16, 22}, 100) == 1);
  CHECK(visible_share(half, {23, 31}, 100) == 0);
  CHECK(visible_share(half, {22, 23}, 100) == to_double(Rational(78, 78 + 77)));
}

TEST_CASE("errors by distance are those of the pairs there, in every format and pipeline") {
  for (const char* phase : {"1e-4", "0.3", "7"}) {
    for (const std::size_t context : {1u, 2u, 45u}) {
      const DistanceReference reference(
          errors_at_construction(phase, context, context == 45 ? 8 : 1), context);
      const auto ranges = doubling_distances(context);
      for (const Format& dtype : all_formats()) {
        for (const std::string& name : pipelines_at) {
          const Pipeline pipeline = parse_pipeline(name, dtype);
          const auto errors = errors_at(ranges, pipeline, reference, shifted_first);
          REQUIRE(errors.size() == ranges.size());
          for (std::size_t n = 0; n < ranges.size(); ++n) {
            if (agrees(errors[n], plain_errors(ranges[n], pipeline, reference))) continue;
            FAIL_CHECK(phase << " context " << context << " " << dtype.name << " " << name
                             << " from " << ranges[n].first);
          }
        }
      }
    }
  }
}

TEST_CASE("errors in tokens are those in logits, divided before they are rounded") {
  const std::size_t context = 45;
  for (const Algebraic& slope : {alibi_slope(16, 1), Algebraic(Rational(1, 3))}) {
    const Construction construction{parse_positive("0.3/45"), slope, 6, {}};
    DistanceReference reference(construction, context);
    reference.tell_errors_in(ErrorUnit(slope));
    const Real unit = slope.to_real();
    const std::vector<DistanceRange> all = {reference.all_distances()};
    const Content content{4, PairPlace::halves};
    for (const Format& dtype : all_formats()) {
      for (const char* name : {"ideal-trig", "fused", "exact"}) {
        INFO(slope.to_double() << " " << dtype.name << " " << name);
        const Pipeline pipeline = parse_pipeline(name, dtype);
        if (!is_exact(pipeline)) {
          const PairErrors plain = plain_errors(all[0], pipeline, reference, unit);
          CHECK(agrees(errors_at(all, pipeline, reference, shifted_first)[0], plain));
          CHECK(agrees(measure_sampled_pairs(pipeline, reference, shifted_first, 100000, 1).errors,
                       plain));
        }
        const PairErrors among =
            plain_errors_among_content(all[0], pipeline, reference, content, unit);
        const PairErrors found =
            errors_at_among_content(all, pipeline, reference, shifted_first, content)[0];
        if (!is_exact(pipeline)) CHECK(agrees(found, among));
        CHECK(found.total_maximum == among.total_maximum);
        CHECK(is_near_at(found.total_rms, among.total_rms));
      }
    }
  }
}

TEST_CASE("where nothing rounds, errors in tokens are those of the truncation") {
  const Algebraic slope = alibi_slope(16, 1);
  DistanceReference reference({parse_positive("1e-3"), slope, 64, {}}, 300);
  const Pipeline exact = parse_pipeline("exact", float32_format());
  const PairErrors logits = measure_all_pairs(exact, reference, 0).errors;
  reference.tell_errors_in(ErrorUnit(slope));
  const PairErrors tokens = measure_all_pairs(exact, reference, 0).errors;
  // (d theta - sin(d theta))/theta
  const auto in_tokens = [](long long d) {
    const Real theta = to_real(Rational(1, 1000));
    return to_double(Real(sine_deficit(theta * Real(d)) / theta));
  };
  CHECK(tokens.total_maximum == in_tokens(299));
  CHECK(tokens.visible_maximum == in_tokens(15));
  CHECK(*tokens.total_rms == Approx(*logits.total_rms / slope.to_double()).epsilon(1e-14));
  CHECK(tokens.rounding_maximum->error == 0);
  CHECK(tokens.order_lost == logits.order_lost);
}

TEST_CASE("an error that is a binary number of tokens is told as that, also where a tie decides") {
  const Algebraic third(Rational(1, 3));
  const ErrorUnit unit(third);
  // 2^53 + 1 tokens lie between two doubles, and the even one is right.
  for (const long long odd : {1, 3}) {
    const Rational tokens = Rational(Integer(1) << 53) + odd;
    CHECK(unit.rounded(to_real(tokens / 3)) == to_double(tokens));
  }
  CHECK(unit.rounded(0) == 0);
  CHECK(ErrorUnit().rounded(Real(0.1)) == 0.1);
  // Bounds are rounded up, but for those that need not be.
  CHECK(unit.bound(0.1) == std::optional(to_double(to_rational(0.1) * 3) > to_rational(0.1) * 3
                                             ? to_double(to_rational(0.1) * 3)
                                             : std::nextafter(to_double(to_rational(0.1) * 3), 1)));
  CHECK(unit.bound(0.25) == std::optional(0.75));
  CHECK(ErrorUnit(Algebraic(Rational(3))).bound(1.0) == std::optional(std::nextafter(1.0 / 3, 1)));
  CHECK(unit.bound(std::nullopt) == std::nullopt);
}

TEST_CASE("errors by distance combine to those of all pairs") {
  const std::size_t context = 700;
  const DistanceReference reference(errors_at_construction("0.3", context), context);
  for (const Format& dtype : all_formats()) {
    for (const std::string& name : pipelines_at) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      const PairErrors all = measure_all_pairs(pipeline, reference, shifted_first).errors;
      PairErrors together = combined(
          errors_at(doubling_distances(context), pipeline, reference, shifted_first), context);
      INFO(dtype.name << " " << name);
      CHECK(together.order_lost == Approx(all.order_lost).epsilon(1e-12));
      together.order_lost = all.order_lost;
      CHECK(agrees(together, all));
    }
  }
}

TEST_CASE("errors by distance among content are those of the pairs there") {
  for (const char* phase : {"1e-3", "0.3", "7"}) {
    for (const std::size_t context : {1u, 2u, 45u}) {
      const DistanceReference reference(errors_at_construction(phase, context, 8, 6), context);
      const auto ranges = doubling_distances(context);
      for (const Format& dtype : all_formats()) {
        for (const std::string& name : pipelines_at) {
          const Pipeline pipeline = parse_pipeline(name, dtype);
          const Content content{4, PairPlace::halves};
          const auto errors =
              errors_at_among_content(ranges, pipeline, reference, shifted_first, content);
          REQUIRE(errors.size() == ranges.size());
          for (std::size_t n = 0; n < ranges.size(); ++n) {
            const PairErrors plain =
                plain_errors_among_content(ranges[n], pipeline, reference, content);
            if (agrees(errors[n], plain)) continue;
            FAIL_CHECK(phase << " context " << context << " " << dtype.name << " " << name
                             << " from " << ranges[n].first);
          }
        }
      }
    }
  }
}

TEST_CASE("errors by distance among content combine to those of all pairs") {
  const std::size_t context = 300;
  const DistanceReference reference(errors_at_construction("0.3", context, 4, 10), context);
  for (const Format& dtype : all_formats()) {
    for (const char* name : {"ideal-trig", "fused,accumulation=float32-fma"}) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      const Content content{9, PairPlace::last};
      const PairErrors all =
          measure_all_pairs_among_content(pipeline, reference, shifted_first, content).errors;
      PairErrors together = combined(errors_at_among_content(doubling_distances(context), pipeline,
                                                             reference, shifted_first, content),
                                     context);
      INFO(dtype.name << " " << name);
      CHECK(together.order_lost == Approx(all.order_lost).epsilon(1e-12));
      together.order_lost = all.order_lost;
      CHECK(agrees(together, all));
    }
  }
}

TEST_CASE("among content a sample of all pairs has the errors of all pairs at every distance") {
  const std::size_t context = 100;
  const DistanceReference reference(errors_at_construction("0.1", context, 1, 8), context);
  const Pipeline pipeline = parse_pipeline("naive", find_format("bfloat16"));
  const Content content{2, PairPlace::first};
  const auto ranges = doubling_distances(context);
  const auto all = errors_at_among_content(ranges, pipeline, reference, shifted_first, content);
  const auto sampled = sampled_errors_at_among_content(ranges, pipeline, reference, shifted_first,
                                                       content, 1000000, 1);
  REQUIRE(sampled.size() == ranges.size());
  for (std::size_t n = 0; n < ranges.size(); ++n) CHECK(agrees(sampled[n], all[n]));
}

TEST_CASE("a sample of all pairs has the errors of all pairs at every distance") {
  const std::size_t context = 150;
  const DistanceReference reference(errors_at_construction("0.1", context), context);
  const Pipeline pipeline = parse_pipeline("naive", find_format("bfloat16"));
  const auto ranges = doubling_distances(context);
  const auto all = errors_at(ranges, pipeline, reference, shifted_first);
  const auto sampled = sampled_errors_at(ranges, pipeline, reference, shifted_first, 1000000, 1);
  for (std::size_t n = 0; n < ranges.size(); ++n) CHECK(agrees(sampled[n], all[n]));
}

TEST_CASE("a sample without a pair at some distances says nothing of them") {
  const DistanceReference reference(errors_at_construction("0.1", 150), 150);
  const auto sampled =
      sampled_errors_at({{0, 0}, {4, 7}, {128, 149}}, parse_pipeline("naive", float32_format()),
                        reference, shifted_first, 3, 1);
  CHECK(sampled[0].pairs == 2);
  CHECK(sampled[1].pairs == 0);
  CHECK(!sampled[1].rounding_maximum);
  CHECK(!sampled[1].rounding_rms);
  CHECK(sampled[2].pairs == 1);
}

TEST_CASE("truncation by distance is that of the distances alone") {
  for (const char* phase : {"0.1", "30"}) {
    const std::size_t context = 300;
    const DistanceReference reference(errors_at_construction(phase, context), context);
    for (const DistanceRange& distances : doubling_distances(context)) {
      Real maximum = 0, relative = 0, squares = 0;
      for (std::size_t d = distances.first; d <= distances.last; ++d) {
        const Real error = reference.exact_truncation(d);
        maximum = std::max(maximum, error);
        if (d > 0) relative = std::max(relative, Real(-error / reference.exact_bias(d)));
        squares += error * error * Real(context - d);
      }
      const Real rms = sqrt(squares / Real(pairs_at(distances, context)));
      const TruncationError found = truncation_error(reference, distances);
      CHECK(found.maximum == maximum);
      CHECK(found.relative_maximum == relative);
      CHECK(found.rms == Approx(to_double(rms)).epsilon(1e-14));
      CHECK(to_double(exact_truncation_rms(reference, distances)) == to_double(rms));
    }
  }
}

}  // namespace
}  // namespace ropelab
