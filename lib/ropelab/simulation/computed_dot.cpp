#include "ropelab/simulation/computed_dot.hpp"

#include <stdexcept>

#include "ropelab/simulation/steps.hpp"

namespace ropelab {
namespace {

using Value = StepValue<Real>;
using Vector = std::vector<Value>;

// What `storage` keeps of a vector that is rotated by one position.
Vector stored_vector(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs,
                     const std::vector<Rational>& components, long long position) {
  Vector stored(components.size());
  for (int pair = 0; pair < inputs.grid.pairs(); ++pair) {
    const auto [first, second] = pair_components(inputs.layout, inputs.grid.rope_dim(), pair);
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(second);
    const auto angle = angle_steps<Real>(pipeline, ExactInput(inputs.grid.theta(pair)),
                                         static_cast<double>(position));
    const auto rotation = rotation_steps<Real>(
        pipeline, angle, {round_to(dtype, components[a]), round_to(dtype, components[b])});
    stored[a] = rotation.stored.first;
    stored[b] = rotation.stored.second;
  }
  return stored;
}

// sum + q * k with one rounding, that of the sum.
Value fused_sum(const Step& step, const Value& sum, const Value& q, const Value& k) {
  const Step exact;
  const Value product = step_product(exact, operand(step, q), operand(step, k));
  if (!is_finite(sum) || !is_finite(product)) return step_sum(step, sum, product);
  return finish(step, Real(as_exact(sum) + as_exact(product)));
}

Value accumulate(const Pipeline& pipeline, const Vector& q, const Vector& k) {
  const Step& step = pipeline[StepName::accumulation];
  Value sum = step_product(step, q[0], k[0]);
  for (std::size_t n = 1; n < q.size(); ++n) {
    sum = pipeline.fused_accumulation ? fused_sum(step, sum, q[n], k[n])
                                      : step_sum(step, sum, step_product(step, q[n], k[n]));
  }
  return sum;
}

}  // namespace

Value computed_dot(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs) {
  const auto components = static_cast<std::size_t>(inputs.grid.rope_dim());
  if (inputs.q.size() != components || inputs.k.size() != components) {
    throw std::invalid_argument("q and k must have " + std::to_string(components) +
                                " components, as rope_dim says");
  }
  return accumulate(pipeline, stored_vector(pipeline, dtype, inputs, inputs.q, inputs.i),
                    stored_vector(pipeline, dtype, inputs, inputs.k, inputs.j));
}

}  // namespace ropelab
