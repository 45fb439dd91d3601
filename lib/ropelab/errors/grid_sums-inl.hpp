// Diagonals whose scores are whole multiples of one number (kernel.hpp, Grid): their deviations
// fit 16 bits, and a vector holds twice as many. Internal to this room; included once for each
// target by kernel.cpp.
#include "ropelab/errors/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

// Toggled by foreach_target.h, so that each of its rounds reads this file once.
#if defined(ROPELAB_ERRORS_GRID_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPELAB_ERRORS_GRID_SUMS_INL_HPP
#undef ROPELAB_ERRORS_GRID_SUMS_INL_HPP
#else
#define ROPELAB_ERRORS_GRID_SUMS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // has no vectors of 16 bits

HWY_INLINE std::size_t RunBlockOnGrid(const Tables<float>&, const Stretch&, const Centers&,
                                      Share*) {
  return 0;
}

#else

// What is kept of a diagonal in registers. Some targets add every other square in `more_squares`.
struct GridSums {
  using D = hn::ScalableTag<std::int16_t>;
  using Whole = hn::Repartition<std::int32_t, D>;
  using Long = hn::Repartition<std::uint64_t, D>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  V least, greatest, kept;
  hn::Vec<Whole> sum, squares, more_squares;
  hn::Vec<Long> all_squares;

  HWY_INLINE GridSums() {
    const D d;
    least = hn::Set(d, std::numeric_limits<std::int16_t>::max());
    greatest = hn::Set(d, std::numeric_limits<std::int16_t>::min());
    kept = hn::Zero(d);
    sum = squares = more_squares = hn::Zero(Whole());
    all_squares = hn::Zero(Long());
  }

  // Both halves of a vector of deviations.
  HWY_INLINE V Add(hn::Vec<Whole> lower, hn::Vec<Whole> upper) {
    const V x = hn::ReorderDemote2To(D(), lower, upper);
    sum = hn::Add(sum, hn::Add(lower, upper));
    squares = hn::ReorderWidenMulAccumulate(Whole(), x, x, squares, more_squares);
    least = hn::Min(least, x);
    greatest = hn::Max(greatest, x);
    return x;
  }

  // A true lane is -1.
  HWY_INLINE void Compare(V x, V neighbour) {
    kept = hn::Sub(kept, hn::VecFromMask(D(), hn::Lt(x, neighbour)));
  }

  // Before squares outgrow 32 bits.
  HWY_INLINE void WidenSquares() {
    const Long d;
    const auto pairs = hn::BitCast(d, hn::RearrangeToOddPlusEven(squares, more_squares));
    all_squares = hn::Add(all_squares, hn::And(pairs, hn::Set(d, 0xFFFFFFFFu)));
    all_squares = hn::Add(all_squares, hn::ShiftRight<32>(pairs));
    squares = more_squares = hn::Zero(Whole());
  }

  HWY_INLINE GridShare Total() const {
    const D d;
    return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, greatest)),
            hn::GetLane(hn::SumOfLanes(d, kept)), hn::GetLane(hn::SumOfLanes(Whole(), sum)),
            static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(Long(), all_squares)))};
  }
};

// A diagonal of scores on the grid, from the centre of number n of the block. `row` holds the
// deviations of the diagonal before at the same queries and takes this one's.
HWY_NOINLINE inline GridShare RunOnGrid(const Tables<float>& tables, const Grid& grid,
                                        std::size_t n, std::ptrdiff_t distance, std::size_t begin,
                                        std::size_t end, std::int16_t* row) {
  const GridSums::D d16;
  const GridSums::Whole whole;
  const hn::Repartition<float, GridSums::D> d;
  constexpr std::size_t kHalf = hn::MaxLanes(d);
  const auto start = hn::Set(d, grid.start[n]);
  const auto origin =
      hn::BitCast(whole, hn::Set(d, static_cast<float>(grid_origin * grid.quantum)));
  const auto step = hn::Set(d16, grid.step[n]);
  const float* query_first = tables.query_first;
  const float* query_second = tables.query_second;
  const float* key_first = tables.key_first - distance;
  const float* key_second = tables.key_second - distance;
  const auto deviation = [=](std::size_t i) HWY_ATTR {
    const auto second =
        hn::MulAdd(hn::LoadU(d, query_second + i), hn::LoadU(d, key_second + i), start);
    const auto both =
        hn::MulAdd(hn::LoadU(d, query_first + i), hn::LoadU(d, key_first + i), second);
    return hn::Sub(hn::BitCast(whole, both), origin);
  };
  GridSums sums;
  for (std::size_t i = begin; i < end;) {
    const std::size_t stop = std::min(end, i + grid_squares / 2 * GridSums::kLanes);
    for (; i < stop; i += GridSums::kLanes) {
      const auto x = sums.Add(deviation(i), deviation(i + kHalf));
      std::int16_t* cell = row + (i - begin);
      sums.Compare(x, hn::SaturatedAdd(hn::Load(d16, cell), step));
      hn::Store(x, d16, cell);
    }
    sums.WidenSquares();
  }
  return sums.Total();
}

// Measures diagonals of the block from its first on and returns how many it could, an even number.
HWY_INLINE std::size_t RunBlockOnGrid(const Tables<float>& tables, const Stretch& stretch,
                                      const Centers& centers, Share* shares) {
  const std::size_t pairs = stretch.end - stretch.begin;
  const Grid grid = choose_grid(tables, stretch, centers);
  if (grid.quantum == 0 || pairs % GridSums::kLanes != 0) return 0;
  HWY_ALIGN std::int16_t row[longest_stretch<float>] = {};
  const auto run = [&](std::size_t n, std::ptrdiff_t distance) {
    const GridShare share = RunOnGrid(tables, grid, n, distance, stretch.begin, stretch.end, row);
    return to_share(share, grid, n, centers.center[n], pairs, shares[n]);
  };
  const auto first = static_cast<std::ptrdiff_t>(stretch.first);
  // The diagonal before, from the centre of the first.
  if (!run(0, first - 1) && first > 0) return 0;
  for (std::size_t n = 0; n < block; ++n) {
    if (!run(n, first + static_cast<std::ptrdiff_t>(n))) return n / 2 * 2;
  }
  return block;
}

#endif

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
