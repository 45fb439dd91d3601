// What the kernels keep of a diagonal in registers. Internal to this room; included once for each
// target by the files that Highway compiles.
#include "ropelab/errors/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

// Toggled by foreach_target.h, so that each of its rounds reads this file once.
#if defined(ROPELAB_ERRORS_RUNNING_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPELAB_ERRORS_RUNNING_SUMS_INL_HPP
#undef ROPELAB_ERRORS_RUNNING_SUMS_INL_HPP
#else
#define ROPELAB_ERRORS_RUNNING_SUMS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

  HWY_INLINE Share Total(double sum, double sum_of_squares, std::size_t pairs) const {
    const D d;
    Share share;
    share.sum = sum;
    share.sum_of_squares = sum_of_squares;
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
    return share;
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
// and any order and fusing gives the same (is_certain says whether); in double, where that is
// exact for wider deviations; in double, in lanes of a fixed order.
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
    return Extremes<D>::Total(TotalOf<D>(sum), TotalOf<D>(squares), pairs);
  }
};

template <>
struct Running<Sums::wide> : Extremes<hn::ScalableTag<float>> {
  using D = hn::ScalableTag<float>;
  using W = hn::ScalableTag<double>;
  static constexpr std::size_t kHalves = hn::MaxLanes(D()) == 1 ? 1 : 2;
  V center;
  hn::Vec<W> sum[kHalves], squares[kHalves];

  HWY_INLINE explicit Running(double from_center) {
    center = hn::Set(D(), static_cast<float>(from_center));
    for (std::size_t half = 0; half < kHalves; ++half) sum[half] = squares[half] = hn::Zero(W());
  }

  template <std::size_t kHalf>
  HWY_INLINE void AddWide(hn::Vec<W> deviation) {
    sum[kHalf] = hn::Add(sum[kHalf], deviation);
    squares[kHalf] = hn::MulAdd(deviation, deviation, squares[kHalf]);
  }

  HWY_INLINE void Add(V score) {
    Extremes<D>::Add(score);
    const V deviation = hn::Sub(score, center);
    const W w;
#if HWY_TARGET == HWY_SCALAR
    AddWide<0>(hn::PromoteTo(w, deviation));
#else
    const hn::Half<D> half;
    AddWide<0>(hn::PromoteTo(w, hn::LowerHalf(half, deviation)));
    AddWide<1>(hn::PromoteTo(w, hn::UpperHalf(half, deviation)));
#endif
  }

  HWY_INLINE Share Total(std::size_t pairs) const {
    return Extremes<D>::Total(TotalOf<W>(sum), TotalOf<W>(squares), pairs);
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
    return Extremes<D>::Total(TotalOf<D>(sum), TotalOf<D>(squares), pairs);
  }
};

// Scores or deviations of which some lanes do not count: beyond the ends of a diagonal, or not
// finite. Doubles, in `kParts` vectors to a group of pairs.
struct CheckedSums {
  using D = hn::CappedTag<double, lanes>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr std::size_t kParts = lanes / kLanes;
  V sum[kParts], squares[kParts], lost, not_finite, least, greatest;

  HWY_INLINE CheckedSums() {
    const D d;
    for (std::size_t part = 0; part < kParts; ++part) sum[part] = squares[part] = hn::Zero(d);
    lost = not_finite = hn::Zero(d);
    least = hn::Set(d, std::numeric_limits<double>::infinity());
    greatest = hn::Set(d, -std::numeric_limits<double>::infinity());
  }

  // Counts the lanes `inside` where the neighbours are not in order.
  HWY_INLINE void Compare(V score, V neighbour, hn::Mask<D> inside) {
    const V one = hn::IfThenElseZero(inside, hn::Set(D(), 1));
    lost = hn::Add(lost, hn::IfThenZeroElse(hn::Lt(score, neighbour), one));
  }

  // Adds the deviations of the lanes `inside` with a finite score; `value` is what the extremes
  // are of.
  HWY_INLINE void Add(std::size_t part, V score, V value, V deviation, hn::Mask<D> inside) {
    const V one = hn::IfThenElseZero(inside, hn::Set(D(), 1));
    const auto finite = hn::IsFinite(score);
    not_finite = hn::Add(not_finite, hn::IfThenZeroElse(finite, one));
    const auto counted = hn::And(inside, finite);
    least = hn::IfThenElse(counted, hn::Min(least, value), least);
    greatest = hn::IfThenElse(counted, hn::Max(greatest, value), greatest);
    const V kept = hn::IfThenElseZero(counted, deviation);
    sum[part] = hn::Add(sum[part], kept);
    // Not fused: the same bits without FMA.
    squares[part] = hn::Add(squares[part], hn::Mul(kept, kept));
  }

  HWY_INLINE Share Total() const {
    const D d;
    Share share;
    share.sum = TotalOf<D>(sum);
    share.sum_of_squares = TotalOf<D>(squares);
    share.lost = static_cast<std::uint64_t>(TotalOf<D, 1>({lost}));
    share.not_finite = static_cast<std::uint64_t>(TotalOf<D, 1>({not_finite}));
    HWY_ALIGN double numbers[kLanes];
    hn::Store(least, d, numbers);
    share.least = *std::min_element(numbers, numbers + kLanes);
    hn::Store(greatest, d, numbers);
    share.greatest = *std::max_element(numbers, numbers + kLanes);
    return share;
  }
};

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
