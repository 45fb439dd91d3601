#include "ropelab/alibi/costs.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace ropelab {
namespace {

constexpr std::array<std::string_view, 6> names{"native",     "single", "dyadic",
                                                "multi-pair", "grid",   "rank-2"};

constexpr long long multiple_of_kernels = 8;

long long rounded_up(long long dimensions) {
  return (dimensions + multiple_of_kernels - 1) / multiple_of_kernels * multiple_of_kernels;
}

}  // namespace

std::string_view bias_method_name(BiasMethod method) {
  return names[static_cast<std::size_t>(method)];
}

bool rotates(BiasMethod method) {
  return method != BiasMethod::native && method != BiasMethod::rank_2;
}

long long extra_dimensions(BiasMethod method, long long parts) {
  if (method == BiasMethod::native) return 0;
  const bool is_meant = method == BiasMethod::single ? parts == 1 : parts >= 1;
  if (is_meant) return 2 * parts;
  throw std::invalid_argument(fmt::format(
      "{} has {} {}; {} would be right", bias_method_name(method), parts,
      rotates(method) ? "pairs" : "terms", method == BiasMethod::single ? "1" : "1 or more"));
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
  const Real factor = costs.score_factor_if_unscaled.to_real();
  return slope.to_real() * Real(context - 1) * (1 - factor);
}

}  // namespace ropelab
