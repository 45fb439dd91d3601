// What the steps of a pipeline hand on: saturating formats and exact numbers.
#include "ropelab/simulation/pipeline.hpp"

#include <cmath>
#include <string>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/rotated_table.hpp"

namespace ropelab {
namespace {

const Format& e5m2() { return find_format("float8_e5m2"); }

TEST_CASE("8-bit steps saturate where it is asked for, whatever the dtype") {
  for (const char* dtype : {"float32", "float8_e4m3fn", "float8_e5m2"}) {
    const std::string text = "naive,position=float8_e5m2,table=float16";
    const Pipeline plain = parse_pipeline(text, find_format(dtype));
    const Pipeline saturating_one = parse_pipeline(text, find_format(dtype), EightBit::saturates);
    INFO(dtype);
    CHECK_FALSE(saturates(plain));
    CHECK(plain[StepName::position] == e5m2());
    CHECK(saturates(saturating_one));
    CHECK(saturating_one[StepName::position] == saturating(e5m2()));
    CHECK(saturating_one[StepName::table] == find_format("float16"));
    CHECK(saturating_one[StepName::rotation] == saturating(find_format(dtype)));
  }
}

TEST_CASE("a step that is given twice is refused, though both say the same") {
  for (const char* text : {"fused,position=exact,position=float16", "naive,table=exact,table=exact",
                           "naive,accumulation=float32,accumulation=float32-fma"}) {
    CHECK_THROWS_WITH(parse_pipeline(text, float32_format()),
                      ContainsSubstring("more than once; once would be right"));
  }
}

TEST_CASE("a pipeline without an 8-bit step has nothing to saturate") {
  CHECK_FALSE(saturates(parse_pipeline("naive", float32_format(), EightBit::saturates)));
  const Pipeline overridden = parse_pipeline("fused,storage=exact", e5m2(), EightBit::saturates);
  CHECK_FALSE(saturates(overridden));
}

TEST_CASE("a saturating dtype stays what it is") {
  const Pipeline pipeline = parse_pipeline("naive,table=float8_e5m2", saturating(e5m2()));
  CHECK(pipeline[StepName::phase] == saturating(e5m2()));
  CHECK(pipeline[StepName::table] == e5m2());
}

TEST_CASE("a Bounded that may have either sign is not rounded, not even to a zero") {
  const Format& half = find_format("float16");
  CHECK_THROWS_AS(round_to(half, Bounded{{1e-30, 0}, 2e-30}), Undecided);
  CHECK_THROWS_AS(round_to(half, Bounded{{-1e-30, 0}, 2e-30}), Undecided);
  CHECK_FALSE(std::signbit(round_to(half, Bounded{{2e-30, 0}, 1e-30})));
  CHECK(std::signbit(round_to(half, Bounded{{-2e-30, 0}, 1e-30})));
}

TEST_CASE("an infinite phase that an exact step hands on is not clamped to an angle") {
  const ExactInput theta(parse_positive("1e-3"));
  const double far = 100000;  // infinite in float16
  const Pipeline exact = parse_pipeline("ideal-trig,theta=float16,position=float16",
                                        find_format("float8_e4m3fn"), EightBit::saturates);
  CHECK(std::isnan(std::get<double>(angle_steps<Real>(exact, theta, far).cosine)));
  const Construction construction{parse_positive("1e-3"), Algebraic(), 64, {}};
  CHECK(std::isnan(rotated_table(exact, construction, 100000, 1).key_second.high.front()));
  // A step of the 8-bit format itself takes its operand to be clamped.
  const Pipeline clamped = parse_pipeline("ideal-trig,position=float16,phase=float8_e4m3fn",
                                          find_format("float8_e4m3fn"), EightBit::saturates);
  CHECK_FALSE(std::isnan(std::get<double>(angle_steps<Real>(clamped, theta, far).cosine)));
}

Pipeline with_exact(StepName step) {
  const auto name = std::string(step_names[static_cast<std::size_t>(step)]);
  return parse_pipeline("naive," + name + "=exact", find_format("float16"));
}

TEST_CASE("what a step set to exact hands on is an exact number, for each of the nine") {
  const ExactInput theta(parse_positive("1e-3")), n(parse_positive("10/3")),
      scale(parse_positive("1/3"));
  for (int s = 0; s < step_count; ++s) {
    const auto step = static_cast<StepName>(s);
    const Pipeline pipeline = with_exact(step);
    const auto angle = angle_steps<Real>(pipeline, theta, 77);
    const auto vectors =
        rotation_steps<Real>(pipeline, angle, {rotation_input<Real>(pipeline, n), 0.0});
    const auto score = score_steps<Real>(pipeline, scale, vectors.stored, vectors.stored);
    const StepValue<Real> values[] = {
        angle.position,       angle.theta,       angle.phase,
        angle.sine,           angle.table_sine,  vectors.rotated.first,
        vectors.stored.first, score.accumulated, score.scaled};
    for (int other = 0; other < step_count; ++other) {
      INFO(step_names[static_cast<std::size_t>(s)] << " exact, value of " << other);
      CHECK(std::holds_alternative<Real>(values[other]) == (other == s));
    }
  }
}

TEST_CASE("an exact table is not rounded as an operand of the rotation") {
  const ExactInput theta(parse_positive("1e-3")), n(parse_positive("3"));
  const Format& half = find_format("float16");
  const Pipeline pipeline = parse_pipeline("naive,table=exact,rotation=float16", float32_format());
  int told_apart = 0;
  for (int position = 0; position < 100; ++position) {
    const auto angle = angle_steps<Real>(pipeline, theta, position);
    const double sine = std::get<double>(angle.sine);
    const auto vector =
        rotation_steps<Real>(pipeline, angle, {rotation_input<Real>(pipeline, n), 0.0});
    CHECK(std::get<double>(vector.first_sine) == round_to(half, 3 * sine));
    if (round_to(half, 3 * sine) != round_to(half, 3 * round_to(half, sine))) ++told_apart;
  }
  CHECK(told_apart > 10);
}

TEST_CASE("an exact storage is not rounded as an operand of the accumulation") {
  const ExactInput theta(parse_positive("1e-3")), n(parse_positive("3")), one{Algebraic()};
  const Format& half = find_format("float16");
  const Pipeline pipeline =
      parse_pipeline("naive,storage=exact,accumulation=float16", float32_format());
  int told_apart = 0;
  for (int position = 0; position < 100; ++position) {
    const auto vector = rotation_steps<Real>(pipeline, angle_steps<Real>(pipeline, theta, position),
                                             {rotation_input<Real>(pipeline, n), 0.0});
    const double x = std::get<double>(vector.rotated.first);
    const auto score = score_steps<Real>(pipeline, one, vector.stored, vector.stored);
    CHECK(std::get<double>(score.first_product) == round_to(half, x * x));
    const double rounded = round_to(half, x);
    if (round_to(half, x * x) != round_to(half, rounded * rounded)) ++told_apart;
  }
  CHECK(told_apart > 10);
}

TEST_CASE("tables hold what the plain steps make, exact or not, finite or not") {
  for (const char* name :
       {"naive,storage=exact,accumulation=float16", "naive,table=exact,rotation=float16",
        "naive,rotation=float16,storage=exact", "fused,table=exact,storage=exact"}) {
    for (const char* phase : {"1", "1e-6"}) {  // N is beyond float16 with the second
      const Construction construction{
          parse_positive(phase) / Algebraic(50), parse_positive("1/2"), 64, {}};
      const Pipeline pipeline = parse_pipeline(name, float32_format());
      const RotatedTable table = rotated_table(pipeline, construction, 0, 50);
      const ExactInput theta(construction.theta), n(amplitude(construction));
      int different = 0;
      for (std::size_t i = 0; i < 50; ++i) {
        const auto stored =
            rotation_steps<Real>(pipeline,
                                 angle_steps<Real>(pipeline, theta, static_cast<double>(i)),
                                 {step_negated(rotation_input<Real>(pipeline, n)), 0.0})
                .stored;
        const auto query = table.query(i);
        const auto same = [](const StepValue<Real>& a, const StepValue<DoubleDouble>& b) {
          if (a.index() != b.index()) return false;
          if (const double* x = std::get_if<double>(&a)) {
            return *x == std::get<double>(b) || (std::isnan(*x) && std::isnan(std::get<double>(b)));
          }
          return std::get<Real>(a) == to_real(std::get<DoubleDouble>(b));
        };
        if (!same(stored.first, query.first) || !same(stored.second, query.second)) ++different;
      }
      INFO(name << " " << phase);
      CHECK(different == 0);
    }
  }
}

}  // namespace
}  // namespace ropelab
