// Which arithmetic of the vector kernels changes no score; internal to this room.
#pragma once

#include <limits>
#include <vector>

#include "ropelab/errors/kernel.hpp"
#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

// What is known of numbers that are not 0.
struct Magnitudes {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  double quantum = std::numeric_limits<double>::infinity();  // all are multiples of it

  void add(double x);
  void add(const Magnitudes& other);
};

// What is known of a column of components before a pair is looked at.
struct ColumnRange {
  bool finite = true;
  Magnitudes magnitudes;
  double significand = 0;  // each is an integer up to this, times a power of two

  explicit ColumnRange(const std::vector<double>& values);
};

// What `storage` kept, as operands of a step in the format.
std::vector<double> rounded_column(const Format& format, const ComponentTable& column);

// Every product of numbers of `query` and `key`, rounded to the format, is a multiple of this.
double product_quantum(const Format& format, const Magnitudes& query, const Magnitudes& key);

// The steps from a sum of products to its score.
struct ScoreSums {
  Format accumulation, scaling;
  double scale;  // a number of `scaling`
  bool convert;  // whether `scaling` rounds the sum before it is multiplied
  bool fused;
};
// Of a pipeline whose last two steps have formats.
ScoreSums score_sums(const Pipeline& pipeline, const ExactInput& scale);

// The cheapest arithmetic that changes no score, given the operands of every product. Lanes are as
// wide as the formats are, or wide enough to round in (vector_rounding-inl.hpp).
template <class Lane>
kernel::Arithmetic choose_arithmetic(const ScoreSums& sums, const std::vector<ColumnRange>& query,
                                     const std::vector<ColumnRange>& key);

// What a kernel with that arithmetic needs to know.
template <class Lane>
kernel::Scoring<Lane> scoring_of(const ScoreSums& sums, kernel::Arithmetic arithmetic);

// Whether that arithmetic takes query components that are multiplied by the scale.
bool has_scaled_queries(kernel::Arithmetic arithmetic);

}  // namespace ropelab
