// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/transformer/vector_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// The variants of AVX-512 above the first bring nothing to these loops.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/transformer/vector_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace ropelab::vector_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Lane>
using Tag = hn::ScalableTag<Lane>;
template <class Lane>
using Vector = hn::Vec<Tag<Lane>>;

// What one more vector at `from` would read, of which only `count` lanes are there.
template <class Lane>
HWY_INLINE Vector<Lane> LoadTail(const Lane* from, std::size_t count, Lane padding) {
  HWY_ALIGN Lane tail[HWY_MAX_BYTES / sizeof(Lane)];
  std::fill(std::copy_n(from, count, tail), std::end(tail), padding);
  return hn::Load(Tag<Lane>(), tail);
}

template <class Lane>
HWY_INLINE void StoreTail(Vector<Lane> v, std::size_t count, Lane* to) {
  HWY_ALIGN Lane tail[HWY_MAX_BYTES / sizeof(Lane)];
  hn::Store(v, Tag<Lane>(), tail);
  std::copy_n(tail, count, to);
}

// How many of n elements fill whole vectors.
template <class Lane>
HWY_INLINE std::size_t InWholeVectors(std::size_t n) {
  return n - n % hn::Lanes(Tag<Lane>());
}

template <class Lane>
HWY_INLINE Lane SumOf(Vector<Lane> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<Lane>(), v));
}

template <class Lane>
HWY_INLINE void AddLine(std::span<Lane> scores, Lane slope, Lane start) {
  const Tag<Lane> d;
  const std::size_t whole = InWholeVectors<Lane>(scores.size());
  const auto m = hn::Set(d, slope), step = hn::Set(d, static_cast<Lane>(hn::Lanes(d)));
  auto position = hn::Iota(d, start);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, &scores[k]), hn::Mul(m, position)), d, &scores[k]);
    position = hn::Add(position, step);
  }
  for (std::size_t k = whole; k < scores.size(); ++k) {
    scores[k] += slope * (start + static_cast<Lane>(k));
  }
}

// NaN where any score is.
template <class Lane>
HWY_INLINE Lane Greatest(std::span<const Lane> scores) {
  const Tag<Lane> d;
  constexpr Lane lowest = -std::numeric_limits<Lane>::infinity();
  const std::size_t whole = InWholeVectors<Lane>(scores.size());
  auto greatest = LoadTail(scores.data() + whole, scores.size() - whole, lowest);
  auto is_nan = hn::VecFromMask(d, hn::IsNaN(greatest));
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, &scores[k]);
    is_nan = hn::Or(is_nan, hn::VecFromMask(d, hn::IsNaN(v)));
    greatest = hn::Max(greatest, v);
  }
  if (!hn::AllFalse(d, hn::MaskFromVec(is_nan))) return std::numeric_limits<Lane>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

template <class Lane>
HWY_INLINE Exponentials Exponentiate(std::span<Lane> scores) {
  const Tag<Lane> d;
  const Lane top = Greatest(std::span<const Lane>(scores));
  if (!std::isfinite(top)) {
    std::fill(scores.begin(), scores.end(), std::numeric_limits<Lane>::quiet_NaN());
    return {top, std::numeric_limits<double>::quiet_NaN()};
  }
  const auto greatest = hn::Set(d, top);
  const std::size_t whole = InWholeVectors<Lane>(scores.size()), rest = scores.size() - whole;
  auto sum = hn::Zero(d);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, &scores[k]), greatest));
    hn::StoreU(e, d, &scores[k]);
    sum = hn::Add(sum, e);
  }
  if (rest > 0) {
    constexpr Lane lowest = -std::numeric_limits<Lane>::infinity();
    const auto e = hn::Exp(d, hn::Sub(LoadTail<Lane>(&scores[whole], rest, lowest), greatest));
    StoreTail<Lane>(e, rest, &scores[whole]);
    sum = hn::Add(sum, e);
  }
  return {top, SumOf<Lane>(sum)};
}

HWY_INLINE Vector<double> LoadAsDouble(const double* from) {
  return hn::LoadU(Tag<double>(), from);
}
HWY_INLINE Vector<double> LoadAsDouble(const float* from) {
  const Tag<double> d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag<double>>(), from));
}

template <class Lane>
HWY_INLINE Moments MomentsOf(std::span<const Lane> exponentials, std::span<const Lane> scores,
                             double greatest) {
  const Tag<double> d;
  const auto top = hn::Set(d, greatest);
  const std::size_t whole = InWholeVectors<double>(scores.size());
  auto exponents = hn::Zero(d), squares = hn::Zero(d);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto e = LoadAsDouble(&exponentials[k]);
    const auto x = hn::Sub(LoadAsDouble(&scores[k]), top);
    const auto product = hn::IfThenZeroElse(hn::Eq(e, hn::Zero(d)), hn::Mul(e, x));
    exponents = hn::Add(exponents, product);
    squares = hn::Add(squares, hn::Mul(e, e));
  }
  Moments moments{SumOf<double>(exponents), SumOf<double>(squares)};
  for (std::size_t k = whole; k < scores.size(); ++k) {
    const double e = exponentials[k];
    if (e != 0) moments.exponents += e * (static_cast<double>(scores[k]) - greatest);
    moments.squares += e * e;
  }
  return moments;
}

template <class Lane>
HWY_INLINE Vector<Lane> Gelu(Vector<Lane> x) {
  const Tag<Lane> d;
  // Beyond it e^y would overflow, while x/(1 + e^y) no longer counts.
  constexpr Lane largest = sizeof(Lane) == 4 ? Lane(88) : Lane(700);
  const auto one = hn::Set(d, Lane(1)), cube = hn::Set(d, Lane(0.044715));
  const auto inner = hn::Mul(x, hn::Add(one, hn::Mul(cube, hn::Mul(x, x))));
  const auto y = hn::Mul(hn::Set(d, Lane(-2 * 0.79788456)), inner);
  return hn::Div(x, hn::Add(one, hn::Exp(d, hn::Min(y, hn::Set(d, largest)))));
}

template <class Lane>
HWY_INLINE void AddAndApplyGelu(std::span<Lane> values, std::span<const Lane> offsets) {
  const Tag<Lane> d;
  const std::size_t whole = InWholeVectors<Lane>(values.size()), rest = values.size() - whole;
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto x = hn::Add(hn::LoadU(d, &values[k]), hn::LoadU(d, &offsets[k]));
    hn::StoreU(Gelu<Lane>(x), d, &values[k]);
  }
  if (rest == 0) return;
  const auto x =
      hn::Add(LoadTail<Lane>(&values[whole], rest, 0), LoadTail<Lane>(&offsets[whole], rest, 0));
  StoreTail<Lane>(Gelu<Lane>(x), rest, &values[whole]);
}

template <class Lane>
HWY_INLINE void LayerNorm(std::span<const Lane> in, std::span<const Lane> weight,
                          std::span<const Lane> offset, double epsilon, std::span<Lane> out) {
  const Tag<Lane> d;
  const std::size_t whole = InWholeVectors<Lane>(in.size());
  const Lane size = static_cast<Lane>(in.size());
  auto sum = LoadTail<Lane>(in.data() + whole, in.size() - whole, 0);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    sum = hn::Add(sum, hn::LoadU(d, &in[k]));
  }
  const Lane mean = SumOf<Lane>(sum) / size;
  const auto center = hn::Set(d, mean);
  const auto deviation = hn::Sub(LoadTail(in.data() + whole, in.size() - whole, mean), center);
  auto squares = hn::Mul(deviation, deviation);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto x = hn::Sub(hn::LoadU(d, &in[k]), center);
    squares = hn::MulAdd(x, x, squares);
  }
  const Lane variance = SumOf<Lane>(squares) / size;
  const Lane factor = 1 / std::sqrt(variance + static_cast<Lane>(epsilon));
  const auto scale = hn::Set(d, factor);
  for (std::size_t k = 0; k < whole; k += hn::Lanes(d)) {
    const auto x = hn::Mul(hn::Sub(hn::LoadU(d, &in[k]), center), scale);
    hn::StoreU(hn::MulAdd(x, hn::LoadU(d, &weight[k]), hn::LoadU(d, &offset[k])), d, &out[k]);
  }
  for (std::size_t k = whole; k < in.size(); ++k) {
    out[k] = (in[k] - mean) * factor * weight[k] + offset[k];
  }
}

void FloatAddLine(std::span<float> scores, float slope, float start) {
  AddLine(scores, slope, start);
}
void DoubleAddLine(std::span<double> scores, double slope, double start) {
  AddLine(scores, slope, start);
}
Exponentials FloatExponentiate(std::span<float> scores) { return Exponentiate(scores); }
Exponentials DoubleExponentiate(std::span<double> scores) { return Exponentiate(scores); }
Moments FloatMoments(std::span<const float> exponentials, std::span<const float> scores,
                     double greatest) {
  return MomentsOf(exponentials, scores, greatest);
}
Moments DoubleMoments(std::span<const double> exponentials, std::span<const double> scores,
                      double greatest) {
  return MomentsOf(exponentials, scores, greatest);
}
void FloatGelu(std::span<float> values, std::span<const float> offsets) {
  AddAndApplyGelu(values, offsets);
}
void DoubleGelu(std::span<double> values, std::span<const double> offsets) {
  AddAndApplyGelu(values, offsets);
}
void FloatLayerNorm(std::span<const float> in, std::span<const float> weight,
                    std::span<const float> offset, double epsilon, std::span<float> out) {
  LayerNorm(in, weight, offset, epsilon, out);
}
void DoubleLayerNorm(std::span<const double> in, std::span<const double> weight,
                     std::span<const double> offset, double epsilon, std::span<double> out) {
  LayerNorm(in, weight, offset, epsilon, out);
}

}  // namespace ropelab::vector_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::vector_kernels {

HWY_EXPORT(FloatAddLine);
HWY_EXPORT(DoubleAddLine);
HWY_EXPORT(FloatExponentiate);
HWY_EXPORT(DoubleExponentiate);
HWY_EXPORT(FloatMoments);
HWY_EXPORT(DoubleMoments);
HWY_EXPORT(FloatGelu);
HWY_EXPORT(DoubleGelu);
HWY_EXPORT(FloatLayerNorm);
HWY_EXPORT(DoubleLayerNorm);

void add_line(std::span<float> scores, float slope, float start) {
  HWY_DYNAMIC_DISPATCH(FloatAddLine)(scores, slope, start);
}
void add_line(std::span<double> scores, double slope, double start) {
  HWY_DYNAMIC_DISPATCH(DoubleAddLine)(scores, slope, start);
}
Exponentials exponentiate(std::span<float> scores) {
  return HWY_DYNAMIC_DISPATCH(FloatExponentiate)(scores);
}
Exponentials exponentiate(std::span<double> scores) {
  return HWY_DYNAMIC_DISPATCH(DoubleExponentiate)(scores);
}
Moments moments_of(std::span<const float> exponentials, std::span<const float> scores,
                   double greatest) {
  return HWY_DYNAMIC_DISPATCH(FloatMoments)(exponentials, scores, greatest);
}
Moments moments_of(std::span<const double> exponentials, std::span<const double> scores,
                   double greatest) {
  return HWY_DYNAMIC_DISPATCH(DoubleMoments)(exponentials, scores, greatest);
}
void add_and_apply_gelu(std::span<float> values, std::span<const float> offsets) {
  HWY_DYNAMIC_DISPATCH(FloatGelu)(values, offsets);
}
void add_and_apply_gelu(std::span<double> values, std::span<const double> offsets) {
  HWY_DYNAMIC_DISPATCH(DoubleGelu)(values, offsets);
}
void layer_norm(std::span<const float> in, std::span<const float> weight,
                std::span<const float> offset, double epsilon, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(FloatLayerNorm)(in, weight, offset, epsilon, out);
}
void layer_norm(std::span<const double> in, std::span<const double> weight,
                std::span<const double> offset, double epsilon, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(DoubleLayerNorm)(in, weight, offset, epsilon, out);
}

}  // namespace ropelab::vector_kernels
#endif
