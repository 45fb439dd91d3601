// The vector kernels behind measure_deviations; internal to this room.
//
// Pairs are taken in tiles of 64 queries on 64 diagonals, whose components are copied to where
// they stay in the first and second-level caches. In a tile every sum of products runs through
// registers, four diagonals at a time. The moments of a diagonal's deviations within a tile are
// summed in `lanes` sums, that of pair (i, j) being i mod `lanes`, which are then added in their
// order; so figures depend neither on the width of a vector nor on the compiler.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <hwy/aligned_allocator.h>

#include "ropelab/errors/kernel.hpp"
#include "ropelab/exact/double_double.hpp"

namespace ropelab::content_kernel {

using kernel::lanes;
inline constexpr std::size_t tile_diagonals = 64;  // of a tile
inline constexpr std::size_t tile_queries = 64;
// Keys that they meet on these diagonals and on the one before.
inline constexpr std::size_t tile_keys = tile_queries + tile_diagonals;

// How the products of a sum are added.
enum class Adding {
  as_lanes,  // the format is the lane's
  in_range,  // rounded to a narrower one, whose largest number is never near
  any,       // rounded to a narrower one
  fused,     // the format is the lane's; all products but the first are not rounded
};

// What holds the exact sums of content.
enum class ContentSums {
  none,    // there is no content
  narrow,  // one double
  wide,    // two
};

struct Arithmetic {
  bool single;  // lanes of float, else of double
  Adding adding;
  std::optional<kernel::Rounding<float>> accumulation;
  // Of stored content to operands of the accumulation; empty: nothing to round.
  std::optional<kernel::Rounding<double>> operand;
  double scale;
  std::optional<kernel::Rounding<double>> scaling;  // empty: float64
  bool convert;                                     // round the sum before it is multiplied
  ContentSums content;
  DoubleDouble exact_scale;
};

// One term of the sum at a tile's first query and its first key: either of the pair, in operands
// of the accumulation, or of content as it is stored.
template <class Stored>
struct Term {
  const double *pair_query = nullptr, *pair_key = nullptr;
  const Stored *query = nullptr, *key = nullptr;
};

// A tile holds the queries i = begin ... begin + tile_queries - 1, as far as they are below `size`,
// on the diagonals first ... first + tile_diagonals - 1, as far as they reach them. Its first key
// is that of position begin - first - tile_diagonals + 1.
struct Place {
  std::size_t first, begin, size;
};

// Room for the components, sums and scores of a tile, to be used again for the next.
class Room {
 public:
  explicit Room(std::size_t terms);

  template <class T>
  using Numbers = hwy::AlignedFreeUniquePtr<T[]>;
  // A row for each term.
  Numbers<float> single_queries, single_keys;
  Numbers<double> double_queries, double_keys;
  Numbers<double> content_queries, content_keys;  // 0 for the pair's products
  // A row for each diagonal, the one before the first among them.
  Numbers<double> scores, content_high, content_low;
};

// The deviations F - C - center of a tile's pairs on each diagonal, C being the exact score of
// content and `centers` one number for each diagonal. A deviation is good to 2^-50 relative and
// to the errors of C: 2^-105 relative, and head_dim^2 * 2^-105 * sum |q k| if that is wide.
// Scores that are not finite count in `lost` and `not_finite` only.
void run_tile(const Arithmetic& arithmetic, const std::vector<Term<float>>& terms,
              const Place& place, const DoubleDouble* centers, Room& room, kernel::Share* shares);
void run_tile(const Arithmetic& arithmetic, const std::vector<Term<double>>& terms,
              const Place& place, const DoubleDouble* centers, Room& room, kernel::Share* shares);

}  // namespace ropelab::content_kernel
