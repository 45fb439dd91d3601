#include "ropelab/simulation/computed_dot.hpp"

#include <stdexcept>

#include "ropelab/simulation/score.hpp"

namespace ropelab {
namespace {

using Value = StepValue<Real>;
using Vector = std::vector<Value>;

// What `storage` keeps of a vector that is rotated.
Vector stored_vector(const Pipeline& pipeline, Layout layout, const ToRotate& vector) {
  const int pairs = vector.angles.pairs();
  Vector stored(vector.components.size());
  for (int n = 0; n < pairs; ++n) {
    const auto pair = pair_components(layout, 2 * pairs, n);
    const auto first = static_cast<std::size_t>(pair.first);
    const auto second = static_cast<std::size_t>(pair.second);
    const auto rotation = rotation_steps<Real>(
        pipeline, vector.angles[n], {vector.components[first], vector.components[second]});
    stored[first] = rotation.stored.first;
    stored[second] = rotation.stored.second;
  }
  return stored;
}

Value accumulate(const Pipeline& pipeline, const Vector& q, const Vector& k) {
  Accumulation<Real> accumulation(pipeline);
  for (std::size_t n = 0; n < q.size(); ++n) accumulation.add(q[n], k[n]);
  return accumulation.sum_so_far();
}

}  // namespace

DotAngles::DotAngles(const Pipeline& pipeline, const FrequencyGrid& grid, long long position,
                     const Interruption& interruption) {
  for (int n = 0; n < grid.pairs(); ++n) {
    interruption.check();
    const ExactInput theta(grid.theta(n));
    steps_.push_back(angle_steps<Real>(pipeline, theta, static_cast<double>(position)));
  }
}

std::vector<double> rounded_components(const Format& dtype, const std::vector<Rational>& vector) {
  std::vector<double> rounded;
  for (const Rational& x : vector) rounded.push_back(round_to(dtype, x));
  return rounded;
}

Value computed_dot(const Pipeline& pipeline, Layout layout, const ToRotate& query,
                   const ToRotate& key) {
  for (const ToRotate* vector : {&query, &key}) {
    const auto components = 2 * static_cast<std::size_t>(vector->angles.pairs());
    if (vector->components.size() == components) continue;
    throw std::invalid_argument("q and k must have " + std::to_string(components) +
                                " components, as rope_dim says");
  }
  return accumulate(pipeline, stored_vector(pipeline, layout, query),
                    stored_vector(pipeline, layout, key));
}

Value computed_dot(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs,
                   const Interruption& interruption) {
  const DotAngles query(pipeline, inputs.grid, inputs.i, interruption);
  const DotAngles key(pipeline, inputs.grid, inputs.j, interruption);
  const auto q = rounded_components(dtype, inputs.q), k = rounded_components(dtype, inputs.k);
  return computed_dot(pipeline, inputs.layout, {q, query}, {k, key});
}

}  // namespace ropelab
