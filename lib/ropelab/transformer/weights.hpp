// The weights of a checkpoint as matrices and vectors to compute with.
#pragma once

#include <string_view>
#include <vector>

#include "ropelab/checkpoint/checkpoint.hpp"
#include "ropelab/transformer/matrix.hpp"

namespace ropelab {

// A matrix of the checkpoint: in place where it is stored as Scalar, otherwise widened a few rows
// at a time, so that no more of it is ever in memory than what its threads work on.
template <class Scalar>
class WeightMatrix {
 public:
  // The tensor must have two dimensions; it must outlive the matrix.
  explicit WeightMatrix(const Tensor& tensor);

  Eigen::Index rows() const { return rows_; }
  Eigen::Index columns() const { return columns_; }
  // Rows first ... first+count-1; `room` is written to if they have to be widened, and must live as
  // long as the result is used.
  ConstMappedMatrix<Scalar> block(Eigen::Index first, Eigen::Index count,
                                  std::vector<Scalar>& room) const;

 private:
  const Tensor* tensor_;
  Eigen::Index rows_, columns_;
  const Scalar* in_place_;  // null where it must be widened
};

template <class Scalar>
std::vector<Scalar> weight_vector(const Tensor& tensor);

// A matrix with a vector of offsets: y = x W^T + b for every row x.
template <class Scalar>
struct Linear {
  WeightMatrix<Scalar> weight;
  std::vector<Scalar> offset;

  // out = in W^T + b; the same through BLOOM's GELU; out += in W^T + b. The work goes to the
  // threads of the caller's TBB arena, without a trace in the figures.
  void apply(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const;
  void apply_with_gelu(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const;
  void add(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const;
};

// out = in W^T, in the same way.
template <class Scalar>
void apply(const WeightMatrix<Scalar>& weight, const ConstMatrixView<Scalar>& in,
           MatrixView<Scalar> out);

template <class Scalar>
struct LayerNorm {
  std::vector<Scalar> weight, offset;
  double epsilon;

  // Every row of `in`; out may be in.
  void apply(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const;
};

}  // namespace ropelab
