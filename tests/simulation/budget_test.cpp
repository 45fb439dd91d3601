// Pipelines with one step rounded, and with all but one.
#include "ropelab/simulation/budget.hpp"

#include "catch.hpp"

namespace ropelab {
namespace {

bool same_steps(const Pipeline& a, const Pipeline& b) {
  return a.steps == b.steps && a.fused_accumulation == b.fused_accumulation;
}

TEST_CASE("budget pipelines keep one step, or drop it, and are named so that they read back") {
  for (const char* text : {"naive", "ideal-trig", "fused,table=bfloat16",
                           "fused,storage=exact,accumulation=float32-fma"}) {
    const Pipeline whole = parse_pipeline(text, find_format("float16"));
    for (std::size_t s = 0; s < step_count; ++s) {
      INFO(text << " " << step_names[s]);
      const auto step = static_cast<StepName>(s);
      const Pipeline one = only(whole, step), rest = all_but(whole, step);
      for (std::size_t other = 0; other < step_count; ++other) {
        CHECK(one.steps[other] == (other == s ? whole.steps[other] : Step{}));
        CHECK(rest.steps[other] == (other == s ? Step{} : whole.steps[other]));
      }
      CHECK(is_exact(one) == !whole[step].has_value());
      CHECK(same_steps(parse_pipeline(one.name, float64_format()), one));
      CHECK(same_steps(parse_pipeline(rest.name, find_format("float16")), rest));
    }
  }
}

TEST_CASE("a fused accumulation stays with its step") {
  const Pipeline whole = parse_pipeline("naive,accumulation=float32-fma", float32_format());
  CHECK(only(whole, StepName::accumulation).fused_accumulation);
  CHECK(only(whole, StepName::accumulation).name == "exact,accumulation=float32-fma");
  CHECK_FALSE(only(whole, StepName::trig).fused_accumulation);
  CHECK_FALSE(all_but(whole, StepName::accumulation).fused_accumulation);
  CHECK(all_but(whole, StepName::trig).fused_accumulation);
}

TEST_CASE("a step that is dropped is named once") {
  const Pipeline whole = parse_pipeline("fused,table=bfloat16,trig=float16", float32_format());
  CHECK(all_but(whole, StepName::table).name == "fused,trig=float16,table=exact");
  CHECK(all_but(whole, StepName::trig).name == "fused,table=bfloat16,trig=exact");
}

TEST_CASE("a step that is exact already has nothing to drop") {
  const Pipeline whole = parse_pipeline("ideal-trig", float32_format());
  CHECK(only(whole, StepName::phase).name == "exact");
  CHECK(all_but(whole, StepName::phase).name == "ideal-trig");
}

}  // namespace
}  // namespace ropelab
