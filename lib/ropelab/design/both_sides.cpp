#include "ropelab/design/both_sides.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ropelab {
namespace {

// A root mean square, and over how many pairs.
struct Mean {
  double rms;
  std::uint64_t pairs;

  DoubleDouble sum_of_squares() const {
    return exact_product(rms, rms) * static_cast<double>(pairs);
  }
};

// Of the pairs of both, those of the diagonal counting once. Either sum holds the diagonal's, so
// that the difference is as good as they are.
double joined(const Mean& a, const Mean& b, DoubleDouble diagonal, std::uint64_t diagonal_pairs) {
  const DoubleDouble sum = a.sum_of_squares() + b.sum_of_squares() - diagonal;
  const auto pairs = static_cast<double>(a.pairs + b.pairs - diagonal_pairs);
  return std::sqrt(std::max(sum.high, 0.0) / pairs);
}

// The errors of the pairs whose score is finite; empty where there is none.
std::optional<double> joined(const PairErrors& a, const PairErrors& b,
                             std::optional<double> PairErrors::*rms, DoubleDouble diagonal,
                             std::uint64_t diagonal_pairs) {
  if (!(a.*rms) && !(b.*rms)) return std::nullopt;
  return joined({(a.*rms).value_or(0), a.pairs - a.nonfinite_pairs},
                {(b.*rms).value_or(0), b.pairs - b.nonfinite_pairs}, diagonal, diagonal_pairs);
}

PairErrors joined(const PairErrors& a, const PairErrors& b, const SquaresOfDiagonal& diagonal) {
  PairErrors both = a;
  if (b.rounding_maximum &&
      (!a.rounding_maximum || b.rounding_maximum->error > a.rounding_maximum->error)) {
    const auto& [error, i, j] = *b.rounding_maximum;
    both.rounding_maximum = LargestError{error, j, i};
  }
  both.rounding_rms =
      joined(a, b, &PairErrors::rounding_rms, diagonal.rounding, diagonal.finite_pairs);
  both.total_rms = joined(a, b, &PairErrors::total_rms, diagonal.total, diagonal.finite_pairs);
  both.total_maximum = std::max(a.total_maximum, b.total_maximum);
  both.visible_maximum = std::max(a.visible_maximum, b.visible_maximum);
  both.pairs = a.pairs + b.pairs - diagonal.pairs;
  both.nonfinite_pairs =
      a.nonfinite_pairs + b.nonfinite_pairs - (diagonal.pairs - diagonal.finite_pairs);
  return both;
}

}  // namespace

HeadTask seen_by_keys(HeadTask task) {
  std::swap(task.bias, *task.ahead);
  std::swap(task.visible, task.visible_ahead);
  return task;
}

HeadDesign exchanged(HeadDesign design) {
  for (RotatedPair& pair : design.pairs) std::swap(pair.query, pair.key);
  return design;
}

DesignErrors of_both_sides(const DesignErrors& behind, const DesignErrors& ahead,
                           const SquaresOfDiagonal& diagonal) {
  const PairErrors& a = behind.measurement.errors;
  const PairErrors& b = ahead.measurement.errors;
  DesignErrors both = behind;
  both.measurement.errors = joined(a, b, diagonal);
  both.truncation = {
      std::max(behind.truncation.maximum, ahead.truncation.maximum),
      std::max(behind.truncation.relative_maximum, ahead.truncation.relative_maximum),
      joined({behind.truncation.rms, a.pairs}, {ahead.truncation.rms, b.pairs}, diagonal.truncation,
             diagonal.pairs)};
  return both;
}

}  // namespace ropelab
