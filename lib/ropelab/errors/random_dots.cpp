#include "ropelab/errors/random_dots.hpp"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/simulation/content.hpp"

namespace ropelab {
namespace {

std::vector<Rational> random_vector(std::uint64_t seed, Role role, std::size_t number,
                                    int rope_dim) {
  std::vector<Rational> components;
  for (const double x : content_vector(seed, role, static_cast<long long>(number),
                                       static_cast<std::size_t>(rope_dim), Step())) {
    components.push_back(to_rational(x));
  }
  return components;
}

// Calls visit(n) for n < count, in parallel.
template <class Visit>
void for_each_product(std::size_t count, const Interruption& interruption, const Visit& visit) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      interruption.check();
      visit(n);
    }
  });
}

// Magnitudes as they come, in an order of their own.
class ErrorMagnitudes {
 public:
  void add(const Real& difference) {
    squares_ += difference * difference;
    greatest_ = std::max(greatest_, Real(abs(difference)));
    ++count_;
  }
  double greatest() const { return to_double(greatest_); }
  double root_mean_square() const {
    return count_ == 0 ? 0 : to_double(Real(sqrt(squares_ / Real(count_))));
  }

 private:
  Real squares_ = 0, greatest_ = 0;
  long long count_ = 0;
};

}  // namespace

RandomDots::RandomDots(const FrequencyGrid& grid, Layout layout, long long i, long long j,
                       std::size_t count, std::uint64_t seed, const Interruption& interruption)
    : grid_(grid), layout_(layout), i_(i), j_(j), q_(count), k_(count), exact_(count) {
  for_each_product(count, interruption, [&](std::size_t n) {
    q_[n] = random_vector(seed, Role::query, n, grid.rope_dim());
    k_[n] = random_vector(seed, Role::key, n, grid.rope_dim());
    exact_[n] = exact_rotated_dot(grid, q_[n], k_[n], i, j, layout, interruption).value;
  });
}

double RandomDots::exact_rms() const {
  ErrorMagnitudes magnitudes;
  for (const Real& x : exact_) magnitudes.add(x);
  return magnitudes.root_mean_square();
}

std::vector<StepValue<Real>> RandomDots::computed(const Pipeline& pipeline, const Rounded& vectors,
                                                  long long offset,
                                                  const Interruption& interruption) const {
  const DotAngles of_query(pipeline, grid_, i_ + offset, interruption);
  const DotAngles of_key(pipeline, grid_, j_ + offset, interruption);
  std::vector<StepValue<Real>> values(q_.size());
  for_each_product(values.size(), interruption, [&](std::size_t n) {
    values[n] = computed_dot(pipeline, layout_, {vectors.q[n], of_query}, {vectors.k[n], of_key});
  });
  return values;
}

std::vector<ShiftErrors> RandomDots::measure(const Pipeline& pipeline, const Format& dtype,
                                             const std::vector<long long>& offsets,
                                             const Interruption& interruption) const {
  Rounded vectors;
  for (const auto& q : q_) vectors.q.push_back(rounded_components(dtype, q));
  for (const auto& k : k_) vectors.k.push_back(rounded_components(dtype, k));
  const auto unshifted = computed(pipeline, vectors, 0, interruption);
  std::vector<ShiftErrors> all;
  for (const long long offset : offsets) {
    const auto shifted = computed(pipeline, vectors, offset, interruption);
    ErrorMagnitudes errors, shifts;
    std::size_t nonfinite = 0;
    for (std::size_t n = 0; n < shifted.size(); ++n) {
      if (!is_finite(shifted[n]) || !is_finite(unshifted[n])) {
        ++nonfinite;
        continue;
      }
      errors.add(as_exact(shifted[n]) - exact_[n]);
      shifts.add(as_exact(shifted[n]) - as_exact(unshifted[n]));
    }
    all.push_back({errors.root_mean_square(), errors.greatest(), shifts.root_mean_square(),
                   shifts.greatest(), nonfinite});
  }
  return all;
}

}  // namespace ropelab
