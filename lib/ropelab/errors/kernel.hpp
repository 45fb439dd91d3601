// The vector kernels behind measure_diagonals; internal to this room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "ropelab/errors/diagonals.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab::kernel {

// Sums run in this many lanes, whatever the width of a vector: that of pair (i, j) is i mod lanes.
inline constexpr std::size_t lanes = 16;
// Positions of a tile: its four tables and one row of scores stay in the first-level cache.
inline constexpr std::size_t tile = 1024;
// Diagonals that go through a tile before the next tile is read.
inline constexpr std::size_t block = 64;

// How a lane rounds to a format narrower than itself (kernel.cpp explains the numbers).
template <class Lane>
struct Rounding {
  Lane least_power;    // 2^min_exponent
  Lane magic;          // 1.5 * 2^(precision of Lane - precision of the format)
  Lane last_in_range;  // the largest Lane that does not round past the largest number
  Lane past_range;     // what a larger one becomes, sign aside
};

template <class Lane>
Rounding<Lane> rounding_to(const Format& format);

// Tables of `size` positions; each may be read from `lanes` before its start to `lanes` after
// its end.
template <class Lane>
struct Tables {
  const Lane* query_first;
  const Lane* query_second;
  const Lane* key_first;
  const Lane* key_second;
  std::size_t size;
  Lane scale;
  std::optional<Rounding<Lane>> accumulation;  // empty: Lane's own precision
  std::optional<Rounding<Lane>> scaling;
  bool convert;  // round the sum to the scaling format before it is multiplied
};

// What a tile adds to a diagonal. The moments are kept by lane of the pair; the extremes and
// counts, whose order does not matter, by lane of the vector.
template <class Lane>
struct alignas(64) Accumulator {
  using Count = std::conditional_t<sizeof(Lane) == 4, std::int32_t, std::int64_t>;
  std::array<double, lanes> sum{};
  std::array<double, lanes> sum_of_squares{};
  std::array<Lane, lanes> least = filled(std::numeric_limits<Lane>::infinity());
  std::array<Lane, lanes> greatest = filled(-std::numeric_limits<Lane>::infinity());
  std::array<Count, lanes> lost{};
  std::array<Count, lanes> not_finite{};  // only where scores are checked
  double center = 0;

  static std::array<Lane, lanes> filled(Lane value) {
    std::array<Lane, lanes> all;
    all.fill(value);
    return all;
  }
};

// Adds diagonals first ... last-1 (at most `block`) over the queries [begin, end) to their
// accumulators. `begin` is a multiple of `lanes`, and so is `end` unless it is the tables'
// size; end - begin <= tile. With `checked`, scores that are not finite count in not_finite
// and lost only; without, they spoil sum_of_squares, which shows it.
void run_tile(const Tables<float>& tables, std::size_t first, std::size_t last, std::size_t begin,
              std::size_t end, bool checked, Accumulator<float>* accumulators);
void run_tile(const Tables<double>& tables, std::size_t first, std::size_t last, std::size_t begin,
              std::size_t end, bool checked, Accumulator<double>* accumulators);

// Lets run_tile use only this instruction set and lesser ones, and names what it uses.
void restrict_targets(InstructionSet set);
std::string target_name();

}  // namespace ropelab::kernel
