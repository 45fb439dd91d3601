// Vector arithmetic that gives the same bits on every instruction set: roundings to narrower
// formats, and the fused operations. Internal to this room; included once for each target by the
// files that Highway compiles.
#include "ropelab/errors/kernel.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <hwy/highway.h>

// Toggled by foreach_target.h, so that each of its rounds reads this file once.
#if defined(ROPELAB_ERRORS_VECTOR_ROUNDING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPELAB_ERRORS_VECTOR_ROUNDING_INL_HPP
#undef ROPELAB_ERRORS_VECTOR_ROUNDING_INL_HPP
#else
#define ROPELAB_ERRORS_VECTOR_ROUNDING_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Lane>
using Unsigned = std::conditional_t<sizeof(Lane) == 4, std::uint32_t, std::uint64_t>;

// A rounding to a narrower format, held in registers.
//
// Rounds to nearest even at the last place of a format of p bits inside a lane of P bits:
// with 2^e <= |x| < 2^(e+1), adding M = 1.5 * 2^(P-1) * 2^(max(e, emin)-p+1) leaves the sum
// with that last place as its own, so the lane's addition does the rounding; subtracting M is
// exact. It needs |x| <= 2^p last places <= 2^(P-2), which p <= P-2 gives.
// A product of two members is exact in the lane (2p <= P), and a sum of two is rounded twice
// without harm, since P >= 2p + 2: float16 (11) and narrower in float32 (24), float32 in
// float64 (53).
template <class D>
struct Rounder {
  using Lane = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V exponent_bits, least_power, magic, last_in_range, past_range;

  HWY_INLINE explicit Rounder(const std::optional<Rounding<Lane>>& to) {
    const D d;
    const hn::Repartition<Unsigned<Lane>, D> bits;
    constexpr Unsigned<Lane> exponent =
        sizeof(Lane) == 4 ? 0x7F800000u : static_cast<Unsigned<Lane>>(0x7FF0000000000000ull);
    exponent_bits = hn::BitCast(d, hn::Set(bits, exponent));
    least_power = hn::Set(d, to ? to->least_power : Lane{0});
    magic = hn::Set(d, to ? to->magic : Lane{0});
    last_in_range = hn::Set(d, to ? to->last_in_range : Lane{0});
    past_range = hn::Set(d, to ? to->past_range : Lane{0});
  }

  HWY_INLINE V InRange(V x) const {
    const V power = hn::Max(hn::And(x, exponent_bits), least_power);
    const V shift = hn::Mul(power, magic);
    return hn::Sub(hn::Add(x, shift), shift);
  }

  HWY_INLINE V Any(V x) const {
    return hn::IfThenElse(hn::Gt(hn::Abs(x), last_in_range), hn::CopySignToAbs(past_range, x),
                          InRange(x));
  }
};

// a * b + c rounded once. Without the instruction, lane by lane.
template <class D>
HWY_INLINE hn::Vec<D> FusedMulAdd(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN hn::TFromD<D> x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (std::size_t n = 0; n < kLanes; ++n) z[n] = std::fma(x[n], y[n], z[n]);
  return hn::Load(d, z);
#endif
}

// What the rounded sum a + b lacks, exactly.
template <class V>
HWY_INLINE V SumError(V a, V b, V sum) {
  const V part = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, part)), hn::Sub(b, part));
}

// What the rounded product of doubles lacks, exactly; far from the ends of their range. Without
// the instruction, by halves of 26 bits (Dekker).
template <class D>
HWY_INLINE hn::Vec<D> ProductError(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> product) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, product);
#else
  const auto high_half = [d](hn::Vec<D> x) HWY_ATTR {
    const auto wide = hn::Mul(x, hn::Set(d, 134217729.0));  // 2^27 + 1
    return hn::Sub(wide, hn::Sub(wide, x));
  };
  const auto a_high = high_half(a), b_high = high_half(b);
  const auto a_low = hn::Sub(a, a_high), b_low = hn::Sub(b, b_high);
  const auto high = hn::Sub(hn::Mul(a_high, b_high), product);
  const auto middle = hn::Add(hn::Add(high, hn::Mul(a_high, b_low)), hn::Mul(a_low, b_high));
  return hn::Add(middle, hn::Mul(a_low, b_low));
#endif
}

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
