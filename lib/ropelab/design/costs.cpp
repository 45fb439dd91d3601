#include "ropelab/design/costs.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ropelab {
namespace {

constexpr long long multiple_of_kernels = 8;

long long rounded_up(long long dimensions) {
  return (dimensions + multiple_of_kernels - 1) / multiple_of_kernels * multiple_of_kernels;
}

}  // namespace

long long extra_dimensions(Method method, long long parts) {
  if (method == Method::native) return 0;
  const bool is_meant = method == Method::single ? parts == 1 : parts >= 1;
  if (is_meant) return 2 * parts;
  throw std::invalid_argument(fmt::format("{} has {} {}; {} would be right", name_of(method), parts,
                                          rotates(method) ? "pairs" : "terms",
                                          method == Method::single ? "1" : "1 or more"));
}

long long key_bytes_per_token(const AttentionShape& shape, long long dimensions) {
  return shape.layers * shape.key_value_heads * dimensions * shape.element_bytes;
}

BiasCosts bias_costs(const AttentionShape& shape, long long extra) {
  const auto widened = [&](long long heads) {
    return linear_parameters(shape.hidden_size, heads * extra, shape.projection_bias);
  };
  const long long whole = shape.head_dim + extra;
  return {extra,
          extra == 0 ? 0 : rounded_up(whole) - shape.head_dim,
          shape.layers * (widened(shape.heads) + widened(shape.key_value_heads)),
          extra,
          key_bytes_per_token(shape, extra),
          square_root(Rational(shape.head_dim, whole))};
}

Real bias_error_if_unscaled(const BiasCosts& costs, const Algebraic& slope, long long context) {
  if (costs.extra_dimensions == 0) return 0;
  const Real factor = costs.score_factor_if_unscaled.to_real();
  return slope.to_real() * Real(context - 1) * (1 - factor);
}

}  // namespace ropelab
