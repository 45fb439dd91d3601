// The steps of a pipeline that concern a pair of positions: from rotated vectors to F(i,j).
//
// This is the plain definition, one pair at a time, that the vector kernels are held against.
#pragma once

#include "ropelab/simulation/steps.hpp"

namespace ropelab {

template <class Exact>
struct ScoreSteps {
  StepValue<Exact> first_product, second_product;  // the second as if it were rounded
  StepValue<Exact> accumulated;
  StepValue<Exact> scale;   // 1/sqrt(head_dim) as the scaling step rounds it
  StepValue<Exact> scaled;  // F
};

// `scale` is 1/sqrt(head_dim); query and key are what `storage` made of them.
template <class Exact>
ScoreSteps<Exact> score_steps(const Pipeline& pipeline, const ExactInput& scale,
                              const Components<Exact>& query, const Components<Exact>& key) {
  const Step& step = pipeline[StepName::accumulation];
  ScoreSteps<Exact> steps;
  steps.first_product = step_product(step, query.first, key.first);
  steps.second_product = step_product(step, query.second, key.second);
  if (pipeline.fused_accumulation && is_finite(steps.second_product)) {
    const Step exact;
    const StepValue<Exact> second =
        step_product(exact, operand(step, query.second), operand(step, key.second));
    steps.accumulated = is_finite(steps.first_product)
                            ? finish(step, sum(as_exact(steps.first_product), as_exact(second)))
                            : steps.first_product;
  } else {
    steps.accumulated = step_sum(step, steps.first_product, steps.second_product);
  }
  const Step& scaling = pipeline[StepName::scaling];
  steps.scale =
      scaling ? StepValue<Exact>(scale.rounded(*scaling)) : StepValue<Exact>(scale.times<Exact>(1));
  steps.scaled = step_product(scaling, steps.accumulated, steps.scale);
  return steps;
}

}  // namespace ropelab
