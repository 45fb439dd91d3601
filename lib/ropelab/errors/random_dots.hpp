// Rotated dot products of random vectors at shifted positions. In exact arithmetic they depend on
// i - j alone: what a shift of both positions changes is the format's and the pipeline's doing.
#pragma once

#include <cstdint>
#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/simulation/computed_dot.hpp"

namespace ropelab {

// Over the finite ones of a number of products, neither scaled nor divided by anything.
struct ShiftErrors {
  double error_rms, error_max;  // of computed - exact, at the shifted positions
  double shift_rms, shift_max;  // of computed there - computed at i and j
  std::size_t nonfinite;        // products of which either computed value is not finite
};

class RandomDots {
 public:
  // `count` queries and keys of independent random components of mean 0 and variance 1 (those of
  // content_vector(), nothing rounded), to be rotated by positions i and j. Throws Interrupted.
  RandomDots(const FrequencyGrid& grid, Layout layout, long long i, long long j, std::size_t count,
             std::uint64_t seed, const Interruption& interruption = {});

  // The root mean square of the exact products.
  double exact_rms() const;

  // What a format and a pipeline make of them at i + offset and j + offset, for each offset. The
  // inputs are first rounded to the format, as computed_dot() does. Throws Interrupted.
  std::vector<ShiftErrors> measure(const Pipeline& pipeline, const Format& dtype,
                                   const std::vector<long long>& offsets,
                                   const Interruption& interruption = {}) const;

 private:
  // Queries and keys in a dtype.
  struct Rounded {
    std::vector<std::vector<double>> q, k;
  };
  std::vector<StepValue<Real>> computed(const Pipeline& pipeline, const Rounded& vectors,
                                        long long offset, const Interruption& interruption) const;

  FrequencyGrid grid_;
  Layout layout_;
  long long i_, j_;
  std::vector<std::vector<Rational>> q_, k_;
  std::vector<Real> exact_;
};

}  // namespace ropelab
