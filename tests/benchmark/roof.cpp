// Highway compiles this file once for each instruction set and picks one at run time.
#include "benchmark/roof.hpp"

#include <cstddef>

// As lib/ropelab/errors/kernel.cpp does.
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmark/roof.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ropelab::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Makes the compiler forget what it knows of a register, so that it computes with it again.
template <class V>
HWY_INLINE void Forget(V& vector) {
#if HWY_TARGET == HWY_AVX3
  asm volatile("" : "+v"(vector.raw));
#else
  asm volatile("" : "+x"(vector.raw));
#endif
}

template <class D>
struct Sums {
  hn::Vec<D> least, greatest, sum, squares, kept;
  HWY_INLINE Sums() {
    const D d;
    least = greatest = sum = squares = kept = hn::Zero(d);
  }
  HWY_INLINE void ForgetAll() {
    for (auto* vector : {&least, &greatest, &sum, &squares, &kept}) Forget(*vector);
  }
};

template <class D>
HWY_INLINE hn::Vec<D> RoundInRegisters(hn::Vec<D> x, hn::Vec<D> bits, hn::Vec<D> magic) {
  const auto shift = hn::Mul(hn::Max(hn::And(x, bits), bits), magic);
  return hn::Sub(hn::Add(x, shift), shift);
}

template <Operations kOperations, class D>
HWY_INLINE void AddPair(Sums<D>& sums, hn::Vec<D> query, hn::Vec<D> key, hn::Vec<D> center) {
  const D d;
  auto first = hn::Mul(query, key);
  auto second = hn::Mul(center, key);
  if constexpr (kOperations == Operations::rounded_float32) {
    first = RoundInRegisters<D>(first, query, center);
    second = RoundInRegisters<D>(second, query, center);
  }
  auto score = hn::Add(first, second);
  if constexpr (kOperations == Operations::rounded_float32) {
    score = hn::Mul(RoundInRegisters<D>(score, query, center), center);
    const hn::RebindToSigned<D> whole;
    const auto is_kept = hn::VecFromMask(d, hn::Lt(score, sums.sum));
    sums.kept = hn::BitCast(d, hn::Sub(hn::BitCast(whole, sums.kept), hn::BitCast(whole, is_kept)));
  }
  sums.least = hn::Min(sums.least, score);
  sums.greatest = hn::Max(sums.greatest, score);
  const auto deviation = hn::Sub(score, center);
  sums.sum = hn::Add(sums.sum, deviation);
  if constexpr (kOperations == Operations::float64) {
    sums.squares = hn::Add(sums.squares, hn::Mul(deviation, deviation));
  } else {
    sums.squares = hn::MulAdd(deviation, deviation, sums.squares);
  }
}

// Two diagonals at a time, as in the kernels: one waits where the other computes.
template <Operations kOperations, class D>
std::uint64_t RunOperations(std::uint64_t pairs) {
  const D d;
  using Lane = hn::TFromD<D>;
  auto key = hn::Set(d, Lane{1});
  auto query = hn::Set(d, Lane{2}), center = hn::Set(d, Lane{3});
  Forget(query);
  Forget(center);
  Sums<D> near, far;
  std::uint64_t done = 0;
  for (; done < pairs; done += 2 * hn::MaxLanes(d)) {
    Forget(key);
    AddPair<kOperations>(near, query, key, center);
    Forget(key);
    AddPair<kOperations>(far, query, key, center);
  }
  near.ForgetAll();
  far.ForgetAll();
  return done;
}

std::uint64_t RunInRegisters(Operations operations, std::uint64_t pairs) {
  switch (operations) {
    case Operations::float32:
      return RunOperations<Operations::float32, hn::ScalableTag<float>>(pairs);
    case Operations::float64:
      return RunOperations<Operations::float64, hn::ScalableTag<double>>(pairs);
    case Operations::rounded_float32:
      return RunOperations<Operations::rounded_float32, hn::ScalableTag<float>>(pairs);
  }
  return 0;
}

}  // namespace ropelab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab {

HWY_EXPORT(RunInRegisters);

std::uint64_t run_in_registers(Operations operations, std::uint64_t pairs) {
  return HWY_DYNAMIC_DISPATCH(RunInRegisters)(operations, pairs);
}

}  // namespace ropelab
#endif  // HWY_ONCE
