// Whether the vector kernels may compute in lanes of float; internal to this room.
#pragma once

#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

inline constexpr int widest_in_float = 24;

// bfloat16 has float32's exponents, so its products may leave float32's range at the low end
// and the rounding of vector_rounding-inl.hpp at the high end; such tables, far from any in use,
// do not fit.
bool fits_float(const Format& format, const RotatedTable& table);
bool fits_float(const Format& format, const ScoreTable& table);

// Whether an operand in `from` is rounded by a step in `to`.
bool must_convert(const Format& from, const Format& to);

}  // namespace ropelab
