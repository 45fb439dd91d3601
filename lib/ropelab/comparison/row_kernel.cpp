// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/comparison/row_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/comparison/row_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ropelab::row_kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr std::size_t kDoubles = hn::MaxLanes(D());
constexpr std::size_t kVectors = lanes / kDoubles;

HWY_INLINE V Set(double x) { return hn::Set(D(), x); }

HWY_INLINE V LoadDoubles(const float* from) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), from));
}
HWY_INLINE V LoadDoubles(const double* from) { return hn::LoadU(D(), from); }

// One compensated sum in each lane.
struct Sums {
  V high[kVectors], low[kVectors];

  HWY_INLINE Sums() {
    for (std::size_t v = 0; v < kVectors; ++v) high[v] = low[v] = hn::Zero(D());
  }

  // Knuth's exact sum, which asks for no order of magnitude.
  HWY_INLINE void Add(std::size_t v, V x) {
    const V sum = hn::Add(high[v], x);
    const V part = hn::Sub(sum, high[v]);
    const V error = hn::Add(hn::Sub(high[v], hn::Sub(sum, part)), hn::Sub(x, part));
    low[v] = hn::Add(low[v], error);
    high[v] = sum;
  }

  HWY_INLINE CompensatedSum Total() const {
    HWY_ALIGN double highs[lanes], lows[lanes];
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(high[v], D(), highs + v * kDoubles);
      hn::Store(low[v], D(), lows + v * kDoubles);
    }
    CompensatedSum total;
    for (const double x : highs) total.add(x);
    for (std::size_t n = 0; n < lanes; ++n) {
      if (std::isfinite(highs[n])) total.add(lows[n]);
    }
    return total;
  }
};

// (e^x - 1 - x)/x^2 for |x| <= 0.35, by its series, relative error below 2^-52. Odd and even
// powers apart, for the sake of speed.
HWY_INLINE V SecondOrderRest(V x) {
  constexpr double kFactorials[] = {2,     6,      24,      120,      720,       5040,
                                    40320, 362880, 3628800, 39916800, 479001600, 6227020800.};
  const V square = hn::Mul(x, x);
  V even = Set(1 / kFactorials[10]), odd = Set(1 / kFactorials[11]);
  for (int n = 8; n >= 0; n -= 2) {
    even = hn::Add(hn::Mul(even, square), Set(1 / kFactorials[n]));
    odd = hn::Add(hn::Mul(odd, square), Set(1 / kFactorials[n + 1]));
  }
  return hn::Add(even, hn::Mul(x, odd));
}

// e^x for x <= 0, relative error below 2^-52; 0 from -707 down, where e^x is below 1e-307.
//
// x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^52 leaves n in the last bits of the sum, and n
// times the first part of ln 2, of 32 bits, is exact.
HWY_INLINE V Exponential(V x) {
  const hn::RebindToSigned<D> bits;
  const V magic = Set(0x1.8p52);
  const V shifted = hn::Add(hn::Mul(x, Set(1.4426950408889634)), magic);
  const V n = hn::Sub(shifted, magic);
  const V rest = hn::Sub(x, hn::Mul(n, Set(0x1.62E42FEEp-1)));
  const V r = hn::Sub(rest, hn::Mul(n, Set(0x1.A39EF35793C76p-33)));
  const V square = hn::Mul(r, r);
  const V mantissa = hn::Add(Set(1), hn::Add(r, hn::Mul(square, SecondOrderRest(r))));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  const V power = hn::BitCast(D(), hn::Add(hn::BitCast(bits, mantissa), exponent));
  return hn::IfThenElseZero(hn::Gt(x, Set(-707)), power);
}

// The constructors below are written out, since implicit ones would not be compiled for the
// instruction set.

// Gives `measure` the rows block by block, the last one filled up with -infinity.
template <class Logit, class Measure>
HWY_INLINE void EachBlock(const Logit* a, const Logit* b, std::size_t count, Measure& measure) {
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) measure.Add(a + n, b + n);
  if (n == count) return;
  Logit last_a[lanes], last_b[lanes];
  std::fill_n(last_a, lanes, -std::numeric_limits<Logit>::infinity());
  std::fill_n(last_b, lanes, -std::numeric_limits<Logit>::infinity());
  std::copy(a + n, a + count, last_a);
  std::copy(b + n, b + count, last_b);
  measure.Add(last_a, last_b);
}

struct GreatestMeasure {
  V greatest[kVectors];
  hn::Mask<D> nan;

  HWY_INLINE GreatestMeasure() : nan(hn::FirstN(D(), 0)) {
    for (V& v : greatest) v = Set(-std::numeric_limits<double>::infinity());
  }

  template <class Logit>
  HWY_INLINE void Add(const Logit* a, const Logit*) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V x = LoadDoubles(a + v * kDoubles);
      nan = hn::Or(nan, hn::IsNaN(x));
      greatest[v] = hn::Max(greatest[v], x);
    }
  }

  HWY_INLINE Greatest Result() const {
    V all = greatest[0];
    for (std::size_t v = 1; v < kVectors; ++v) all = hn::Max(all, greatest[v]);
    return {hn::GetLane(hn::MaxOfLanes(D(), all)), !hn::AllFalse(D(), nan)};
  }
};

struct ExponentialMeasure {
  V greatest;
  Sums sums;

  HWY_INLINE explicit ExponentialMeasure(double greatest_logit) : greatest(Set(greatest_logit)) {}

  template <class Logit>
  HWY_INLINE void Add(const Logit* a, const Logit*) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums.Add(v, Exponential(hn::Sub(LoadDoubles(a + v * kDoubles), greatest)));
    }
  }
};

struct ChangeMeasure {
  V largest;
  Sums squares;

  HWY_INLINE ChangeMeasure() : largest(hn::Zero(D())) {}

  template <class Logit>
  HWY_INLINE void Add(const Logit* a, const Logit* b) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V x = LoadDoubles(a + v * kDoubles), y = LoadDoubles(b + v * kDoubles);
      const V change = hn::IfThenZeroElse(hn::Eq(x, y), hn::Sub(y, x));
      largest = hn::Max(largest, hn::Abs(change));
      squares.Add(v, hn::Mul(change, change));
    }
  }
};

struct DivergenceMeasure {
  V p_greatest, p_weight, q_greatest, q_weight, log_ratio;
  Sums sums;

  HWY_INLINE DivergenceMeasure(const Normalisation& p, const Normalisation& q, double ratio)
      : p_greatest(Set(p.greatest)),
        p_weight(Set(p.weight)),
        q_greatest(Set(q.greatest)),
        q_weight(Set(q.weight)),
        log_ratio(Set(ratio)) {}

  template <class Logit>
  HWY_INLINE void Add(const Logit* a, const Logit* b) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums.Add(v, Term(hn::Sub(LoadDoubles(a + v * kDoubles), p_greatest),
                       hn::Sub(LoadDoubles(b + v * kDoubles), q_greatest)));
    }
  }

  HWY_INLINE V Term(V x, V y) const {
    const V p = hn::Mul(Exponential(x), p_weight);
    const V t = hn::Add(hn::Sub(y, x), log_ratio);  // ln(q/p)
    const auto is_small = hn::Lt(hn::Abs(t), Set(0.34));
    const V small = hn::Mul(p, hn::Mul(hn::Mul(t, t), SecondOrderRest(t)));
    if (hn::AllTrue(D(), is_small)) return small;
    const V q = hn::Mul(Exponential(y), q_weight);
    const V large = hn::Sub(hn::Sub(q, p), hn::Mul(p, t));
    // What has no probability in p may have an infinite ratio.
    const V term = hn::IfThenElse(hn::Eq(p, hn::Zero(D())), q, large);
    return hn::IfThenElse(is_small, small, term);
  }
};

template <class Logit>
HWY_NOINLINE Greatest RunGreatest(const Logit* logits, std::size_t count) {
  GreatestMeasure measure;
  EachBlock(logits, logits, count, measure);
  return measure.Result();
}

template <class Logit>
HWY_NOINLINE CompensatedSum RunExponentials(const Logit* logits, std::size_t count,
                                            double greatest) {
  ExponentialMeasure measure(greatest);
  EachBlock(logits, logits, count, measure);
  return measure.sums.Total();
}

template <class Logit>
HWY_NOINLINE Changes RunChanges(const Logit* a, const Logit* b, std::size_t count) {
  ChangeMeasure measure;
  EachBlock(a, b, count, measure);
  return {hn::GetLane(hn::MaxOfLanes(D(), measure.largest)), measure.squares.Total()};
}

template <class Logit>
HWY_NOINLINE CompensatedSum RunDivergence(const Logit* a, const Normalisation& p, const Logit* b,
                                          const Normalisation& q, double log_ratio,
                                          std::size_t count) {
  DivergenceMeasure measure(p, q, log_ratio);
  EachBlock(a, b, count, measure);
  return measure.sums.Total();
}

// HWY_EXPORT takes no templates.
Greatest FloatGreatest(const float* logits, std::size_t count) {
  return RunGreatest(logits, count);
}
Greatest DoubleGreatest(const double* logits, std::size_t count) {
  return RunGreatest(logits, count);
}
CompensatedSum FloatExponentials(const float* logits, std::size_t count, double greatest) {
  return RunExponentials(logits, count, greatest);
}
CompensatedSum DoubleExponentials(const double* logits, std::size_t count, double greatest) {
  return RunExponentials(logits, count, greatest);
}
Changes FloatChanges(const float* a, const float* b, std::size_t count) {
  return RunChanges(a, b, count);
}
Changes DoubleChanges(const double* a, const double* b, std::size_t count) {
  return RunChanges(a, b, count);
}
CompensatedSum FloatDivergence(const float* a, const Normalisation& p, const float* b,
                               const Normalisation& q, double log_ratio, std::size_t count) {
  return RunDivergence(a, p, b, q, log_ratio, count);
}
CompensatedSum DoubleDivergence(const double* a, const Normalisation& p, const double* b,
                                const Normalisation& q, double log_ratio, std::size_t count) {
  return RunDivergence(a, p, b, q, log_ratio, count);
}

}  // namespace ropelab::row_kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::row_kernel {

HWY_EXPORT(FloatGreatest);
HWY_EXPORT(DoubleGreatest);
HWY_EXPORT(FloatExponentials);
HWY_EXPORT(DoubleExponentials);
HWY_EXPORT(FloatChanges);
HWY_EXPORT(DoubleChanges);
HWY_EXPORT(FloatDivergence);
HWY_EXPORT(DoubleDivergence);

template <>
Greatest greatest(const float* logits, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(FloatGreatest)(logits, count);
}
template <>
Greatest greatest(const double* logits, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(DoubleGreatest)(logits, count);
}
template <>
CompensatedSum sum_of_exponentials(const float* logits, std::size_t count, double greatest) {
  return HWY_DYNAMIC_DISPATCH(FloatExponentials)(logits, count, greatest);
}
template <>
CompensatedSum sum_of_exponentials(const double* logits, std::size_t count, double greatest) {
  return HWY_DYNAMIC_DISPATCH(DoubleExponentials)(logits, count, greatest);
}
template <>
Changes changes(const float* a, const float* b, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(FloatChanges)(a, b, count);
}
template <>
Changes changes(const double* a, const double* b, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(DoubleChanges)(a, b, count);
}
template <>
CompensatedSum divergence(const float* a, const Normalisation& p, const float* b,
                          const Normalisation& q, double log_ratio, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(FloatDivergence)(a, p, b, q, log_ratio, count);
}
template <>
CompensatedSum divergence(const double* a, const Normalisation& p, const double* b,
                          const Normalisation& q, double log_ratio, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(DoubleDivergence)(a, p, b, q, log_ratio, count);
}

}  // namespace ropelab::row_kernel
#endif  // HWY_ONCE
