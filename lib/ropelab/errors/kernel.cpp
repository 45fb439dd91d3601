// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/errors/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

// The variants of AVX-512 above the first bring nothing to these loops.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/errors/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Lane>
using Unsigned = std::conditional_t<sizeof(Lane) == 4, std::uint32_t, std::uint64_t>;

// Rounds to nearest even at the last place of a format of p bits inside a lane of P bits:
// with 2^e <= |x| < 2^(e+1), adding M = 1.5 * 2^(P-1) * 2^(max(e, emin)-p+1) leaves the sum
// with that last place as its own, so the lane's addition does the rounding; subtracting M is
// exact. It needs |x| <= 2^p last places <= 2^(P-2), which p <= P-2 gives.
// A product of two members is exact in the lane (2p <= P), and a sum of two is rounded twice
// without harm, since P >= 2p + 2: float16 (11) and narrower in float32 (24), float32 in
// float64 (53).
template <class D, class Lane = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE V Round(D d, const Rounding<Lane>& to, V x) {
  const hn::Repartition<Unsigned<Lane>, D> bits;
  constexpr Unsigned<Lane> exponent_bits =
      sizeof(Lane) == 4 ? 0x7F800000u : static_cast<Unsigned<Lane>>(0x7FF0000000000000ull);
  const V power = hn::And(x, hn::BitCast(d, hn::Set(bits, exponent_bits)));
  const V magic = hn::Mul(hn::Max(power, hn::Set(d, to.least_power)), hn::Set(d, to.magic));
  const V rounded = hn::Sub(hn::Add(x, magic), magic);
  const auto past = hn::Gt(hn::Abs(x), hn::Set(d, to.last_in_range));
  return hn::IfThenElse(past, hn::CopySignToAbs(hn::Set(d, to.past_range), x), rounded);
}

template <bool kRound, class D, class V = hn::Vec<D>, class Lane = hn::TFromD<D>>
HWY_INLINE V MaybeRound(D d, const std::optional<Rounding<Lane>>& to, V x) {
  if constexpr (kRound) {
    return Round(d, *to, x);
  } else {
    return x;
  }
}

// The scores of the queries i ... at one distance.
template <bool kRoundSum, bool kRoundScaled, class D, class Lane = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> Scores(D d, const Tables<Lane>& tables, std::ptrdiff_t i,
                             std::ptrdiff_t distance) {
  const auto& to_sum = tables.accumulation;
  const auto first = MaybeRound<kRoundSum>(
      d, to_sum,
      hn::Mul(hn::LoadU(d, tables.query_first + i), hn::LoadU(d, tables.key_first + i - distance)));
  const auto second =
      MaybeRound<kRoundSum>(d, to_sum,
                            hn::Mul(hn::LoadU(d, tables.query_second + i),
                                    hn::LoadU(d, tables.key_second + i - distance)));
  auto sum = MaybeRound<kRoundSum>(d, to_sum, hn::Add(first, second));
  if constexpr (kRoundScaled) {
    if (tables.convert) sum = Round(d, *tables.scaling, sum);
  }
  return MaybeRound<kRoundScaled>(d, tables.scaling, hn::Mul(sum, hn::Set(d, tables.scale)));
}

// The accumulators of one diagonal, held in registers over a tile.
template <class Lane, bool kChecked>
struct Running {
  const hn::ScalableTag<Lane> d;
  const hn::ScalableTag<double> wide;
  const hn::Repartition<typename Accumulator<Lane>::Count, hn::ScalableTag<Lane>> whole;
  using V = hn::Vec<hn::ScalableTag<Lane>>;
  using W = hn::Vec<hn::ScalableTag<double>>;
  using C = hn::Vec<hn::Repartition<typename Accumulator<Lane>::Count, hn::ScalableTag<Lane>>>;
  using M = hn::Mask<hn::ScalableTag<Lane>>;
  static constexpr std::size_t kWide = hn::MaxLanes(hn::ScalableTag<double>());
  static constexpr std::size_t kWides = lanes / kWide;

  W sum[kWides], squares[kWides];
  V least, greatest;
  C lost, not_finite;
  W center;

  HWY_INLINE explicit Running(const Accumulator<Lane>& from) {
    for (std::size_t n = 0; n < kWides; ++n) {
      sum[n] = hn::Load(wide, from.sum.data() + n * kWide);
      squares[n] = hn::Load(wide, from.sum_of_squares.data() + n * kWide);
    }
    least = hn::Load(d, from.least.data());
    greatest = hn::Load(d, from.greatest.data());
    lost = hn::Load(whole, from.lost.data());
    not_finite = hn::Load(whole, from.not_finite.data());
    center = hn::Set(wide, from.center);
  }

  HWY_INLINE void Store(Accumulator<Lane>& to) const {
    for (std::size_t n = 0; n < kWides; ++n) {
      hn::Store(sum[n], wide, to.sum.data() + n * kWide);
      hn::Store(squares[n], wide, to.sum_of_squares.data() + n * kWide);
    }
    hn::Store(least, d, to.least.data());
    hn::Store(greatest, d, to.greatest.data());
    hn::Store(lost, whole, to.lost.data());
    hn::Store(not_finite, whole, to.not_finite.data());
  }

  // One multiplication and one addition, not fused: the same bits without FMA.
  HWY_INLINE void AddDeviation(std::size_t n, W deviation) {
    sum[n] = hn::Add(sum[n], deviation);
    squares[n] = hn::Add(squares[n], hn::Mul(deviation, deviation));
  }

  // Vector `part` of a group of `lanes` pairs; `inside` where only some lanes are pairs.
  template <bool kMasked>
  HWY_INLINE void Add(std::size_t part, V score, V neighbour, M inside, bool ordered) {
    if (ordered) {
      const M kept = hn::Lt(score, neighbour);
      const C one = hn::Set(whole, 1);
      C count = hn::IfThenZeroElse(hn::RebindMask(whole, kept), one);
      if constexpr (kMasked) count = hn::IfThenElseZero(hn::RebindMask(whole, inside), count);
      lost = hn::Add(lost, count);
    }
    M counted = inside;
    if constexpr (kChecked) {
      const M finite = hn::IsFinite(score);
      const C one = hn::Set(whole, 1);
      C count = hn::IfThenZeroElse(hn::RebindMask(whole, finite), one);
      if constexpr (kMasked) count = hn::IfThenElseZero(hn::RebindMask(whole, inside), count);
      not_finite = hn::Add(not_finite, count);
      counted = hn::And(inside, finite);
    }
    if constexpr (kMasked || kChecked) {
      least = hn::IfThenElse(counted, hn::Min(least, score), least);
      greatest = hn::IfThenElse(counted, hn::Max(greatest, score), greatest);
    } else {
      least = hn::Min(least, score);
      greatest = hn::Max(greatest, score);
    }
    AddDeviations<kMasked || kChecked>(part, score, counted);
  }

  template <bool kMasked>
  HWY_INLINE void AddDeviations(std::size_t part, V score, M counted) {
    if constexpr (sizeof(Lane) == 8) {
      W deviation = hn::Sub(score, center);
      if constexpr (kMasked) deviation = hn::IfThenElseZero(counted, deviation);
      AddDeviation(part, deviation);
    } else {
#if HWY_TARGET == HWY_SCALAR
      W deviation = hn::Sub(hn::PromoteTo(wide, score), center);
      if constexpr (kMasked) {
        const V one = hn::IfThenElseZero(counted, hn::Set(d, 1));
        deviation = hn::IfThenElseZero(hn::Gt(hn::PromoteTo(wide, one), hn::Zero(wide)), deviation);
      }
      AddDeviation(part, deviation);
#else
      const hn::Half<hn::ScalableTag<Lane>> half;
      W low = hn::Sub(hn::PromoteTo(wide, hn::LowerHalf(half, score)), center);
      W high = hn::Sub(hn::PromoteTo(wide, hn::UpperHalf(half, score)), center);
      if constexpr (kMasked) {
        const V ones = hn::IfThenElseZero(counted, hn::Set(d, 1));
        const W zero = hn::Zero(wide);
        low = hn::IfThenElseZero(hn::Gt(hn::PromoteTo(wide, hn::LowerHalf(half, ones)), zero), low);
        high =
            hn::IfThenElseZero(hn::Gt(hn::PromoteTo(wide, hn::UpperHalf(half, ones)), zero), high);
      }
      AddDeviation(2 * part, low);
      AddDeviation(2 * part + 1, high);
#endif
    }
  }
};

// One diagonal over a tile. `row` holds the scores of the diagonal before at the same queries
// (a multiple of `lanes` from `begin` on) and takes this one's.
template <bool kRoundSum, bool kRoundScaled, bool kChecked, class Lane>
HWY_NOINLINE void RunDiagonal(const Tables<Lane>& tables, std::size_t distance, std::size_t begin,
                              std::size_t end, Lane* row, Accumulator<Lane>& accumulator) {
  const hn::ScalableTag<Lane> d;
  constexpr std::size_t kVector = hn::MaxLanes(d);
  constexpr std::size_t kVectors = lanes / kVector;
  Running<Lane, kChecked> running(accumulator);
  const bool ordered = distance > 0;
  const auto offset = static_cast<std::ptrdiff_t>(distance);
  const auto all = hn::FirstN(d, kVector);
  const std::size_t from = std::max(begin, distance);
  for (std::size_t group = from / lanes * lanes; group < end; group += lanes) {
    const bool whole_group = group >= from && group + lanes <= end;
    for (std::size_t part = 0; part < kVectors; ++part) {
      const std::size_t i = group + part * kVector;
      const auto score =
          Scores<kRoundSum, kRoundScaled>(d, tables, static_cast<std::ptrdiff_t>(i), offset);
      const auto neighbour = hn::Load(d, row + (i - begin));
      hn::Store(score, d, row + (i - begin));
      if (HWY_LIKELY(whole_group)) {
        running.template Add<false>(part, score, neighbour, all, ordered);
      } else {
        // Lanes from `from` to `end`, told by their number within the vector.
        const auto number = hn::Iota(d, 0);
        const auto low = static_cast<Lane>(i < from ? from - i : 0);
        const auto high = static_cast<Lane>(i < end ? end - i : 0);
        const auto inside =
            hn::And(hn::Ge(number, hn::Set(d, low)), hn::Lt(number, hn::Set(d, high)));
        running.template Add<true>(part, score, neighbour, inside, ordered);
      }
    }
  }
  running.Store(accumulator);
}

template <bool kRoundSum, bool kRoundScaled, class Lane>
HWY_INLINE void FillRow(const Tables<Lane>& tables, std::size_t distance, std::size_t begin,
                        std::size_t end, Lane* row) {
  const hn::ScalableTag<Lane> d;
  const std::size_t from = std::max(begin, distance) / lanes * lanes;
  for (std::size_t i = from; i < end; i += hn::MaxLanes(d)) {
    hn::Store(Scores<kRoundSum, kRoundScaled>(d, tables, static_cast<std::ptrdiff_t>(i),
                                              static_cast<std::ptrdiff_t>(distance)),
              d, row + (i - begin));
  }
}

template <bool kRoundSum, bool kRoundScaled, class Lane>
HWY_INLINE void RunTile(const Tables<Lane>& tables, std::size_t first, std::size_t last,
                        std::size_t begin, std::size_t end, bool checked,
                        Accumulator<Lane>* accumulators) {
  HWY_ALIGN Lane row[tile + lanes];
  if (first > 0) FillRow<kRoundSum, kRoundScaled>(tables, first - 1, begin, end, row);
  for (std::size_t distance = first; distance < last && distance < end; ++distance) {
    Accumulator<Lane>& accumulator = accumulators[distance - first];
    if (checked) {
      RunDiagonal<kRoundSum, kRoundScaled, true>(tables, distance, begin, end, row, accumulator);
    } else {
      RunDiagonal<kRoundSum, kRoundScaled, false>(tables, distance, begin, end, row, accumulator);
    }
  }
}

template <class Lane>
HWY_INLINE void ChooseTile(const Tables<Lane>& tables, std::size_t first, std::size_t last,
                           std::size_t begin, std::size_t end, bool checked,
                           Accumulator<Lane>* accumulators) {
  if (tables.accumulation && tables.scaling) {
    RunTile<true, true>(tables, first, last, begin, end, checked, accumulators);
  } else if (tables.accumulation) {
    RunTile<true, false>(tables, first, last, begin, end, checked, accumulators);
  } else if (tables.scaling) {
    RunTile<false, true>(tables, first, last, begin, end, checked, accumulators);
  } else {
    RunTile<false, false>(tables, first, last, begin, end, checked, accumulators);
  }
}

void RunFloatTile(const Tables<float>& tables, std::size_t first, std::size_t last,
                  std::size_t begin, std::size_t end, bool checked,
                  Accumulator<float>* accumulators) {
  ChooseTile(tables, first, last, begin, end, checked, accumulators);
}

void RunDoubleTile(const Tables<double>& tables, std::size_t first, std::size_t last,
                   std::size_t begin, std::size_t end, bool checked,
                   Accumulator<double>* accumulators) {
  ChooseTile(tables, first, last, begin, end, checked, accumulators);
}

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::kernel {

HWY_EXPORT(RunFloatTile);
HWY_EXPORT(RunDoubleTile);

void run_tile(const Tables<float>& tables, std::size_t first, std::size_t last, std::size_t begin,
              std::size_t end, bool checked, Accumulator<float>* accumulators) {
  HWY_DYNAMIC_DISPATCH(RunFloatTile)(tables, first, last, begin, end, checked, accumulators);
}

void run_tile(const Tables<double>& tables, std::size_t first, std::size_t last, std::size_t begin,
              std::size_t end, bool checked, Accumulator<double>* accumulators) {
  HWY_DYNAMIC_DISPATCH(RunDoubleTile)(tables, first, last, begin, end, checked, accumulators);
}

namespace {

// Targets better than the set; the smaller a bit the better its target.
std::int64_t better_targets(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar:
      return HWY_SSSE3 * 2 - 1;
    case InstructionSet::sse4:
      return HWY_SSE4 - 1;
    case InstructionSet::avx2:
      return HWY_AVX2 - 1;
    case InstructionSet::avx512:
    case InstructionSet::best:
      break;
  }
  return 0;
}

}  // namespace

void restrict_targets(InstructionSet set) {
  hwy::DisableTargets(better_targets(set));
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::string target_name() {
  // The best that the processor has among those compiled here.
  const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(targets & -targets);
}

template <class Lane>
Rounding<Lane> rounding_to(const Format& format) {
  Rounding<Lane> to;
  to.least_power = static_cast<Lane>(std::ldexp(1.0, format.min_exponent));
  to.magic =
      static_cast<Lane>(std::ldexp(1.5, std::numeric_limits<Lane>::digits - format.precision));
  to.past_range = static_cast<Lane>(
      format.overflow == Overflow::infinity   ? std::numeric_limits<double>::infinity()
      : format.overflow == Overflow::saturate ? format.largest
                                              : std::numeric_limits<double>::quiet_NaN());
  // Half a last place beyond the largest number is a tie; which way it goes depends on the
  // format, so it is asked.
  const Lane tie = static_cast<Lane>(format.largest + ulp(format, format.largest) / 2);
  const bool tie_in_range = round_to(format, static_cast<double>(tie)) == format.largest &&
                            format.overflow != Overflow::saturate;
  to.last_in_range = tie_in_range ? tie : std::nextafter(tie, Lane{0});
  return to;
}

template Rounding<float> rounding_to<float>(const Format& format);
template Rounding<double> rounding_to<double>(const Format& format);

}  // namespace ropelab::kernel
#endif  // HWY_ONCE
