// The steps of a pipeline that concern a pair of positions: from rotated vectors to F(i,j).
//
// This is the plain definition, one pair at a time, that the vector kernels are held against.
#pragma once

#include <optional>

#include "ropelab/simulation/steps.hpp"

namespace ropelab {

// query * key + sum, the product not rounded before it is added.
template <class Exact>
StepValue<Exact> step_fused(const Step& step, const StepValue<Exact>& query,
                            const StepValue<Exact>& key, const StepValue<Exact>& sum_before) {
  const StepValue<Exact> x = operand(step, query), y = operand(step, key);
  if (!is_finite(x) || !is_finite(y)) return step_sum(step, step_product(step, x, y), sum_before);
  if (!is_finite(sum_before)) return sum_before;
  const StepValue<Exact> exact = step_product(Step(), x, y);
  return finish(step, sum(as_exact(sum_before), as_exact(exact)));
}

// The sum of products by the accumulation step, in the order in which they come.
template <class Exact>
class Accumulation {
 public:
  explicit Accumulation(const Pipeline& pipeline)
      : step_(pipeline[StepName::accumulation]), fused_(pipeline.fused_accumulation) {}

  void add(const StepValue<Exact>& query, const StepValue<Exact>& key) {
    if (!sum_) {
      sum_ = step_product(step_, query, key);
    } else if (fused_) {
      sum_ = step_fused(step_, query, key, *sum_);
    } else {
      sum_ = step_sum(step_, *sum_, step_product(step_, query, key));
    }
  }

  // Of at least one product.
  const StepValue<Exact>& sum_so_far() const { return *sum_; }

 private:
  const Step& step_;
  bool fused_;
  std::optional<StepValue<Exact>> sum_;
};

// 1/sqrt(head_dim) as the scaling step rounds it.
template <class Exact>
StepValue<Exact> rounded_scale(const Pipeline& pipeline, const ExactInput& scale) {
  const Step& scaling = pipeline[StepName::scaling];
  return scaling ? StepValue<Exact>(scale.rounded(*scaling))
                 : StepValue<Exact>(scale.times<Exact>(1));
}

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
  steps.accumulated = pipeline.fused_accumulation
                          ? step_fused(step, query.second, key.second, steps.first_product)
                          : step_sum(step, steps.first_product, steps.second_product);
  steps.scale = rounded_scale<Exact>(pipeline, scale);
  steps.scaled = step_product(pipeline[StepName::scaling], steps.accumulated, steps.scale);
  return steps;
}

}  // namespace ropelab
