// Scores of vectors of pairs, as kernel::Arithmetic says. Internal to this room; included once for
// each target by the files that Highway compiles.
#include "ropelab/errors/kernel.hpp"

#include <hwy/highway.h>

#include "ropelab/errors/vector_rounding-inl.hpp"

// Toggled by foreach_target.h, so that each of its rounds reads this file once.
#if defined(ROPELAB_ERRORS_SCORER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPELAB_ERRORS_SCORER_INL_HPP
#undef ROPELAB_ERRORS_SCORER_INL_HPP
#else
#define ROPELAB_ERRORS_SCORER_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace ropelab::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of a score that is zero the sign is right only where kZeroSigns asks for it.
template <Arithmetic kArithmetic, class D, bool kZeroSigns = false>
struct Scorer {
  using Lane = hn::TFromD<D>;
  using V = hn::Vec<D>;
  Rounder<D> accumulation, scaling;
  V scale;
  bool round_sum, round_scaled, convert, fused;

  HWY_INLINE explicit Scorer(const Scoring<Lane>& scoring)
      : accumulation(scoring.accumulation),
        scaling(scoring.scaling),
        scale(hn::Set(D(), scoring.scale)),
        round_sum(scoring.accumulation.has_value()),
        round_scaled(scoring.scaling.has_value()),
        convert(scoring.convert),
        fused(scoring.fused) {}

  HWY_INLINE static V InRange(const Rounder<D>& to, V x) {
    const V rounded = to.InRange(x);
    return kZeroSigns ? hn::CopySign(rounded, x) : rounded;
  }
  HWY_INLINE static V Any(const Rounder<D>& to, V x) {
    const V rounded = to.Any(x);
    return kZeroSigns ? hn::CopySign(rounded, x) : rounded;
  }

  HWY_INLINE V RoundSum(V x) const {
    if constexpr (kArithmetic == Arithmetic::any) {
      return round_sum ? Any(accumulation, x) : x;
    } else if constexpr (kArithmetic == Arithmetic::rounded ||
                         kArithmetic == Arithmetic::rounded_scaled) {
      return InRange(accumulation, x);
    } else {
      return x;
    }
  }

  // The last step of a score.
  HWY_INLINE V Scale(V sum) const {
    if constexpr (kArithmetic == Arithmetic::exact_products ||
                  kArithmetic == Arithmetic::unscaled) {
      return sum;
    } else if constexpr (kArithmetic == Arithmetic::rounded_scaled) {
      return InRange(scaling, hn::Mul(sum, scale));
    } else if constexpr (kArithmetic == Arithmetic::any || kArithmetic == Arithmetic::fused) {
      if (!round_scaled) return hn::Mul(sum, scale);
      return Any(scaling, hn::Mul(convert ? Any(scaling, sum) : sum, scale));
    } else {
      return hn::Mul(sum, scale);
    }
  }

  HWY_INLINE bool IsFused() const {
    return kArithmetic == Arithmetic::fused || (kArithmetic == Arithmetic::any && fused);
  }

  // The first product of a sum, and the sum with one more.
  HWY_INLINE V First(V query, V key) const { return RoundSum(hn::Mul(query, key)); }
  HWY_INLINE V Then(V sum, V query, V key) const {
    if (IsFused()) {
      const V result = FusedMulAdd(D(), query, key, sum);
      // An exact sum that is zero is positive, whatever it is made of.
      return kZeroSigns ? hn::Add(result, hn::Zero(D())) : result;
    }
    // Rounded once, with the instruction or without.
    if constexpr (kArithmetic == Arithmetic::exact_products) return hn::MulAdd(query, key, sum);
    return RoundSum(hn::Add(sum, RoundSum(hn::Mul(query, key))));
  }

  HWY_INLINE V operator()(V query_first, V query_second, V key_first, V key_second) const {
    return Scale(Then(First(query_first, key_first), query_second, key_second));
  }
};

}  // namespace ropelab::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
