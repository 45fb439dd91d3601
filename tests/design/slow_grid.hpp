// The slow frequencies of a grid, and a head that they may serve.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "ropelab/design/head_design.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {

// The 16 slowest of base 1e6 and 128 dimensions.
inline std::vector<Algebraic> slow_grid() {
  std::vector<Algebraic> thetas;
  for (int r = 63; r > 47; --r) thetas.push_back(Algebraic::power(1000000, -r, 64));
  return thetas;
}

// Head 1 of 16 at 2048 positions.
inline HeadTask first_head(const char* dtype, const char* pipeline = "fused") {
  return alibi_task(parse_positive("2^(-1/2)"), 64, 2048, 2048,
                    parse_pipeline(pipeline, find_format(dtype)));
}

inline double size_of(const std::array<double, 2>& part) { return std::hypot(part[0], part[1]); }

}  // namespace ropelab
