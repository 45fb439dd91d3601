// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/errors/score_rows_kernel.hpp"

// The variants of AVX-512 above the first bring nothing to these loops.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/errors/score_rows_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ropelab/errors/scorer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ropelab::rows_kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernel::Arithmetic;
using kernel::HWY_NAMESPACE::Scorer;

template <bool kAdd, class D>
HWY_INLINE void Put(D d, hn::Vec<D> scores, hn::TFromD<D>* to) {
  if constexpr (kAdd) scores = hn::Add(hn::LoadU(d, to), scores);
  hn::StoreU(scores, d, to);
}

// The first `count` lanes alone: what stands behind them may belong to another thread.
template <bool kAdd, class D>
HWY_INLINE void PutSome(D d, hn::Vec<D> scores, std::size_t count, hn::TFromD<D>* to) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(scores, d, lanes);
  for (std::size_t n = 0; n < count; ++n) to[n] = kAdd ? to[n] + lanes[n] : lanes[n];
}

// The scores of one query with vectors of keys. A pair of components stays in registers.
template <bool kPair, class Score, class D>
class Row {
  using Lane = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());

 public:
  HWY_INLINE Row(const Score& score, const Operands<Lane>& operands, const Lane* query)
      : score_(score),
        query_(query),
        keys_(operands.keys),
        key_stride_(operands.key_stride),
        terms_(operands.terms) {
    first_ = hn::Set(D(), query[0]);
    second_ = hn::Set(D(), kPair ? query[1] : Lane{0});
  }

  HWY_INLINE V One(std::size_t key) const {
    V sum = score_.First(first_, Key(0, key));
    if constexpr (kPair) {
      sum = score_.Then(sum, second_, Key(1, key));
    } else {
      for (std::size_t term = 1; term < terms_; ++term) {
        sum = score_.Then(sum, hn::Set(D(), query_[term]), Key(term, key));
      }
    }
    return score_.Scale(sum);
  }

  // Four sums at a time hide how long an addition takes.
  template <bool kAdd>
  HWY_INLINE void PutFour(std::size_t key, Lane* to) const {
    const D d;
    if constexpr (kPair) {
      for (std::size_t n = 0; n < 4; ++n) Put<kAdd>(d, One(key + n * kLanes), to + n * kLanes);
    } else {
      const std::size_t b = key + kLanes, c = b + kLanes, e = c + kLanes;
      V sum_a = score_.First(first_, Key(0, key)), sum_b = score_.First(first_, Key(0, b));
      V sum_c = score_.First(first_, Key(0, c)), sum_e = score_.First(first_, Key(0, e));
      for (std::size_t term = 1; term < terms_; ++term) {
        const V query = hn::Set(d, query_[term]);
        sum_a = score_.Then(sum_a, query, Key(term, key));
        sum_b = score_.Then(sum_b, query, Key(term, b));
        sum_c = score_.Then(sum_c, query, Key(term, c));
        sum_e = score_.Then(sum_e, query, Key(term, e));
      }
      Put<kAdd>(d, score_.Scale(sum_a), to);
      Put<kAdd>(d, score_.Scale(sum_b), to + kLanes);
      Put<kAdd>(d, score_.Scale(sum_c), to + 2 * kLanes);
      Put<kAdd>(d, score_.Scale(sum_e), to + 3 * kLanes);
    }
  }

 private:
  HWY_INLINE V Key(std::size_t term, std::size_t key) const {
    return hn::LoadU(D(), keys_ + term * key_stride_ + key);
  }

  const Score score_;
  const Lane* query_;
  const Lane* keys_;
  std::size_t key_stride_, terms_;
  V first_, second_;
};

template <Arithmetic kArithmetic, bool kPair, bool kAdd, class Lane>
HWY_NOINLINE void FillBlock(const Operands<Lane>& operands, const Block<Lane>& block) {
  const hn::ScalableTag<Lane> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<Lane>());
  static_assert(kLanes <= kernel::padding);
  using Score = Scorer<kArithmetic, hn::ScalableTag<Lane>, true>;
  const Score score(operands.scoring);
  const std::size_t keys = block.keys;
  for (std::size_t i = 0; i < block.queries; ++i) {
    const Row<kPair, Score, hn::ScalableTag<Lane>> row(score, operands,
                                                       operands.queries + i * operands.terms);
    Lane* to = block.to + i * block.stride;
    std::size_t key = 0;
    for (; key + 4 * kLanes <= keys; key += 4 * kLanes) row.template PutFour<kAdd>(key, to + key);
    for (; key + kLanes <= keys; key += kLanes) Put<kAdd>(d, row.One(key), to + key);
    if (key < keys) PutSome<kAdd>(d, row.One(key), keys - key, to + key);
  }
}

template <Arithmetic kArithmetic, class Lane>
HWY_INLINE void RunWith(const Operands<Lane>& operands, const Block<Lane>& block) {
  if (operands.terms == 2) {
    return block.add ? FillBlock<kArithmetic, true, true>(operands, block)
                     : FillBlock<kArithmetic, true, false>(operands, block);
  }
  return block.add ? FillBlock<kArithmetic, false, true>(operands, block)
                   : FillBlock<kArithmetic, false, false>(operands, block);
}

template <class Lane>
HWY_INLINE void ChooseArithmetic(const Operands<Lane>& operands, const Block<Lane>& block) {
  switch (operands.scoring.arithmetic) {
    case Arithmetic::exact_products:
      return RunWith<Arithmetic::exact_products>(operands, block);
    case Arithmetic::unscaled:
      return RunWith<Arithmetic::unscaled>(operands, block);
    case Arithmetic::scaled:
      return RunWith<Arithmetic::scaled>(operands, block);
    case Arithmetic::rounded:
      return RunWith<Arithmetic::rounded>(operands, block);
    case Arithmetic::rounded_scaled:
      return RunWith<Arithmetic::rounded_scaled>(operands, block);
    case Arithmetic::fused:
      return RunWith<Arithmetic::fused>(operands, block);
    case Arithmetic::any:
      return RunWith<Arithmetic::any>(operands, block);
  }
}

void RunFloats(const Operands<float>& operands, const Block<float>& block) {
  ChooseArithmetic(operands, block);
}

void RunDoubles(const Operands<double>& operands, const Block<double>& block) {
  ChooseArithmetic(operands, block);
}

}  // namespace ropelab::rows_kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::rows_kernel {

HWY_EXPORT(RunFloats);
HWY_EXPORT(RunDoubles);

void run_block(const Operands<float>& operands, const Block<float>& block) {
  HWY_DYNAMIC_DISPATCH(RunFloats)(operands, block);
}

void run_block(const Operands<double>& operands, const Block<double>& block) {
  HWY_DYNAMIC_DISPATCH(RunDoubles)(operands, block);
}

}  // namespace ropelab::rows_kernel
#endif  // HWY_ONCE
