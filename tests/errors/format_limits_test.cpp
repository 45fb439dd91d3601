// Where formats give out, against a plain search through every pair.
#include "ropelab/errors/format_limits.hpp"

#include <cmath>
#include <map>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

LimitsInputs limits_inputs(const std::string& pipeline, const Format& dtype,
                           const std::string& phase, std::size_t context, int head = 1,
                           long long first_position = 0) {
  const Algebraic theta = parse_positive(phase) / Algebraic(static_cast<long long>(context));
  return {parse_pipeline(pipeline, dtype),
          {theta, alibi_slope(16, head), 64, {}},
          first_position,
          context};
}

// Of few components, so that the plain search does not take long.
LimitsInputs among_content(LimitsInputs inputs, const Content& content, long long head_dim = 6) {
  inputs.construction.head_dim = head_dim;
  inputs.content = content;
  return inputs;
}

// Every step of every pair.
class Plain {
 public:
  explicit Plain(const LimitsInputs& inputs)
      : inputs_(inputs),
        theta_(inputs.construction.theta),
        query_part_(amplitude(inputs.construction) / inputs.construction.key_part),
        key_part_(inputs.construction.key_part),
        scale_(score_scale(inputs.construction)),
        table_(rotated_table(inputs.pipeline, inputs.construction, inputs.first_position,
                             inputs.context)),
        reference_(inputs.construction, inputs.context) {
    if (!inputs.content) return;
    for (std::size_t i = 0; i < inputs.context; ++i) {
      content_queries_.push_back(content(Role::query, i));
      content_keys_.push_back(content(Role::key, i));
    }
  }

  std::optional<std::pair<long long, std::string>> overflow() const {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const std::string what = overflow_at(i);
      if (!what.empty()) return std::pair{position(i), what};
    }
    return std::nullopt;
  }

  std::optional<long long> merged() const {
    const auto end = overflow();
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (end && position(i) >= end->first) break;
      for (std::size_t j = 0; j < i; ++j) {
        if (score(i, j) == steps(i, j, j + 1).score) return position(i);
      }
    }
    return std::nullopt;
  }

  // The rows before the first that has a pair beyond the tolerance.
  std::size_t accurate(const Algebraic& tolerance, PairsHeld held) const {
    const std::size_t reach = held == PairsHeld::all
                                  ? table_.size()
                                  : visible_reach(inputs_.construction.slope, table_.size());
    for (std::size_t i = 0; i < table_.size(); ++i) {
      for (std::size_t j = i - std::min(i, reach); j <= i; ++j) {
        if (!within(i, j, tolerance)) return i;
      }
    }
    return table_.size();
  }

  // Among the pairs of so many rows, for scores that are doubles, a rational slope and a head
  // dimension of 16.
  Rational largest_rational_error(std::size_t rows) const {
    Rational largest = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        Rational error =
            Rational(score(i, j).high) + inputs_.construction.slope.to_rational() * Rational(i - j);
        for (std::size_t n = 0; n < 16; ++n) {
          error -= Rational(content_queries_[i][n]) * Rational(content_keys_[j][n]) / 4;
        }
        largest = std::max(largest, Rational(abs(error)));
      }
    }
    return largest;
  }

 private:
  long long position(std::size_t i) const {
    return inputs_.first_position + static_cast<long long>(i);
  }

  struct Steps {
    bool product, sum;  // whether it is finite
    DoubleDouble score;
  };

  // Of query i and key j, with the rotated vector of key `rotated`.
  Steps steps(std::size_t i, std::size_t j, std::size_t rotated) const {
    const auto query = table_.query(i), key = table_.key(rotated);
    const auto pair = score_steps<DoubleDouble>(inputs_.pipeline, scale_, query, key);
    const bool product = is_finite(pair.first_product) && is_finite(pair.second_product);
    if (!inputs_.content) return {product, is_finite(pair.accumulated), as_number(pair.scaled)};
    const PairPlace place = inputs_.content->place;
    const auto &q = content_queries_[i], &k = content_keys_[j];
    return {product,
            is_finite(sum_among_content<DoubleDouble>(inputs_.pipeline, place, query, key, q, k)),
            as_number(score_among_content<DoubleDouble>(inputs_.pipeline, scale_, place, query, key,
                                                        q, k))};
  }

  static DoubleDouble as_number(const StepValue<DoubleDouble>& value) {
    if (const double* rounded = std::get_if<double>(&value)) return {*rounded, 0};
    return std::get<DoubleDouble>(value);
  }

  DoubleDouble score(std::size_t i, std::size_t j) const { return steps(i, j, j).score; }

  std::vector<double> content(Role role, std::size_t n) const {
    return content_vector(inputs_.content->seed, role, position(n),
                          static_cast<std::size_t>(inputs_.construction.head_dim),
                          inputs_.pipeline[StepName::storage]);
  }

  // 0 without content.
  Real content_score(std::size_t i, std::size_t j) const {
    if (!inputs_.content) return 0;
    Real sum = 0;
    for (std::size_t n = 0; n < content_keys_[j].size(); ++n) {
      sum += Real(content_queries_[i][n]) * Real(content_keys_[j][n]);
    }
    return sum / sqrt(Real(inputs_.construction.head_dim));
  }

  bool within(std::size_t i, std::size_t j, const Algebraic& tolerance) const {
    const DoubleDouble f = score(i, j);
    if (!std::isfinite(f.high)) return false;
    const Real wanted = content_score(i, j);
    const double error = std::abs((f - reference_.bias(i - j) - to_double_double(wanted)).high);
    const double most = tolerance.to_double();
    if (error < most * (1 - 1e-9) || error > most * (1 + 1e-9)) return error < most;
    return abs(to_real(f) - reference_.exact_bias(i - j) - wanted) <= tolerance.to_real();
  }

  std::string overflow_at(std::size_t i) const {
    if (!is_finite(rotation_input<Real>(inputs_.pipeline, query_part_)) ||
        !is_finite(rotation_input<Real>(inputs_.pipeline, key_part_))) {
      return "N";
    }
    const auto angle =
        angle_steps<Real>(inputs_.pipeline, theta_, static_cast<double>(position(i)));
    if (!is_finite(angle.theta)) return "theta";
    if (!is_finite(angle.position)) return "position";
    if (!is_finite(angle.phase) || !is_finite(angle.cosine)) return "phase";
    const auto query = table_.query(i), key = table_.key(i);
    for (const auto& x : {query.first, query.second, key.first, key.second}) {
      if (!is_finite(x)) return "component";
    }
    bool product = false, sum = false, scaled = false;
    for (std::size_t j = 0; j <= i; ++j) {
      const Steps here = steps(i, j, j);
      product = product || !here.product;
      sum = sum || !here.sum;
      scaled = scaled || !std::isfinite(here.score.high);
    }
    if (product) return "product";
    if (sum) return "sum";
    return scaled ? "score" : "";
  }

  const LimitsInputs& inputs_;
  ExactInput theta_, query_part_, key_part_, scale_;
  RotatedTable table_;
  DistanceReference reference_;
  std::vector<std::vector<double>> content_queries_, content_keys_;
};

const std::vector<std::string> limits_pipelines = {"ideal-trig",
                                                   "naive",
                                                   "fp32-rope",
                                                   "fused",
                                                   "fused,accumulation=float32-fma",
                                                   "fused,storage=float8_e4m3fn",
                                                   "fused,accumulation=float8_e5m2",
                                                   "fused,scaling=float8_e4m3fn",
                                                   "naive,accumulation=exact"};

std::string text_of(const std::optional<FirstOverflow>& found) {
  return found ? std::to_string(found->position) + " " + std::string(found->what) : "none";
}
std::string text_of(const std::optional<std::pair<long long, std::string>>& plain) {
  return plain ? std::to_string(plain->first) + " " + plain->second : "none";
}

TEST_CASE("the first overflow and what overflows are those of a search through every pair") {
  std::map<std::string, int> seen;
  const std::vector<std::pair<std::string, std::size_t>> constructions{
      {"1e-6", 30}, {"0.1", 90}, {"1.5", 30}, {"50", 30}, {"30000", 30}};
  for (const auto& [phase, context] : constructions) {
    for (const long long first_position : {0, 440}) {
      for (const Format& dtype : all_formats()) {
        for (const std::string& name : limits_pipelines) {
          const auto inputs = limits_inputs(name, dtype, phase, context, 1, first_position);
          const auto plain = Plain(inputs).overflow();
          INFO(phase << " " << dtype.name << " " << name << " from " << first_position);
          CHECK(text_of(first_overflow(inputs)) == text_of(plain));
          if (plain) ++seen[plain->second];
        }
      }
    }
  }
  for (const char* what : {"N", "theta", "position", "phase", "component", "product", "score"}) {
    INFO(what);
    CHECK(seen[what] > 0);
  }
}

TEST_CASE("a sum may overflow though its products do not") {
  // N is the largest number of float8_e5m2, and sin(a)cos(b) + cos(a)sin(b) is rounded up.
  int sums = 0;
  for (int step = 0; step < 400; ++step) {
    const Algebraic slope(Rational(57344, 8) + Rational(step * 8));
    const LimitsInputs inputs{parse_pipeline("fused,accumulation=float8_e5m2", float32_format()),
                              {Algebraic(Rational(1)) * Algebraic(Rational(11, 10)), slope, 64, {}},
                              0,
                              12};
    const auto plain = Plain(inputs).overflow();
    CHECK(text_of(first_overflow(inputs)) == text_of(plain));
    if (plain && plain->second == "sum") ++sums;
  }
  CHECK(sums > 0);
}

TEST_CASE("saturating formats do not overflow") {
  const auto inputs = limits_inputs("naive", saturating(find_format("float8_e4m3fn")), "0.1", 90);
  CHECK(!first_overflow(inputs));
}

TEST_CASE("the first merged position is that of a search through every pair") {
  int found_some = 0;
  for (const char* phase : {"1e-3", "0.5", "7"}) {
    for (const Format& dtype : all_formats()) {
      for (const std::string& name : limits_pipelines) {
        for (const std::size_t context : {1u, 2u, 200u}) {
          const auto inputs = limits_inputs(name, dtype, phase, context, 4, 1);
          const auto found = first_merged_position(inputs);
          INFO(phase << " " << dtype.name << " " << name << " context " << context);
          CHECK(found == Plain(inputs).merged());
          found_some += found ? 1 : 0;
        }
      }
    }
  }
  CHECK(found_some > 50);
}

TEST_CASE("positions merge late where a format tells many apart") {
  const auto inputs = limits_inputs("naive", find_format("float16"), "1", 2500, 8);
  const auto found = first_merged_position(inputs);
  REQUIRE(found);
  CHECK(*found > 500);
  CHECK(found == Plain(inputs).merged());
  CHECK(!first_merged_position(limits_inputs("naive", float32_format(), "1", 2500, 8)));
  // Here keys lose their order long before two scores are equal.
  const auto late = limits_inputs("fp32-rope", find_format("float16"), "0.3", 3000, 16);
  CHECK(first_merged_position(late) == Plain(late).merged());
}

// With theta fixed, within several tolerances; how many contexts are neither short nor all.
int check_accurate_contexts(const LimitsInputs& inputs) {
  int inside = 0;
  const Plain plain(inputs);
  for (const char* tolerance : {"1e-13", "1e-5", "0.05", "3", "1e6"}) {
    for (const PairsHeld held : {PairsHeld::all, PairsHeld::visible}) {
      const Algebraic most = parse_positive(tolerance);
      const std::size_t found = accurate_context(inputs, Fixed::theta, most, held);
      INFO("within " << tolerance);
      CHECK(found == plain.accurate(most, held));
      if (found > 2 && found < inputs.context) ++inside;
    }
  }
  return inside;
}

TEST_CASE("with theta fixed the accurate context is that of a search through every pair") {
  int inside = 0;
  for (const char* phase : {"1e-3", "0.3", "7"}) {
    for (const Format& dtype : all_formats()) {
      for (const std::string& name : limits_pipelines) {
        const auto inputs = limits_inputs(name, dtype, phase, 90, 1, 2);
        INFO(phase << " " << dtype.name << " " << name);
        inside += check_accurate_contexts(inputs);
      }
    }
  }
  CHECK(inside > 50);
}

TEST_CASE("with theta fixed long contexts are narrowed down to the position") {
  const auto inputs = limits_inputs("naive", float32_format(), "0.001", 3000);
  const Plain plain(inputs);
  for (const char* tolerance : {"1e-4", "2e-4", "4e-4", "5e-4"}) {
    for (const PairsHeld held : {PairsHeld::all, PairsHeld::visible}) {
      const Algebraic most = parse_positive(tolerance);
      const std::size_t found = accurate_context(inputs, Fixed::theta, most, held);
      CHECK(found == plain.accurate(most, held));
      CHECK(found > 100);
    }
  }
}

TEST_CASE("an error equal to the tolerance is within it") {
  // F is exactly 0 for every pair, as N vanishes: the error is m*d = d/2.
  const LimitsInputs inputs{parse_pipeline("ideal-trig", find_format("float8_e4m3fn")),
                            {Algebraic(1000000), Algebraic(Rational(1, 2)), 64, {}},
                            0,
                            40};
  REQUIRE(round_to(find_format("float8_e4m3fn"), amplitude(inputs.construction)) == 0);
  const auto found = accurate_context(inputs, Fixed::theta, Algebraic(7), PairsHeld::all);
  CHECK(found == 15);
}

TEST_CASE("with max phase fixed every short context is within the tolerance") {
  for (const char* phase : {"1e-3", "0.3", "7"}) {
    for (const long long first_position : {0, 50}) {
      for (const Format& dtype : all_formats()) {
        for (const char* name : {"ideal-trig", "naive", "fused"}) {
          const auto inputs = limits_inputs(name, dtype, phase, 60, 2, first_position);
          for (const char* tolerance : {"1e-12", "1e-4", "0.1"}) {
            for (const PairsHeld held : {PairsHeld::all, PairsHeld::visible}) {
              const Algebraic most = parse_positive(tolerance);
              std::size_t expected = 0;
              while (expected < inputs.context) {
                const std::size_t next = expected + 1;
                const auto at = limits_inputs(name, dtype, phase, next, 2, first_position);
                if (Plain(at).accurate(most, held) < next) break;
                expected = next;
              }
              INFO(phase << " " << dtype.name << " " << name << " within " << tolerance);
              CHECK(accurate_context(inputs, Fixed::max_phase, most, held) == expected);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("an N divided between query and key has the limits of its parts") {
  const Split splits[] = {{true, 0}, {false, 20}, {false, -12}};
  for (const Split& split : splits) {
    for (const char* dtype : {"float16", "bfloat16", "float8_e5m2"}) {
      for (const std::string& name : limits_pipelines) {
        const auto at = [&](std::size_t context) {
          auto inputs = limits_inputs(name, find_format(dtype), "1e-3", context);
          inputs.split = split;
          inputs.construction.key_part = key_part(split, amplitude(inputs.construction));
          return inputs;
        };
        const auto inputs = at(60);
        const Plain plain(inputs);
        INFO(dtype << " " << name << " " << split.even << " " << split.key_exponent);
        CHECK(text_of(first_overflow(inputs)) == text_of(plain.overflow()));
        CHECK(first_merged_position(inputs) == plain.merged());
        const Algebraic most = parse_positive("0.1");
        CHECK(accurate_context(inputs, Fixed::theta, most, PairsHeld::all) ==
              plain.accurate(most, PairsHeld::all));
        std::size_t expected = 0;
        while (expected < 60 && Plain(at(expected + 1)).accurate(most, PairsHeld::all) > expected) {
          ++expected;
        }
        CHECK(accurate_context(inputs, Fixed::max_phase, most, PairsHeld::all) == expected);
      }
    }
  }
}

TEST_CASE("with max phase fixed long contexts are computed on either side of the answer") {
  const auto at = [](std::size_t context) {
    return limits_inputs("naive", float32_format(), "1e-4", context);
  };
  const Algebraic most = parse_positive("2e-4");
  const std::size_t found = accurate_context(at(4096), Fixed::max_phase, most, PairsHeld::all);
  REQUIRE(found > 600);
  REQUIRE(found < 4096);
  CHECK(Plain(at(found)).accurate(most, PairsHeld::all) == found);
  CHECK(Plain(at(found + 1)).accurate(most, PairsHeld::all) < found + 1);
}

constexpr PairPlace limits_places[] = {PairPlace::first, PairPlace::last, PairPlace::halves};

TEST_CASE("among content the first overflow is that of a search through every pair") {
  std::map<std::string, int> seen;
  std::size_t turn = 0;
  const std::vector<std::pair<std::string, std::size_t>> constructions{
      {"1e-6", 30}, {"0.1", 90}, {"1.5", 80}, {"50", 30}, {"30000", 30}};
  for (const auto& [phase, context] : constructions) {
    for (const long long first_position : {0, 440}) {
      for (const Format& dtype : all_formats()) {
        for (const std::string& name : limits_pipelines) {
          const auto inputs =
              among_content(limits_inputs(name, dtype, phase, context, 1, first_position),
                            {turn, limits_places[turn % 3]});
          ++turn;
          const auto plain = Plain(inputs).overflow();
          INFO(phase << " " << dtype.name << " " << name << " from " << first_position);
          CHECK(text_of(first_overflow(inputs)) == text_of(plain));
          if (plain) ++seen[plain->second];
        }
      }
    }
  }
  for (const char* what : {"N", "theta", "position", "phase", "component", "product"}) {
    INFO(what);
    CHECK(seen[what] > 0);
  }
}

TEST_CASE("content may make a sum or a score overflow, at any position") {
  // The second product, N sin(i theta) cos(j theta), comes near the largest number of the format
  // (448, 65504) for late queries only, and content of 64 components takes the sum past it,
  // or the score, which is rounded to its format before it is scaled.
  std::map<std::string, int> late;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"fused,accumulation=float8_e4m3fn", "440"}, {"fused,accumulation=float8_e4m3fn", "450"},
      {"fused,scaling=float8_e4m3fn", "455"},      {"fused,scaling=float8_e4m3fn", "460"},
      {"fused,accumulation=float16", "65490"},     {"fused,accumulation=float16", "65600"}};
  for (const auto& [name, n] : cases) {
    for (const PairPlace place : limits_places) {
      auto inputs =
          among_content(limits_inputs(name, float32_format(), "1.5", 150), {1, place}, 64);
      // N = m sqrt(h) / theta.
      inputs.construction.slope = parse_positive(n) * inputs.construction.theta / Algebraic(8);
      const auto plain = Plain(inputs).overflow();
      INFO(name << " N " << n << " place " << static_cast<int>(place));
      CHECK(text_of(first_overflow(inputs)) == text_of(plain));
      if (plain && plain->first > 64) ++late[plain->second];
    }
  }
  CHECK(late["sum"] > 0);
  CHECK(late["score"] > 0);
}

TEST_CASE("among content the first merged position is that of a search through every pair") {
  int found_some = 0, found_late = 0;
  std::size_t turn = 0;
  for (const char* phase : {"1e-3", "0.5", "7"}) {
    for (const Format& dtype : all_formats()) {
      for (const std::string& name : limits_pipelines) {
        for (const std::size_t context : {1u, 2u, 140u}) {
          const auto inputs = among_content(limits_inputs(name, dtype, phase, context, 4, 1),
                                            {turn, limits_places[turn % 3]});
          ++turn;
          const auto found = first_merged_position(inputs);
          INFO(phase << " " << dtype.name << " " << name << " context " << context);
          CHECK(found == Plain(inputs).merged());
          found_some += found ? 1 : 0;
          found_late += found && *found > 65 ? 1 : 0;
        }
      }
    }
  }
  CHECK(found_some > 50);
  CHECK(found_late > 0);
}

TEST_CASE("among content with theta fixed the accurate context is that of every pair") {
  int inside = 0;
  std::size_t turn = 0;
  for (const char* phase : {"1e-3", "0.3"}) {
    for (const Format& dtype : all_formats()) {
      for (const std::string& name : limits_pipelines) {
        const auto inputs = among_content(limits_inputs(name, dtype, phase, 90, 1, 2),
                                          {turn, limits_places[turn % 3]});
        ++turn;
        INFO(phase << " " << dtype.name << " " << name);
        inside += check_accurate_contexts(inputs);
      }
    }
  }
  CHECK(inside > 50);
}

TEST_CASE("among content an error is compared with the tolerance exactly") {
  // The largest total errors of some contexts, as tolerances: they are within themselves, and
  // beyond anything less.
  const auto inputs = among_content(limits_inputs("naive", find_format("bfloat16"), "0.01", 80, 4),
                                    {3, limits_places[2]}, 16);
  const Plain plain(inputs);
  for (const std::size_t context : {5u, 30u, 64u, 65u, 79u}) {
    const Rational worst = plain.largest_rational_error(context);
    const Algebraic most(worst), less(worst * (1 - Rational(1, Integer(1) << 120)));
    CHECK(accurate_context(inputs, Fixed::theta, most, PairsHeld::all) >= context);
    CHECK(accurate_context(inputs, Fixed::theta, less, PairsHeld::all) < context);
  }
}

TEST_CASE("among content with max phase fixed every short context is within the tolerance") {
  int inside = 0;
  for (const char* phase : {"1e-3", "0.3"}) {
    for (const Format& dtype : all_formats()) {
      for (const char* name : {"ideal-trig", "fused"}) {
        const auto at = [&](std::size_t context) {
          return among_content(limits_inputs(name, dtype, phase, context, 2),
                               {5, PairPlace::first});
        };
        for (const char* tolerance : {"1e-6", "1e-4", "0.1"}) {
          const Algebraic most = parse_positive(tolerance);
          for (const PairsHeld held : {PairsHeld::all, PairsHeld::visible}) {
            std::size_t expected = 0;
            while (expected < 40 && Plain(at(expected + 1)).accurate(most, held) > expected) {
              ++expected;
            }
            INFO(phase << " " << dtype.name << " " << name << " within " << tolerance);
            CHECK(accurate_context(at(40), Fixed::max_phase, most, held) == expected);
            if (expected > 2 && expected < 40) ++inside;
          }
        }
      }
    }
  }
  CHECK(inside > 0);
}

}  // namespace
}  // namespace ropelab
