#include "ropelab/transformer/computed_rotary.hpp"

#include <tbb/parallel_for.h>

#include <stdexcept>

#include "ropelab/simulation/steps.hpp"

namespace ropelab {
namespace {

struct Turn {
  double cosine, sine;
};

double nearest_double(const StepValue<Real>& value) {
  return std::holds_alternative<double>(value) ? std::get<double>(value)
                                               : to_double(std::get<Real>(value));
}

// Double-double first, which decides nearly every rounding; not what is kept without one.
Turn turn_at(const Pipeline& pipeline, const ExactInput& theta, double position) {
  if (pipeline[StepName::table] || pipeline[StepName::trig]) {
    try {
      const auto steps = angle_steps<Bounded>(pipeline, theta, position);
      return {std::get<double>(steps.table_cosine), std::get<double>(steps.table_sine)};
    } catch (const Undecided&) {
    }
  }
  const auto steps = angle_steps<Real>(pipeline, theta, position);
  return {nearest_double(steps.table_cosine), nearest_double(steps.table_sine)};
}

}  // namespace

template <class Scalar>
ComputedRotary<Scalar>::ComputedRotary(const Pipeline& pipeline, const FrequencyGrid& grid,
                                       long long first_position, std::size_t count,
                                       const Interruption& interruption)
    : pairs_(static_cast<std::size_t>(grid.pairs())),
      first_position_(first_position),
      cosines_(count * pairs_),
      sines_(count * pairs_),
      rotation_(pipeline[StepName::rotation], pipeline[StepName::storage]) {
  std::vector<ExactInput> thetas;
  for (int pair = 0; pair < grid.pairs(); ++pair) thetas.emplace_back(grid.theta(pair));
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
    interruption.check();
    const auto position = static_cast<double>(first_position + static_cast<long long>(n));
    for (std::size_t pair = 0; pair < pairs_; ++pair) {
      const Turn turn = turn_at(pipeline, thetas[pair], position);
      cosines_[n * pairs_ + pair] = static_cast<Scalar>(turn.cosine);
      sines_[n * pairs_ + pair] = static_cast<Scalar>(turn.sine);
    }
  });
}

template <class Scalar>
void ComputedRotary<Scalar>::tables(long long position, std::span<Scalar> cosines,
                                    std::span<Scalar> sines) const {
  const auto row = static_cast<std::size_t>(position - first_position_);
  if (position < first_position_ || (row + 1) * pairs_ > cosines_.size()) {
    throw std::out_of_range("there is no table for this position");
  }
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    cosines[pair] = cosines_[row * pairs_ + pair];
    sines[pair] = sines_[row * pairs_ + pair];
  }
}

template <class Scalar>
void ComputedRotary<Scalar>::rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
                                    std::span<Scalar> components) const {
  rotation_(cosines, sines, components);
}

template class ComputedRotary<float>;
template class ComputedRotary<double>;

}  // namespace ropelab
