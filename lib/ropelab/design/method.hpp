// Ways to make the bias of a head.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ropelab {

enum class Method {
  single,      // one rotated pair, theta and N searched for
  dyadic,      // theta a power of two, N a short sum of powers of two, a pair for each
  multi_pair,  // rotated pairs of free frequencies and any fixed parts
  grid,        // rotated pairs of a model's own frequencies, and a constant
  rank_two,    // factors that are not rotated, in so many terms each
  native       // the bias itself, added to the score
};
inline constexpr std::array<std::string_view, 6> method_names = {"single", "dyadic", "multi-pair",
                                                                 "grid",   "rank-2", "native"};
constexpr std::string_view name_of(Method method) {
  return method_names[static_cast<std::size_t>(method)];
}

// Whether it rotates pairs.
constexpr bool rotates(Method method) {
  return method != Method::native && method != Method::rank_two;
}

}  // namespace ropelab
