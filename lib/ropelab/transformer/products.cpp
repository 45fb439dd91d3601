#include "ropelab/transformer/products.hpp"

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ropelab {
namespace {

int whole(Eigen::Index n) { return static_cast<int>(n); }

void gemm(CBLAS_TRANSPOSE transpose_b, float scale, const ConstMatrixView<float>& a,
          const ConstMatrixView<float>& b, float keep, MatrixView<float> result) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b, whole(result.rows()), whole(result.cols()),
              whole(a.cols()), scale, a.data(), whole(a.outerStride()), b.data(),
              whole(b.outerStride()), keep, result.data(), whole(result.outerStride()));
}

void gemm(CBLAS_TRANSPOSE transpose_b, double scale, const ConstMatrixView<double>& a,
          const ConstMatrixView<double>& b, double keep, MatrixView<double> result) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transpose_b, whole(result.rows()), whole(result.cols()),
              whole(a.cols()), scale, a.data(), whole(a.outerStride()), b.data(),
              whole(b.outerStride()), keep, result.data(), whole(result.outerStride()));
}

void gemv(CBLAS_TRANSPOSE transpose, float scale, const ConstMatrixView<float>& b, const float* x,
          float keep, float* y) {
  cblas_sgemv(CblasRowMajor, transpose, whole(b.rows()), whole(b.cols()), scale, b.data(),
              whole(b.outerStride()), x, 1, keep, y, 1);
}

void gemv(CBLAS_TRANSPOSE transpose, double scale, const ConstMatrixView<double>& b,
          const double* x, double keep, double* y) {
  cblas_dgemv(CblasRowMajor, transpose, whole(b.rows()), whole(b.cols()), scale, b.data(),
              whole(b.outerStride()), x, 1, keep, y, 1);
}

template <class Scalar>
void product(CBLAS_TRANSPOSE transpose_b, Scalar scale, const ConstMatrixView<Scalar>& a,
             const ConstMatrixView<Scalar>& b, Scalar keep, MatrixView<Scalar> result) {
  if (result.size() == 0) return;
  if (a.rows() == 1) {
    const CBLAS_TRANSPOSE transpose = transpose_b == CblasTrans ? CblasNoTrans : CblasTrans;
    return gemv(transpose, scale, b, a.data(), keep, result.data());
  }
  gemm(transpose_b, scale, a, b, keep, result);
}

#if defined(__x86_64__)

// Those that OpenBLAS falls back to, by the vendor of a processor it does not know.
bool is_fallback(std::string_view kernels) {
  constexpr std::string_view fallbacks[] = {"Prescott", "Core2", "Nehalem", "Barcelona"};
  return std::find(std::begin(fallbacks), std::end(fallbacks), kernels) != std::end(fallbacks);
}

const char* newest_kernels() {
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  if (has_avx512) return "SkylakeX";
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_avx2 ? "Haswell" : nullptr;
}

// OpenBLAS reads the environment before main begins, and again in these two of its functions. They
// are exported but not declared, and a build for one processor only has neither.
void replace_fallback_kernels() {
  const char* newest = newest_kernels();
  const char* variable = "OPENBLAS_CORETYPE";
  if (!is_fallback(blas_kernels()) || newest == nullptr || std::getenv(variable) != nullptr) return;
  using Step = void (*)();
  const auto quit = reinterpret_cast<Step>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  const auto start = reinterpret_cast<Step>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  if (quit == nullptr || start == nullptr) return;
  setenv(variable, newest, 1);
  quit();
  start();
  unsetenv(variable);
}

#else

void replace_fallback_kernels() {}

#endif

}  // namespace

template <class Scalar>
void multiply_by_transposed(Scalar scale, const ConstMatrixView<Scalar>& a,
                            const ConstMatrixView<Scalar>& b, MatrixView<Scalar> result) {
  product<Scalar>(CblasTrans, scale, a, b, 0, result);
}

template <class Scalar>
void add_product_by_transposed(Scalar scale, const ConstMatrixView<Scalar>& a,
                               const ConstMatrixView<Scalar>& b, MatrixView<Scalar> result) {
  product<Scalar>(CblasTrans, scale, a, b, 1, result);
}

template <class Scalar>
void multiply(const ConstMatrixView<Scalar>& a, const ConstMatrixView<Scalar>& b,
              MatrixView<Scalar> result) {
  product<Scalar>(CblasNoTrans, 1, a, b, 0, result);
}

template void multiply_by_transposed(float, const ConstMatrixView<float>&,
                                     const ConstMatrixView<float>&, MatrixView<float>);
template void multiply_by_transposed(double, const ConstMatrixView<double>&,
                                     const ConstMatrixView<double>&, MatrixView<double>);
template void add_product_by_transposed(float, const ConstMatrixView<float>&,
                                        const ConstMatrixView<float>&, MatrixView<float>);
template void add_product_by_transposed(double, const ConstMatrixView<double>&,
                                        const ConstMatrixView<double>&, MatrixView<double>);
template void multiply(const ConstMatrixView<float>&, const ConstMatrixView<float>&,
                       MatrixView<float>);
template void multiply(const ConstMatrixView<double>&, const ConstMatrixView<double>&,
                       MatrixView<double>);

std::string blas_kernels() { return openblas_get_corename(); }

void prepare_blas() {
  [[maybe_unused]] static const bool once = [] {
    replace_fallback_kernels();
    openblas_set_num_threads(1);
    return true;
  }();
}

}  // namespace ropelab
