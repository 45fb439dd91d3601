#include "ropelab/simulation/computed_dot.hpp"

#include <stdexcept>

#include "ropelab/simulation/score.hpp"

namespace ropelab {
namespace {

using Value = StepValue<Real>;
using Vector = std::vector<Value>;

// What `storage` keeps of one pair of a vector that is rotated by its position.
void store_rotated(const Pipeline& pipeline, const Format& dtype, const ExactInput& theta,
                   long long position, std::pair<int, int> pair,
                   const std::vector<Rational>& vector, Vector& stored) {
  const auto first = static_cast<std::size_t>(pair.first);
  const auto second = static_cast<std::size_t>(pair.second);
  const auto angle = angle_steps<Real>(pipeline, theta, static_cast<double>(position));
  const auto rotation = rotation_steps<Real>(
      pipeline, angle, {round_to(dtype, vector[first]), round_to(dtype, vector[second])});
  stored[first] = rotation.stored.first;
  stored[second] = rotation.stored.second;
}

Value accumulate(const Pipeline& pipeline, const Vector& q, const Vector& k) {
  Accumulation<Real> accumulation(pipeline);
  for (std::size_t n = 0; n < q.size(); ++n) accumulation.add(q[n], k[n]);
  return accumulation.sum_so_far();
}

}  // namespace

Value computed_dot(const Pipeline& pipeline, const Format& dtype, const DotInputs& inputs,
                   const Interruption& interruption) {
  const auto components = static_cast<std::size_t>(inputs.grid.rope_dim());
  if (inputs.q.size() != components || inputs.k.size() != components) {
    throw std::invalid_argument("q and k must have " + std::to_string(components) +
                                " components, as rope_dim says");
  }
  Vector q(components);
  Vector k(components);
  for (int n = 0; n < inputs.grid.pairs(); ++n) {
    interruption.check();
    const ExactInput theta(inputs.grid.theta(n));
    const auto pair = pair_components(inputs.layout, inputs.grid.rope_dim(), n);
    store_rotated(pipeline, dtype, theta, inputs.i, pair, inputs.q, q);
    store_rotated(pipeline, dtype, theta, inputs.j, pair, inputs.k, k);
  }
  return accumulate(pipeline, q, k);
}

}  // namespace ropelab
