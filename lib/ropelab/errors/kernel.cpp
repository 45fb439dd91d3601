// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/errors/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

// The variants of AVX-512 above the first bring nothing to these loops.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/errors/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ropelab/errors/vector_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The score of rotated components, as Arithmetic says.
template <Arithmetic kArithmetic, class D>
struct Scorer {
  using Lane = hn::TFromD<D>;
  using V = hn::Vec<D>;
  Rounder<D> accumulation, scaling;
  V scale;
  bool round_sum, round_scaled, convert, fused;

  HWY_INLINE explicit Scorer(const Tables<Lane>& tables)
      : accumulation(tables.accumulation),
        scaling(tables.scaling),
        scale(hn::Set(D(), tables.scale)),
        round_sum(tables.accumulation.has_value()),
        round_scaled(tables.scaling.has_value()),
        convert(tables.convert),
        fused(tables.fused) {}

  HWY_INLINE V RoundSum(V x) const {
    if constexpr (kArithmetic == Arithmetic::any) {
      return round_sum ? accumulation.Any(x) : x;
    } else if constexpr (kArithmetic == Arithmetic::rounded ||
                         kArithmetic == Arithmetic::rounded_scaled) {
      return accumulation.InRange(x);
    } else {
      return x;
    }
  }

  HWY_INLINE V Scale(V sum) const {
    if constexpr (kArithmetic == Arithmetic::unscaled) {
      return sum;
    } else if constexpr (kArithmetic == Arithmetic::rounded_scaled) {
      return scaling.InRange(hn::Mul(sum, scale));
    } else if constexpr (kArithmetic == Arithmetic::any || kArithmetic == Arithmetic::fused) {
      if (!round_scaled) return hn::Mul(sum, scale);
      return scaling.Any(hn::Mul(convert ? scaling.Any(sum) : sum, scale));
    } else {
      return hn::Mul(sum, scale);
    }
  }

  HWY_INLINE bool IsFused() const {
    return kArithmetic == Arithmetic::fused || (kArithmetic == Arithmetic::any && fused);
  }

  HWY_INLINE V operator()(V query_first, V query_second, V key_first, V key_second) const {
    const V first = RoundSum(hn::Mul(query_first, key_first));
    if (IsFused()) return Scale(FusedMulAdd(D(), query_second, key_second, first));
    const V second = RoundSum(hn::Mul(query_second, key_second));
    return Scale(RoundSum(hn::Add(first, second)));
  }
};

// The extremes of a diagonal and how many neighbours kept their order, in registers.
template <class D>
struct Extremes {
  using Lane = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V least, greatest, kept;

  HWY_INLINE Extremes() {
    const D d;
    least = hn::Set(d, std::numeric_limits<Lane>::infinity());
    greatest = hn::Set(d, -std::numeric_limits<Lane>::infinity());
    kept = hn::Zero(d);
  }

  HWY_INLINE void Add(V score) {
    least = hn::Min(least, score);
    greatest = hn::Max(greatest, score);
  }

  // A true lane is all ones, which is -1 as an integer.
  HWY_INLINE void Compare(V score, V neighbour) {
    const D d;
    const hn::RebindToSigned<D> whole;
    const auto is_kept = hn::VecFromMask(d, hn::Lt(score, neighbour));
    kept = hn::BitCast(d, hn::Sub(hn::BitCast(whole, kept), hn::BitCast(whole, is_kept)));
  }

  HWY_INLINE void Store(std::size_t pairs, Share& share) const {
    const D d;
    constexpr std::size_t kLanes = hn::MaxLanes(D());
    HWY_ALIGN Lane numbers[kLanes];
    hn::Store(least, d, numbers);
    share.least = static_cast<double>(*std::min_element(numbers, numbers + kLanes));
    hn::Store(greatest, d, numbers);
    share.greatest = static_cast<double>(*std::max_element(numbers, numbers + kLanes));
    const hn::RebindToSigned<D> whole;
    HWY_ALIGN hn::TFromD<decltype(whole)> counts[kLanes];
    hn::Store(hn::BitCast(whole, kept), whole, counts);
    share.lost = pairs;
    for (const auto count : counts) share.lost -= static_cast<std::uint64_t>(count);
  }
};

// Adds up lanes in their order.
template <class D, std::size_t kParts>
HWY_INLINE double TotalOf(const hn::Vec<D> (&sums)[kParts]) {
  const D d;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN hn::TFromD<D> numbers[kLanes * kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    hn::Store(sums[part], d, numbers + part * kLanes);
  }
  double total = 0;
  for (const auto x : numbers) total += static_cast<double>(x);
  return total;
}

// How the moments of deviations from a centre are summed: in float, where all that is exact
// and any order and fusing gives the same (is_certain says whether); squares in double, where
// that is exact for wider deviations; all in double, in lanes of a fixed order.
template <Sums kSums>
struct Running;

template <>
struct Running<Sums::narrow> : Extremes<hn::ScalableTag<float>> {
  using D = hn::ScalableTag<float>;
  V center, sum[1], squares[1];

  HWY_INLINE explicit Running(double from_center) {
    center = hn::Set(D(), static_cast<float>(from_center));
    sum[0] = squares[0] = hn::Zero(D());
  }

  HWY_INLINE void Add(V score) {
    Extremes<D>::Add(score);
    const V deviation = hn::Sub(score, center);
    sum[0] = hn::Add(sum[0], deviation);
    squares[0] = hn::MulAdd(deviation, deviation, squares[0]);
  }

  HWY_INLINE Share Total(std::size_t pairs) const {
    Share share;
    Store(pairs, share);
    share.sum = TotalOf<D>(sum);
    share.sum_of_squares = TotalOf<D>(squares);
    return share;
  }
};

template <>
struct Running<Sums::wide_squares> : Extremes<hn::ScalableTag<float>> {
  using D = hn::ScalableTag<float>;
  using W = hn::ScalableTag<double>;
  static constexpr std::size_t kHalves = hn::MaxLanes(D()) == 1 ? 1 : 2;
  V center, sum[1];
  hn::Vec<W> squares[kHalves];

  HWY_INLINE explicit Running(double from_center) {
    center = hn::Set(D(), static_cast<float>(from_center));
    sum[0] = hn::Zero(D());
    for (auto& half : squares) half = hn::Zero(W());
  }

  HWY_INLINE void Add(V score) {
    Extremes<D>::Add(score);
    const V deviation = hn::Sub(score, center);
    sum[0] = hn::Add(sum[0], deviation);
    const W w;
#if HWY_TARGET == HWY_SCALAR
    const auto wide = hn::PromoteTo(w, deviation);
    squares[0] = hn::MulAdd(wide, wide, squares[0]);
#else
    const hn::Half<D> half;
    const auto low = hn::PromoteTo(w, hn::LowerHalf(half, deviation));
    squares[0] = hn::MulAdd(low, low, squares[0]);
    const auto high = hn::PromoteTo(w, hn::UpperHalf(half, deviation));
    squares[1] = hn::MulAdd(high, high, squares[1]);
#endif
  }

  HWY_INLINE Share Total(std::size_t pairs) const {
    Share share;
    Store(pairs, share);
    share.sum = TotalOf<D>(sum);
    share.sum_of_squares = TotalOf<W>(squares);
    return share;
  }
};

// `kParts` vectors make a group of pairs.
template <>
struct Running<Sums::in_lanes> : Extremes<hn::CappedTag<double, lanes>> {
  using D = hn::CappedTag<double, lanes>;
  static constexpr std::size_t kParts = lanes / hn::MaxLanes(D());
  V center, sum[kParts], squares[kParts];

  HWY_INLINE explicit Running(double from_center) {
    center = hn::Set(D(), from_center);
    for (std::size_t part = 0; part < kParts; ++part) sum[part] = squares[part] = hn::Zero(D());
  }

  // Not fused: the same bits without FMA.
  template <std::size_t kPart>
  HWY_INLINE void Add(V score) {
    Extremes<D>::Add(score);
    const V deviation = hn::Sub(score, center);
    sum[kPart] = hn::Add(sum[kPart], deviation);
    squares[kPart] = hn::Add(squares[kPart], hn::Mul(deviation, deviation));
  }

  HWY_INLINE Share Total(std::size_t pairs) const {
    Share share;
    Store(pairs, share);
    share.sum = TotalOf<D>(sum);
    share.sum_of_squares = TotalOf<D>(squares);
    return share;
  }
};

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
      if (!narrow) run(RunVectorApart<kArithmetic, Sums::wide_squares>);
    }
  }
}

template <Arithmetic kArithmetic>
HWY_INLINE void RunOrdered(const Tables<float>& tables, const Stretch& stretch,
                           const Centers& centers, Share* shares) {
  HWY_ALIGN float row[longest_stretch<float>];
  const auto fill_row = [&](std::size_t n) {
    FillRow<kArithmetic>(tables, static_cast<std::ptrdiff_t>(stretch.first + n) - 1, stretch.begin,
                         stretch.end, row);
  };
  fill_row(0);
  bool narrow = true;
  for (std::size_t n = 0; n < block; n += 2) {
    const auto run = [&](auto run_with) {
      run_with(tables, stretch.first + n, stretch.begin, stretch.end, centers.center.data() + n,
               row, shares + n);
    };
    if (narrow) {
      run(RunNeighbours<kArithmetic, Sums::narrow>);
      narrow = AreCertain(Sums::narrow, tables, stretch, centers, n, n + 1, shares);
      if (!narrow) fill_row(n);
    }
    if (!narrow) run(RunNeighbours<kArithmetic, Sums::wide_squares>);
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
                           const Centers& centers, Share* shares) {
  HWY_ALIGN double row[longest_stretch<double>];
  FillRow<kArithmetic>(tables, static_cast<std::ptrdiff_t>(stretch.first) - 1, stretch.begin,
                       stretch.end, row);
  for (std::size_t n = 0; n < block; ++n) {
    RunDouble<kArithmetic, true>(tables, stretch.first + n, stretch.begin, stretch.end,
                                 centers.center[n], row, shares[n]);
  }
}

// A diagonal by vectors of double, whatever its scores and its ends.
template <class Lane>
class CheckedDiagonal {
  using W = hn::CappedTag<double, lanes>;
  using V = hn::Vec<W>;
  using D = hn::Rebind<Lane, W>;
  static constexpr std::size_t kLanes = hn::MaxLanes(W());
  static constexpr std::size_t kParts = lanes / kLanes;

 public:
  HWY_INLINE CheckedDiagonal(const Tables<Lane>& tables, std::size_t distance, double center)
      : tables_(tables), score_(tables), distance_(static_cast<std::ptrdiff_t>(distance)) {
    const W w;
    center_ = hn::Set(w, center);
    for (std::size_t part = 0; part < kParts; ++part) {
      sum_[part] = squares_[part] = lost_[part] = not_finite_[part] = hn::Zero(w);
      least_[part] = hn::Set(w, std::numeric_limits<double>::infinity());
      greatest_[part] = hn::Set(w, -std::numeric_limits<double>::infinity());
    }
  }

  HWY_NOINLINE Share Run(std::size_t begin, std::size_t end) {
    for (std::size_t group = begin / lanes * lanes; group < end; group += lanes) {
      for (std::size_t part = 0; part < kParts; ++part) {
        AddPart(part, group + part * kLanes, begin, end);
      }
    }
    Share share;
    share.sum = TotalOf<W>(sum_);
    share.sum_of_squares = TotalOf<W>(squares_);
    share.lost = static_cast<std::uint64_t>(TotalOf<W>(lost_));
    share.not_finite = static_cast<std::uint64_t>(TotalOf<W>(not_finite_));
    for (std::size_t part = 0; part < kParts; ++part) {
      HWY_ALIGN double numbers[kLanes];
      hn::Store(least_[part], W(), numbers);
      share.least = std::min(share.least, *std::min_element(numbers, numbers + kLanes));
      hn::Store(greatest_[part], W(), numbers);
      share.greatest = std::max(share.greatest, *std::max_element(numbers, numbers + kLanes));
    }
    return share;
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

  HWY_INLINE void AddPart(std::size_t part, std::size_t i, std::size_t begin, std::size_t end) {
    const W w;
    const V number = hn::Iota(w, 0);
    const V low = hn::Set(w, static_cast<double>(i < begin ? begin - i : 0));
    const V high = hn::Set(w, static_cast<double>(i < end ? end - i : 0));
    const auto inside = hn::And(hn::Ge(number, low), hn::Lt(number, high));
    const V one = hn::IfThenElseZero(inside, hn::Set(w, 1));
    const V score = Score(distance_, i);
    if (distance_ > 0) {
      const auto kept = hn::Lt(score, Score(distance_ - 1, i));
      lost_[part] = hn::Add(lost_[part], hn::IfThenZeroElse(kept, one));
    }
    const auto finite = hn::IsFinite(score);
    not_finite_[part] = hn::Add(not_finite_[part], hn::IfThenZeroElse(finite, one));
    const auto counted = hn::And(inside, finite);
    least_[part] = hn::IfThenElse(counted, hn::Min(least_[part], score), least_[part]);
    greatest_[part] = hn::IfThenElse(counted, hn::Max(greatest_[part], score), greatest_[part]);
    const V deviation = hn::IfThenElseZero(counted, hn::Sub(score, center_));
    sum_[part] = hn::Add(sum_[part], deviation);
    // Not fused: the same bits without FMA.
    squares_[part] = hn::Add(squares_[part], hn::Mul(deviation, deviation));
  }

  const Tables<Lane>& tables_;
  Scorer<Arithmetic::any, D> score_;
  std::ptrdiff_t distance_;
  V center_;
  V sum_[kParts], squares_[kParts], lost_[kParts], not_finite_[kParts];
  V least_[kParts], greatest_[kParts];
};

template <class Lane>
Share RunDiagonal(const Tables<Lane>& tables, std::size_t distance, std::size_t begin,
                  std::size_t end, double center) {
  return CheckedDiagonal<Lane>(tables, distance, center).Run(begin, end);
}

// Neighbours need no comparing where the extremes of a diagonal show that it lies below the one
// before, as in a format with digits to spare. One diagonal tells which way is faster.
template <Arithmetic kArithmetic, class Lane>
HWY_INLINE void RunStretch(const Tables<Lane>& tables, const Stretch& stretch,
                           const Centers& centers, Share* shares) {
  const std::size_t first = stretch.first, begin = stretch.begin, end = stretch.end;
  const std::size_t probe = std::max<std::size_t>(first, 1);
  const std::uint64_t lost_by_probe = CountLost<kArithmetic>(tables, probe, begin, end);
  if (lost_by_probe > 0) {
    RunOrdered<kArithmetic>(tables, stretch, centers, shares);
    if (first == 0) shares[0].lost = 0;
  } else {
    RunUnordered<kArithmetic>(tables, stretch, centers, shares);
    shares[0].lost = 0;
    for (std::size_t n = 1; n < block; ++n) {
      shares[n].lost = lies_below(shares[n], shares[n - 1])
                           ? 0
                           : CountLost<kArithmetic>(tables, first + n, begin, end);
    }
  }
  for (std::size_t n = 0; n < block; ++n) {
    if (tables.never_finite) {
      shares[n] = nothing_finite(end - begin, shares[n].lost);
    } else if (!is_certain(sizeof(Lane) == 4 ? Sums::wide_squares : Sums::in_lanes, tables, stretch,
                           centers, n, hn::MaxLanes(hn::ScalableTag<Lane>()), shares[n])) {
      shares[n] = RunDiagonal(tables, first + n, begin, end, centers.center[n]);
    }
  }
}

template <class Lane>
HWY_INLINE void ChooseArithmetic(const Tables<Lane>& tables, const Stretch& stretch,
                                 const Centers& centers, Share* shares) {
  switch (tables.arithmetic) {
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

bool lies_below(const Share& share, const Share& before) {
  return before.not_finite == 0 && share.greatest < before.least;
}

double quantum_of(double x) {
  if (x == 0 || !std::isfinite(x)) return x == 0 ? std::numeric_limits<double>::infinity() : 0;
  int exponent = 0;
  const auto significand =
      static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(x, &exponent)), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(significand));
}

Share nothing_finite(std::size_t pairs, std::uint64_t lost) {
  Share share;
  share.lost = lost;
  share.not_finite = pairs;
  return share;
}

bool is_certain(Sums, const Tables<double>&, const Stretch&, const Centers&, std::size_t,
                std::size_t, const Share& share) {
  return std::isfinite(share.sum_of_squares);
}

bool is_certain(Sums sums, const Tables<float>& tables, const Stretch& stretch,
                const Centers& centers, std::size_t n, std::size_t width, const Share& share) {
  if (!std::isfinite(share.sum_of_squares)) return false;
  // A lane adds up 2^10 / width deviations, whole numbers of quanta, to at most 2^24, and
  // their squares to 2^24 or 2^53.
  static_assert(longest_stretch<float> <= 1024);
  const double sum = 0x1p14 * static_cast<double>(width);
  const double quanta_allowed = sums == Sums::narrow ? std::sqrt(sum) : sum;
  const double furthest =
      std::max(share.greatest - centers.center[n], centers.center[n] - share.least);
  const auto exact_with = [&](double quantum) {
    // No square is subnormal.
    return quantum >= 0x1p-60 && furthest <= quanta_allowed * quantum;
  };
  if (!exact_with(centers.quantum[n])) return false;
  if (exact_with(stretch.quantum)) return true;
  const bool one_sign = share.least > 0 || share.greatest < 0;
  return one_sign && exact_with(ulp(tables.score_format,
                                    std::min(std::abs(share.least), std::abs(share.greatest))));
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
