#include "ropelab/design/powers_of_two.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {
namespace {

bool has_the_range_of(const Step& step, const Format& format) {
  return !step || (step->min_exponent <= format.min_exponent && step->largest >= format.largest);
}

// But for the slope.
bool are_alike(const HeadTask& a, const HeadTask& b) {
  return a.slope && b.slope && a.head_dim == b.head_dim && a.context == b.context &&
         a.window == b.window && a.pipeline.steps == b.pipeline.steps &&
         a.pipeline.fused_accumulation == b.pipeline.fused_accumulation &&
         a.errors_in_slopes == b.errors_in_slopes;
}

bool has_range(const Pipeline& pipeline) {
  return has_the_range_of(pipeline[StepName::storage], find_format("float16")) &&
         has_the_range_of(pipeline[StepName::rotation], find_format("bfloat16")) &&
         has_the_range_of(pipeline[StepName::accumulation], find_format("bfloat16")) &&
         has_the_range_of(pipeline[StepName::scaling], find_format("bfloat16"));
}

}  // namespace

std::optional<int> power_of_two_between(const std::vector<HeadTask>& a,
                                        const std::vector<HeadTask>& b) {
  const bool same =
      std::equal(a.begin(), a.end(), b.begin(), b.end(), are_alike) && has_range(a[0].pipeline);
  if (!same) return std::nullopt;
  const int exponent = std::ilogb((*b[0].slope / *a[0].slope).to_double());
  const Algebraic power = Algebraic::power(2, exponent, 1);
  for (std::size_t h = 0; h < a.size(); ++h) {
    if (!(*a[h].slope * power == *b[h].slope)) return std::nullopt;
  }
  return exponent;
}

HeadDesign for_slopes_times(HeadDesign design, int exponent) {
  const int of_query = exponent / 2;
  for (RotatedPair& pair : design.pairs) {
    for (double& component : pair.query) component = std::ldexp(component, of_query);
    for (double& component : pair.key) component = std::ldexp(component, exponent - of_query);
  }
  design.offset = std::ldexp(design.offset, exponent);
  return design;
}

}  // namespace ropelab
