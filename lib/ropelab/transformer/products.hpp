// Matrix products by OpenBLAS, which picks its instruction set at run time.
//
// Eigen's own products are compiled for the oldest x86-64. EIGEN_USE_BLAS would hand them to the
// library, but for the whole program or for none of it: templates of Eigen that two rooms
// instantiate must be the same in both. So OpenBLAS is called by its own interface here, and Eigen
// only holds the numbers.
//
// Every call is computed by the thread that makes it, so that the caller's TBB arena alone decides
// how many threads there are, and figures do not depend on how many: those who want several give
// each its own block of the result.
#pragma once

#include <string>

#include "ropelab/transformer/matrix.hpp"

namespace ropelab {

// result = scale * a * b^T, or result += it. a: m x k, b: n x k, result: m x n.
template <class Scalar>
void multiply_by_transposed(Scalar scale, const ConstMatrixView<Scalar>& a,
                            const ConstMatrixView<Scalar>& b, MatrixView<Scalar> result);
template <class Scalar>
void add_product_by_transposed(Scalar scale, const ConstMatrixView<Scalar>& a,
                               const ConstMatrixView<Scalar>& b, MatrixView<Scalar> result);

// result = a * b. a: m x k, b: k x n, result: m x n.
template <class Scalar>
void multiply(const ConstMatrixView<Scalar>& a, const ConstMatrixView<Scalar>& b,
              MatrixView<Scalar> result);

// OpenBLAS's name of the kernels it uses: "Haswell", "SkylakeX", ... What they round differs, as
// they add in different orders.
std::string blas_kernels();

// Sets OpenBLAS up as said above, once; every Transformer asks for it. An OpenBLAS older than the
// processor does not know it and falls back to kernels of 2004, five times slower: unless the
// environment names others (OPENBLAS_CORETYPE), it is told the newest that the processor can run.
void prepare_blas();

}  // namespace ropelab
