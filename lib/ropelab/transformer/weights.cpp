#include "ropelab/transformer/weights.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <bit>
#include <cstdint>

#include "ropelab/transformer/products.hpp"
#include "ropelab/transformer/vector_kernels.hpp"

namespace ropelab {
namespace {

template <class Scalar>
bool is_stored_as(const Tensor& tensor) {
  const TensorType own = sizeof(Scalar) == 4 ? TensorType::float32 : TensorType::float64;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.bytes.data());
  return std::endian::native == std::endian::little && tensor.type == own &&
         address % alignof(Scalar) == 0;
}

// Rows of the weights, and columns of the result, that one thread takes at a time: fewer, and
// OpenBLAS would spend its time rearranging `in` for each of them; more, and threads would be left
// without work.
constexpr Eigen::Index height = 256;

// Calls work(first column of the result, block of weights) for blocks that depend on the shape
// alone.
template <class Scalar, class Work>
void for_each_block(const WeightMatrix<Scalar>& weight, const Work& work) {
  const Eigen::Index blocks = (weight.rows() + height - 1) / height;
  tbb::parallel_for(
      tbb::blocked_range<Eigen::Index>(0, blocks, 1),
      [&](const tbb::blocked_range<Eigen::Index>& range) {
        for (Eigen::Index n = range.begin(); n != range.end(); ++n) {
          const Eigen::Index first = n * height, count = std::min(height, weight.rows() - first);
          // Kept from call to call: most calls of a small model would spend their time on pages.
          thread_local std::vector<Scalar> room;
          work(first, weight.block(first, count, room));
        }
      },
      tbb::simple_partitioner());
}

template <class Scalar>
void add_to_rows(std::span<const Scalar> offset, MatrixView<Scalar> rows) {
  const Eigen::Map<const Eigen::Matrix<Scalar, 1, Eigen::Dynamic>> row(
      offset.data(), static_cast<Eigen::Index>(offset.size()));
  rows.rowwise() += row;
}

template <class Scalar>
std::span<const Scalar> part_of(const std::vector<Scalar>& vector, Eigen::Index first,
                                Eigen::Index count) {
  return std::span<const Scalar>(vector).subspan(static_cast<std::size_t>(first),
                                                 static_cast<std::size_t>(count));
}

}  // namespace

template <class Scalar>
WeightMatrix<Scalar>::WeightMatrix(const Tensor& tensor)
    : tensor_(&tensor),
      rows_(static_cast<Eigen::Index>(tensor.shape.at(0))),
      columns_(static_cast<Eigen::Index>(tensor.shape.at(1))),
      in_place_(is_stored_as<Scalar>(tensor) ? reinterpret_cast<const Scalar*>(tensor.bytes.data())
                                             : nullptr) {}

template <class Scalar>
ConstMappedMatrix<Scalar> WeightMatrix<Scalar>::block(Eigen::Index first, Eigen::Index count,
                                                      std::vector<Scalar>& room) const {
  const Scalar* data = in_place_ + (in_place_ == nullptr ? 0 : first * columns_);
  if (in_place_ == nullptr) {
    room.resize(static_cast<std::size_t>(count * columns_));
    widen<Scalar>(*tensor_, static_cast<std::size_t>(first * columns_), std::span<Scalar>(room));
    data = room.data();
  }
  return {data, count, columns_, Eigen::OuterStride<>(columns_)};
}

template <class Scalar>
std::vector<Scalar> weight_vector(const Tensor& tensor) {
  std::vector<Scalar> vector(tensor.count());
  widen<Scalar>(tensor, std::span<Scalar>(vector));
  return vector;
}

template <class Scalar>
void Linear<Scalar>::apply(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const {
  for_each_block(weight, [&](Eigen::Index first, const ConstMatrixView<Scalar>& block) {
    MatrixView<Scalar> part = out.middleCols(first, block.rows());
    multiply_by_transposed<Scalar>(1, in, block, part);
    add_to_rows<Scalar>(part_of(offset, first, block.rows()), part);
  });
}

template <class Scalar>
void Linear<Scalar>::apply_with_gelu(const ConstMatrixView<Scalar>& in,
                                     MatrixView<Scalar> out) const {
  for_each_block(weight, [&](Eigen::Index first, const ConstMatrixView<Scalar>& block) {
    MatrixView<Scalar> part = out.middleCols(first, block.rows());
    multiply_by_transposed<Scalar>(1, in, block, part);
    for (Eigen::Index row = 0; row < part.rows(); ++row) {
      vector_kernels::add_and_apply_gelu(row_of<Scalar>(part, row),
                                         part_of(offset, first, block.rows()));
    }
  });
}

template <class Scalar>
void Linear<Scalar>::add(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const {
  for_each_block(weight, [&](Eigen::Index first, const ConstMatrixView<Scalar>& block) {
    MatrixView<Scalar> part = out.middleCols(first, block.rows());
    add_product_by_transposed<Scalar>(1, in, block, part);
    add_to_rows<Scalar>(part_of(offset, first, block.rows()), part);
  });
}

template <class Scalar>
void apply(const WeightMatrix<Scalar>& weight, const ConstMatrixView<Scalar>& in,
           MatrixView<Scalar> out) {
  for_each_block(weight, [&](Eigen::Index first, const ConstMatrixView<Scalar>& block) {
    multiply_by_transposed<Scalar>(1, in, block, out.middleCols(first, block.rows()));
  });
}

template <class Scalar>
void LayerNorm<Scalar>::apply(const ConstMatrixView<Scalar>& in, MatrixView<Scalar> out) const {
  tbb::parallel_for(Eigen::Index{0}, in.rows(), [&](Eigen::Index row) {
    vector_kernels::layer_norm(const_row_of<Scalar>(in, row), std::span<const Scalar>(weight),
                               std::span<const Scalar>(offset), epsilon, row_of<Scalar>(out, row));
  });
}

template class WeightMatrix<float>;
template class WeightMatrix<double>;
template std::vector<float> weight_vector(const Tensor&);
template std::vector<double> weight_vector(const Tensor&);
template struct Linear<float>;
template struct Linear<double>;
template void apply(const WeightMatrix<float>&, const ConstMatrixView<float>&, MatrixView<float>);
template void apply(const WeightMatrix<double>&, const ConstMatrixView<double>&,
                    MatrixView<double>);
template struct LayerNorm<float>;
template struct LayerNorm<double>;

}  // namespace ropelab
