// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/errors/kernel.hpp"

#include <algorithm>
#include <utility>

// The variants of AVX-512 above the first bring nothing to these loops.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/errors/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ropelab/errors/grid_sums-inl.hpp"
#include "ropelab/errors/running_sums-inl.hpp"
#include "ropelab/errors/scorer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The scores of the queries i ... at one distance, which may be -1.
template <class D, class Score>
HWY_INLINE hn::Vec<D> At(D d, const Tables<hn::TFromD<D>>& tables, const Score& score,
                         std::ptrdiff_t distance, std::size_t i) {
  const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) - distance;
  return score(hn::LoadU(d, tables.query_first + i), hn::LoadU(d, tables.query_second + i),
               hn::LoadU(d, tables.key_first + j), hn::LoadU(d, tables.key_second + j));
}

template <Arithmetic kArithmetic, class Lane>
HWY_NOINLINE void FillRow(const Tables<Lane>& tables, std::ptrdiff_t distance, std::size_t begin,
                          std::size_t end, Lane* row) {
  const hn::ScalableTag<Lane> d;
  const Scorer<kArithmetic, decltype(d)> score(tables);
  for (std::size_t i = begin; i < end; i += hn::MaxLanes(d)) {
    hn::Store(At(d, tables, score, distance, i), d, row + (i - begin));
  }
}

// How many of the queries [begin, end) do not see a key further off score below its neighbour.
template <Arithmetic kArithmetic, class Lane>
HWY_NOINLINE std::uint64_t CountLost(const Tables<Lane>& tables, std::size_t distance,
                                     std::size_t begin, std::size_t end) {
  if (distance == 0) return 0;
  const hn::ScalableTag<Lane> d;
  const Scorer<kArithmetic, hn::ScalableTag<Lane>> score(tables);
  const auto offset = static_cast<std::ptrdiff_t>(distance);
  std::uint64_t lost = end - begin;
  for (std::size_t i = begin; i < end; i += hn::MaxLanes(d)) {
    lost -= hn::CountTrue(
        d, hn::Lt(At(d, tables, score, offset, i), At(d, tables, score, offset - 1, i)));
  }
  return lost;
}

// The diagonals `distance` and the next, neighbours compared. `row` holds the scores of the
// diagonal before at the same queries and takes the last one's.
template <Arithmetic kArithmetic, Sums kSums>
HWY_NOINLINE void RunNeighbours(const Tables<float>& tables, std::size_t distance,
                                std::size_t begin, std::size_t end, const double* centers,
                                float* row, Share* shares) {
  const hn::ScalableTag<float> d;
  const Scorer<kArithmetic, hn::ScalableTag<float>> score(tables);
  Running<kSums> near(centers[0]), far(centers[1]);
  const float* query_first = tables.query_first;
  const float* query_second = tables.query_second;
  const float* key_first = tables.key_first - distance;
  const float* key_second = tables.key_second - distance;
  for (std::size_t i = begin; i < end; i += hn::MaxLanes(d)) {
    const auto first = hn::LoadU(d, query_first + i);
    const auto second = hn::LoadU(d, query_second + i);
    const auto near_score =
        score(first, second, hn::LoadU(d, key_first + i), hn::LoadU(d, key_second + i));
    near.Add(near_score);
    near.Compare(near_score, hn::Load(d, row + (i - begin)));
    const auto far_score =
        score(first, second, hn::LoadU(d, key_first + i - 1), hn::LoadU(d, key_second + i - 1));
    far.Add(far_score);
    far.Compare(far_score, near_score);
    hn::Store(far_score, d, row + (i - begin));
  }
  shares[0] = near.Total(end - begin);
  shares[1] = far.Total(end - begin);
}

// The diagonals `distance` and one vector further: at queries one vector apart they meet the
// same keys, which are loaded once.
template <Arithmetic kArithmetic, Sums kSums>
HWY_NOINLINE void RunVectorApart(const Tables<float>& tables, std::size_t distance,
                                 std::size_t begin, std::size_t end, double near_center,
                                 double far_center, Share& near_share, Share& far_share) {
  const hn::ScalableTag<float> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  const Scorer<kArithmetic, hn::ScalableTag<float>> score(tables);
  Running<kSums> near(near_center), far(far_center);
  const float* query_first = tables.query_first;
  const float* query_second = tables.query_second;
  const float* key_first = tables.key_first - distance;
  const float* key_second = tables.key_second - distance;
  auto first = hn::LoadU(d, query_first + begin);
  auto second = hn::LoadU(d, query_second + begin);
  far.Add(score(first, second, hn::LoadU(d, key_first + begin - kLanes),
                hn::LoadU(d, key_second + begin - kLanes)));
  const std::size_t last = end - kLanes;
  for (std::size_t i = begin; i < last; i += kLanes) {
    const auto key_one = hn::LoadU(d, key_first + i);
    const auto key_two = hn::LoadU(d, key_second + i);
    near.Add(score(first, second, key_one, key_two));
    first = hn::LoadU(d, query_first + i + kLanes);
    second = hn::LoadU(d, query_second + i + kLanes);
    far.Add(score(first, second, key_one, key_two));
  }
  near.Add(score(first, second, hn::LoadU(d, key_first + last), hn::LoadU(d, key_second + last)));
  near_share = near.Total(end - begin);
  far_share = far.Total(end - begin);
}

template <std::size_t kPart, bool kOrder, class D, class Score>
HWY_INLINE void AddPart(D d, const Tables<double>& tables, const Score& score,
                        std::ptrdiff_t distance, std::size_t i, double* row,
                        Running<Sums::in_lanes>& running) {
  const auto here = At(d, tables, score, distance, i + kPart * hn::MaxLanes(d));
  running.template Add<kPart>(here);
  if constexpr (kOrder) {
    double* cell = row + kPart * hn::MaxLanes(d);
    running.Compare(here, hn::Load(d, cell));
    hn::Store(here, d, cell);
  }
}

template <bool kOrder, class D, class Score, std::size_t... kPart>
HWY_INLINE void AddParts(D d, const Tables<double>& tables, const Score& score,
                         std::ptrdiff_t distance, std::size_t i, double* row,
                         Running<Sums::in_lanes>& running, std::index_sequence<kPart...>) {
  (AddPart<kPart, kOrder>(d, tables, score, distance, i, row, running), ...);
}

template <Arithmetic kArithmetic, bool kOrder>
HWY_NOINLINE void RunDouble(const Tables<double>& tables, std::size_t distance, std::size_t begin,
                            std::size_t end, double center, double* row, Share& share) {
  const hn::CappedTag<double, lanes> d;
  const Scorer<kArithmetic, hn::CappedTag<double, lanes>> score(tables);
  Running<Sums::in_lanes> running(center);
  constexpr std::size_t kParts = Running<Sums::in_lanes>::kParts;
  const Tables<double> local = tables;
  for (std::size_t i = begin; i < end; i += lanes) {
    AddParts<kOrder>(d, local, score, static_cast<std::ptrdiff_t>(distance), i, row + (i - begin),
                     running, std::make_index_sequence<kParts>());
  }
  share = running.Total(end - begin);
}

// Whether the shares n and `other` are right as they were added up.
HWY_INLINE bool AreCertain(Sums sums, const Tables<float>& tables, const Stretch& stretch,
                           const Centers& centers, std::size_t n, std::size_t other,
                           const Share* shares) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  return is_certain(sums, tables, stretch, centers, n, kLanes, shares[n]) &&
         is_certain(sums, tables, stretch, centers, other, kLanes, shares[other]);
}

// The first diagonal whose deviations are too wide for sums in float stands for all after it.
template <Arithmetic kArithmetic>
HWY_INLINE void RunUnordered(const Tables<float>& tables, const Stretch& stretch,
                             const Centers& centers, Share* shares) {
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  static_assert(block % (2 * kLanes) == 0);
  bool narrow = true;
  for (std::size_t group = 0; group < block; group += 2 * kLanes) {
    for (std::size_t near = group; near < group + kLanes; ++near) {
      const std::size_t far = near + kLanes;
      const auto run = [&](auto run_with) {
        run_with(tables, stretch.first + near, stretch.begin, stretch.end, centers.center[near],
                 centers.center[far], shares[near], shares[far]);
      };
      if (narrow) {
        run(RunVectorApart<kArithmetic, Sums::narrow>);
        narrow = AreCertain(Sums::narrow, tables, stretch, centers, near, far, shares);
      }
      if (!narrow) run(RunVectorApart<kArithmetic, Sums::wide>);
    }
  }
}

// From diagonal `from` of the block on, which is even.
template <Arithmetic kArithmetic>
HWY_INLINE void RunOrdered(const Tables<float>& tables, const Stretch& stretch,
                           const Centers& centers, std::size_t from, Share* shares) {
  HWY_ALIGN float row[longest_stretch<float>];
  const auto fill_row = [&](std::size_t n) {
    FillRow<kArithmetic>(tables, static_cast<std::ptrdiff_t>(stretch.first + n) - 1, stretch.begin,
                         stretch.end, row);
  };
  fill_row(from);
  bool narrow = true;
  for (std::size_t n = from; n < block; n += 2) {
    const auto run = [&](auto run_with) {
      run_with(tables, stretch.first + n, stretch.begin, stretch.end, centers.center.data() + n,
               row, shares + n);
    };
    if (narrow) {
      run(RunNeighbours<kArithmetic, Sums::narrow>);
      narrow = AreCertain(Sums::narrow, tables, stretch, centers, n, n + 1, shares);
      if (!narrow) fill_row(n);
    }
    if (!narrow) run(RunNeighbours<kArithmetic, Sums::wide>);
  }
}

template <Arithmetic kArithmetic>
HWY_INLINE void RunUnordered(const Tables<double>& tables, const Stretch& stretch,
                             const Centers& centers, Share* shares) {
  for (std::size_t n = 0; n < block; ++n) {
    RunDouble<kArithmetic, false>(tables, stretch.first + n, stretch.begin, stretch.end,
                                  centers.center[n], nullptr, shares[n]);
  }
}

template <Arithmetic kArithmetic>
HWY_INLINE void RunOrdered(const Tables<double>& tables, const Stretch& stretch,
                           const Centers& centers, std::size_t from, Share* shares) {
  HWY_ALIGN double row[longest_stretch<double>];
  FillRow<kArithmetic>(tables, static_cast<std::ptrdiff_t>(stretch.first + from) - 1, stretch.begin,
                       stretch.end, row);
  for (std::size_t n = from; n < block; ++n) {
    RunDouble<kArithmetic, true>(tables, stretch.first + n, stretch.begin, stretch.end,
                                 centers.center[n], row, shares[n]);
  }
}

// A diagonal by vectors of double, whatever its scores and its ends.
template <class Lane>
class CheckedDiagonal {
  using W = CheckedSums::D;
  using V = hn::Vec<W>;
  using D = hn::Rebind<Lane, W>;

 public:
  HWY_INLINE CheckedDiagonal(const Tables<Lane>& tables, std::size_t distance, double center)
      : tables_(tables),
        score_(tables),
        distance_(static_cast<std::ptrdiff_t>(distance)),
        center_(hn::Set(W(), center)) {}

  HWY_NOINLINE Share Run(std::size_t begin, std::size_t end) const {
    CheckedSums sums;
    for (std::size_t group = begin / lanes * lanes; group < end; group += lanes) {
      for (std::size_t part = 0; part < CheckedSums::kParts; ++part) {
        AddPart(sums, part, group + part * CheckedSums::kLanes, begin, end);
      }
    }
    return sums.Total();
  }

 private:
  HWY_INLINE V Score(std::ptrdiff_t distance, std::size_t i) const {
    const auto score = At(D(), tables_, score_, distance, i);
    if constexpr (sizeof(Lane) == 8) {
      return score;
    } else {
      return hn::PromoteTo(W(), score);
    }
  }

  HWY_INLINE void AddPart(CheckedSums& sums, std::size_t part, std::size_t i, std::size_t begin,
                          std::size_t end) const {
    const W w;
    const V number = hn::Iota(w, 0);
    const V low = hn::Set(w, static_cast<double>(i < begin ? begin - i : 0));
    const V high = hn::Set(w, static_cast<double>(i < end ? end - i : 0));
    const auto inside = hn::And(hn::Ge(number, low), hn::Lt(number, high));
    const V score = Score(distance_, i);
    if (distance_ > 0) sums.Compare(score, Score(distance_ - 1, i), inside);
    sums.Add(part, score, score, hn::Sub(score, center_), inside);
  }

  const Tables<Lane>& tables_;
  Scorer<Arithmetic::any, D> score_;
  std::ptrdiff_t distance_;
  V center_;
};

template <class Lane>
Share RunDiagonal(const Tables<Lane>& tables, std::size_t distance, std::size_t begin,
                  std::size_t end, double center) {
  return CheckedDiagonal<Lane>(tables, distance, center).Run(begin, end);
}

// The diagonals from `known` on. Neighbours need no comparing where the extremes of a diagonal show
// that it lies below the one before, as in a format with digits to spare. One diagonal tells which
// way is faster.
template <Arithmetic kArithmetic, class Lane>
HWY_INLINE void RunFrom(std::size_t known, const Tables<Lane>& tables, const Stretch& stretch,
                        const Centers& centers, Share* shares) {
  const std::size_t first = stretch.first, begin = stretch.begin, end = stretch.end;
  const std::size_t probe = std::max<std::size_t>(first, 1);
  if (known > 0 || CountLost<kArithmetic>(tables, probe, begin, end) > 0) {
    RunOrdered<kArithmetic>(tables, stretch, centers, known, shares);
  } else {
    RunUnordered<kArithmetic>(tables, stretch, centers, shares);
    for (std::size_t n = 1; n < block; ++n) {
      shares[n].lost = lies_below(shares[n], shares[n - 1])
                           ? 0
                           : CountLost<kArithmetic>(tables, first + n, begin, end);
    }
    shares[0].lost = 0;
  }
  for (std::size_t n = known; n < block; ++n) {
    if (tables.never_finite) {
      shares[n] = nothing_finite(end - begin, shares[n].lost);
    } else if (!is_certain(sizeof(Lane) == 4 ? Sums::wide : Sums::in_lanes, tables, stretch,
                           centers, n, hn::MaxLanes(hn::ScalableTag<Lane>()), shares[n])) {
      shares[n] = RunDiagonal(tables, first + n, begin, end, centers.center[n]);
    }
  }
}

template <Arithmetic kArithmetic, class Lane>
HWY_INLINE void RunStretch(const Tables<Lane>& tables, const Stretch& stretch,
                           const Centers& centers, Share* shares) {
  std::size_t known = 0;
  if constexpr (kArithmetic == Arithmetic::exact_products && sizeof(Lane) == 4) {
    known = RunBlockOnGrid(tables, stretch, centers, shares);
  }
  if (known < block) RunFrom<kArithmetic>(known, tables, stretch, centers, shares);
  if (stretch.first == 0) shares[0].lost = 0;
}

template <class Lane>
HWY_INLINE void ChooseArithmetic(const Tables<Lane>& tables, const Stretch& stretch,
                                 const Centers& centers, Share* shares) {
  switch (tables.arithmetic) {
    case Arithmetic::exact_products:
      return RunStretch<Arithmetic::exact_products>(tables, stretch, centers, shares);
    case Arithmetic::unscaled:
      return RunStretch<Arithmetic::unscaled>(tables, stretch, centers, shares);
    case Arithmetic::scaled:
      return RunStretch<Arithmetic::scaled>(tables, stretch, centers, shares);
    case Arithmetic::rounded:
      return RunStretch<Arithmetic::rounded>(tables, stretch, centers, shares);
    case Arithmetic::rounded_scaled:
      return RunStretch<Arithmetic::rounded_scaled>(tables, stretch, centers, shares);
    case Arithmetic::fused:
      return RunStretch<Arithmetic::fused>(tables, stretch, centers, shares);
    case Arithmetic::any:
      return RunStretch<Arithmetic::any>(tables, stretch, centers, shares);
  }
}

Share RunFloatDiagonal(const Tables<float>& tables, std::size_t distance, std::size_t begin,
                       std::size_t end, double center) {
  return RunDiagonal(tables, distance, begin, end, center);
}

Share RunDoubleDiagonal(const Tables<double>& tables, std::size_t distance, std::size_t begin,
                        std::size_t end, double center) {
  return RunDiagonal(tables, distance, begin, end, center);
}

void RunFloatStretch(const Tables<float>& tables, const Stretch& stretch, const Centers& centers,
                     Share* shares) {
  ChooseArithmetic(tables, stretch, centers, shares);
}

void RunDoubleStretch(const Tables<double>& tables, const Stretch& stretch, const Centers& centers,
                      Share* shares) {
  ChooseArithmetic(tables, stretch, centers, shares);
}

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::kernel {

HWY_EXPORT(RunFloatDiagonal);
HWY_EXPORT(RunDoubleDiagonal);
HWY_EXPORT(RunFloatStretch);
HWY_EXPORT(RunDoubleStretch);

Share run_diagonal(const Tables<float>& tables, std::size_t distance, std::size_t begin,
                   std::size_t end, double center) {
  return HWY_DYNAMIC_DISPATCH(RunFloatDiagonal)(tables, distance, begin, end, center);
}

Share run_diagonal(const Tables<double>& tables, std::size_t distance, std::size_t begin,
                   std::size_t end, double center) {
  return HWY_DYNAMIC_DISPATCH(RunDoubleDiagonal)(tables, distance, begin, end, center);
}

void run_stretch(const Tables<float>& tables, const Stretch& stretch, const Centers& centers,
                 Share* shares) {
  HWY_DYNAMIC_DISPATCH(RunFloatStretch)(tables, stretch, centers, shares);
}

void run_stretch(const Tables<double>& tables, const Stretch& stretch, const Centers& centers,
                 Share* shares) {
  HWY_DYNAMIC_DISPATCH(RunDoubleStretch)(tables, stretch, centers, shares);
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

}  // namespace ropelab::kernel
#endif  // HWY_ONCE
