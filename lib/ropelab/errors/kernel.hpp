// The vector kernels behind measure_diagonals; internal to this room.
//
// A diagonal is taken in stretches of queries. Within one stretch the moments of its deviations
// are summed in `lanes` sums, that of pair (i, j) being i mod `lanes`, which are then added in
// their order; stretches are added in theirs. So figures depend neither on the width of a
// vector nor on the compiler. Where every deviation, square and sum is exact, in float, in double
// or as whole numbers, they may be added in any order instead: that gives the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "ropelab/errors/diagonals.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab::kernel {

inline constexpr std::size_t lanes = 8;
// A multiple of the lanes of every vector; tables are padded by as much.
inline constexpr std::size_t padding = 16;
// Diagonals that go through a stretch before the next one is read.
inline constexpr std::size_t block = 64;
// Queries of a stretch: four tables and a row of scores stay in the first-level cache.
template <class Lane>
inline constexpr std::size_t longest_stretch = 4096 / sizeof(Lane);

// How a lane rounds to a format narrower than itself (vector_rounding-inl.hpp explains the
// numbers).
template <class Lane>
struct Rounding {
  Lane least_power;    // 2^min_exponent
  Lane magic;          // 1.5 * 2^(precision of Lane - precision of the format)
  Lane last_in_range;  // the largest Lane that does not round past the largest number
  Lane past_range;     // what a larger one becomes, sign aside
};

template <class Lane>
Rounding<Lane> rounding_to(const Format& format);

// What becomes of a sum of products, from the cheapest to the most general. The first three
// round as the lane does; what they leave out must change nothing.
enum class Arithmetic {
  exact_products,  // as `unscaled`; no product is rounded, so that it may be fused with the sum
  unscaled,        // nothing: the scale is in the tables
  scaled,          // multiplied by the scale
  rounded,         // all rounded to `accumulation`, in range; multiplied by the scale exactly
  rounded_scaled,  // that product is rounded to `scaling`, in range
  fused,           // the lane's own precision, later products unrounded; then as `any`
  any,             // whatever the tables say
};

// How the products of components become a score.
template <class Lane>
struct Scoring {
  Arithmetic arithmetic;
  Lane scale;
  std::optional<Rounding<Lane>> accumulation;  // empty: Lane's own precision
  std::optional<Rounding<Lane>> scaling;
  bool convert;  // round the sum to the scaling format before it is multiplied
  bool fused;    // all products but the first are not rounded before they are added
};

// Tables of `size` positions; each may be read from `padding` before its start to `padding`
// after its end.
template <class Lane>
struct Tables : Scoring<Lane> {
  const Lane* query_first;
  const Lane* query_second;
  const Lane* key_first;
  const Lane* key_second;
  std::size_t size;
  Format score_format;  // of `scaling`
  bool never_finite;    // no score is: only their order is asked for
};

// What a stretch adds to a diagonal.
struct Share {
  double sum = 0, sum_of_squares = 0;  // of the deviations from the centre
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  std::uint64_t lost = 0;
  std::uint64_t not_finite = 0;
};

// The share of the queries [begin, end) in one diagonal, which must hold them. Scores that are
// not finite count in `lost` and `not_finite` only.
Share run_diagonal(const Tables<float>& tables, std::size_t distance, std::size_t begin,
                   std::size_t end, double center);
Share run_diagonal(const Tables<double>& tables, std::size_t distance, std::size_t begin,
                   std::size_t end, double center);

// The queries [begin, end) in the diagonals first ... first+block-1. Both ends are multiples of
// `padding`, first + block <= begin, end - begin <= longest_stretch.
struct Stretch {
  std::size_t first, begin, end;
  double quantum = 0;  // a number of which all its finite scores are multiples; 0 where unknown
  // Numbers of which the products are multiples that a score is the sum of, before it is scaled;
  // and a bound of the first's magnitude.
  double first_quantum = 0, second_quantum = 0, first_greatest = 0;
};

// What deviations are taken from on each diagonal of a block: a number of the lane, and the
// quantum_of it.
struct Centers {
  std::array<double, block> center{}, quantum{};
  // Of all: the largest magnitude, a number of which they are multiples, and a straight line near
  // them.
  double furthest = 0, common_quantum = 0, line_start = 0, line_slope = 0;
};

Centers centers_at(const std::array<double, block>& center);

// The shares of a stretch in its diagonals, as run_diagonal gives them, only faster where
// scores are finite.
void run_stretch(const Tables<float>& tables, const Stretch& stretch, const Centers& centers,
                 Share* shares);
void run_stretch(const Tables<double>& tables, const Stretch& stretch, const Centers& centers,
                 Share* shares);

// Whether every score of a share lies below its neighbour in the share before, by the extremes.
bool lies_below(const Share& share, const Share& before);

// The share of pairs none of whose scores is finite.
Share nothing_finite(std::size_t pairs, std::uint64_t lost);

// The largest power of two of which x is a multiple; infinity for 0, 0 if x is not finite.
double quantum_of(double x);

// How deviations and their squares are added up without checks.
enum class Sums {
  narrow,    // both in float, in any order
  wide,      // both in double, in any order
  in_lanes,  // both in double, in `lanes` lanes
};

// Whether the share of diagonal n, added up without checks in vectors of `width` lanes, is
// right: all scores finite, and in float every deviation, square and sum exact.
bool is_certain(Sums sums, const Tables<float>& tables, const Stretch& stretch,
                const Centers& centers, std::size_t n, std::size_t width, const Share& share);
bool is_certain(Sums sums, const Tables<double>& tables, const Stretch& stretch,
                const Centers& centers, std::size_t n, std::size_t width, const Share& share);

// A stretch of exact products whose sums are whole multiples of `quantum`, as those of 16-bit
// numbers are. There the kernels take deviations from another centre, near that of Centers:
//   (grid_origin - center) * quantum + second product, and then + first product,
// either sum rounded to float, is a float whose last place is the quantum. Read as an integer, and
// less grid_origin * quantum read so, it is the deviation in quanta; 16 bits hold it.
struct Grid {
  double quantum = 0;                // 0: no such grid is known
  bool rounds = false;               // a sum of products is rounded to it; otherwise it is on it
  std::array<double, block> center;  // in quanta
  std::array<float, block> start;    // (grid_origin - center) * quantum
  std::array<std::int16_t, block> step;  // from this centre to that of the diagonal before
};

inline constexpr double grid_origin = 0x1.8p23;
// Deviations are smaller, in quanta.
inline constexpr int grid_reach = 1 << 14;
// The deviations from Centers are multiples of at least quantum / grid_fineness.
inline constexpr int grid_fineness = 64;
// Squares of so many deviations add up to less than 2^32.
inline constexpr std::size_t grid_squares = 16;

// The deviations of a diagonal in quanta, as added up.
struct GridShare {
  int least, greatest;
  std::int64_t kept, sum, sum_of_squares;
};

Grid choose_grid(const Tables<float>& tables, const Stretch& stretch, const Centers& centers);

// Whether the share of diagonal n, whose deviations are from `center`, is what was added up on the
// grid; and then that share.
bool to_share(const GridShare& from, const Grid& grid, std::size_t n, double center,
              std::size_t pairs, Share& share);

// Lets the kernels use only this instruction set and lesser ones, and names what they use.
void restrict_targets(InstructionSet set);
std::string target_name();

}  // namespace ropelab::kernel
