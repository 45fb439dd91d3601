// Matrices of this room: row-major, a token, a query or a word in each row.
#pragma once

#include <Eigen/Core>
#include <span>

namespace ropelab {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A block of a matrix: rows lie next to each other or further apart, columns always side by side.
template <class Scalar>
using MatrixView = Eigen::Ref<Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using ConstMatrixView = Eigen::Ref<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// A matrix in memory that something else owns.
template <class Scalar>
using MappedMatrix = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using ConstMappedMatrix = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

template <class Scalar>
std::span<Scalar> row_of(MatrixView<Scalar> matrix, Eigen::Index row) {
  return {matrix.data() + row * matrix.outerStride(), static_cast<std::size_t>(matrix.cols())};
}
template <class Scalar>
std::span<const Scalar> const_row_of(const ConstMatrixView<Scalar>& matrix, Eigen::Index row) {
  return {matrix.data() + row * matrix.outerStride(), static_cast<std::size_t>(matrix.cols())};
}

}  // namespace ropelab
