// Highway compiles this file once for each instruction set and picks one at run time.
#include "ropelab/errors/content_kernel.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ropelab/errors/content_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ropelab/errors/running_sums-inl.hpp"
#include "ropelab/errors/vector_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ropelab::content_kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using kernel::HWY_NAMESPACE::CheckedSums;
using kernel::HWY_NAMESPACE::FusedMulAdd;
using kernel::HWY_NAMESPACE::ProductError;
using kernel::HWY_NAMESPACE::Rounder;
using kernel::HWY_NAMESPACE::SumError;

using W = hn::ScalableTag<double>;
using WV = hn::Vec<W>;
constexpr std::size_t kDoubles = hn::MaxLanes(W());

// Where the components of a tile lie that its lanes are made of.
template <class Lane>
HWY_INLINE Lane* Queries(Room& room) {
  if constexpr (sizeof(Lane) == 4) {
    return room.single_queries.get();
  } else {
    return room.double_queries.get();
  }
}
template <class Lane>
HWY_INLINE Lane* Keys(Room& room) {
  if constexpr (sizeof(Lane) == 4) {
    return room.single_keys.get();
  } else {
    return room.double_keys.get();
  }
}

HWY_INLINE WV LoadDoubles(const float* from) {
  return hn::PromoteTo(W(), hn::LoadU(hn::Rebind<float, W>(), from));
}
HWY_INLINE WV LoadDoubles(const double* from) { return hn::LoadU(W(), from); }

HWY_INLINE void StoreDoubles(WV x, float* to) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR  // where DemoteTo loses infinities
  HWY_ALIGN double numbers[kDoubles];
  hn::Store(x, W(), numbers);
  for (std::size_t n = 0; n < kDoubles; ++n) to[n] = static_cast<float>(numbers[n]);
#else
  const hn::Rebind<float, W> f;
  hn::StoreU(hn::DemoteTo(f, x), f, to);
#endif
}
HWY_INLINE void StoreDoubles(WV x, double* to) { hn::StoreU(x, W(), to); }

template <class Lane>
HWY_NOINLINE void CopyPair(const double* from, std::size_t count, Lane* operands) {
  for (std::size_t n = 0; n < count; n += kDoubles) {
    StoreDoubles(LoadDoubles(from + n), operands + n);
  }
}

template <class Lane, class Stored>
HWY_NOINLINE void CopyContent(const Arithmetic& arithmetic, const Stored* from, std::size_t count,
                              Lane* operands, double* content) {
  const Rounder<W> rounder(arithmetic.operand);
  const bool is_rounded = arithmetic.operand.has_value();
  for (std::size_t n = 0; n < count; n += kDoubles) {
    const WV x = LoadDoubles(from + n);
    hn::StoreU(x, W(), content + n);
    StoreDoubles(is_rounded ? rounder.Any(x) : x, operands + n);
  }
}

template <class Lane, class Stored>
HWY_INLINE void CopyTerms(const Arithmetic& arithmetic, const std::vector<Term<Stored>>& terms,
                          Room& room) {
  for (std::size_t n = 0; n < terms.size(); ++n) {
    const Term<Stored>& term = terms[n];
    Lane* query = Queries<Lane>(room) + n * tile_queries;
    Lane* key = Keys<Lane>(room) + n * tile_keys;
    double* content_query = room.content_queries.get() + n * tile_queries;
    double* content_key = room.content_keys.get() + n * tile_keys;
    if (term.pair_query != nullptr) {
      CopyPair(term.pair_query, tile_queries, query);
      CopyPair(term.pair_key, tile_keys, key);
      if (arithmetic.content == ContentSums::none) continue;
      std::fill_n(content_query, tile_queries, 0.0);
      std::fill_n(content_key, tile_keys, 0.0);
    } else {
      CopyContent(arithmetic, term.query, tile_queries, query, content_query);
      CopyContent(arithmetic, term.key, tile_keys, key, content_key);
    }
  }
}

// A sum of products of content: of one double where that is exact, fused or not, or compensated
// (Ogita, Rump, Oishi: Accurate sum and dot product, algorithm 5.3).
template <ContentSums kContent>
struct ContentSum {
  WV high, low;

  HWY_INLINE ContentSum() { high = low = hn::Zero(W()); }

  HWY_INLINE void Add(WV query, WV key) {
    if constexpr (kContent == ContentSums::wide) {
      const WV product = hn::Mul(query, key);
      const WV sum = hn::Add(high, product);
      const WV error = SumError(high, product, sum);
      low = hn::Add(low, hn::Add(error, ProductError(W(), query, key, product)));
      high = sum;
    } else {
      high = hn::MulAdd(query, key, high);
    }
  }

  HWY_INLINE void Store(Room& room, std::size_t at) const {
    hn::StoreU(high, W(), room.content_high.get() + at);
    hn::StoreU(low, W(), room.content_low.get() + at);
  }
};

template <>
struct ContentSum<ContentSums::none> {
  HWY_INLINE void Store(Room&, std::size_t) const {}
};

// The last step of a score.
struct Scaling {
  Rounder<W> to;
  WV scale;
  bool round, convert;

  HWY_INLINE explicit Scaling(const Arithmetic& arithmetic)
      : to(arithmetic.scaling),
        scale(hn::Set(W(), arithmetic.scale)),
        round(arithmetic.scaling.has_value()),
        convert(arithmetic.convert) {}

  HWY_INLINE WV operator()(WV sum) const {
    if (!round) return hn::Mul(sum, scale);
    return to.Any(hn::Mul(convert ? to.Any(sum) : sum, scale));
  }
};

// A vector of queries on one diagonal: what the accumulation makes of the terms so far, and the
// exact sum of content beside it, in one vector of doubles or two.
template <class Lane, Adding kAdding, ContentSums kContent>
struct Sum {
  using D = hn::ScalableTag<Lane>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr bool kHalves = kLanes > kDoubles;
  V sum;
  ContentSum<kContent> lower, upper;

  HWY_INLINE Sum() { sum = hn::Zero(D()); }

  HWY_INLINE static V Round(const Rounder<D>& to, V x) {
    if constexpr (kAdding == Adding::in_range) {
      return to.InRange(x);
    } else if constexpr (kAdding == Adding::any) {
      return to.Any(x);
    } else {
      return x;
    }
  }

  HWY_INLINE void Start(const Rounder<D>& to, V query, V key) {
    sum = Round(to, hn::Mul(query, key));
  }

  HWY_INLINE void Add(const Rounder<D>& to, V query, V key) {
    if constexpr (kAdding == Adding::fused) {
      sum = FusedMulAdd(D(), query, key, sum);
    } else {
      sum = Round(to, hn::Add(sum, Round(to, hn::Mul(query, key))));
    }
  }

  HWY_INLINE void AddContent(WV lower_query, WV upper_query, const double* key) {
    lower.Add(lower_query, hn::LoadU(W(), key));
    if constexpr (kHalves) upper.Add(upper_query, hn::LoadU(W(), key + kDoubles));
  }

  HWY_INLINE void Store(const Scaling& scaling, std::size_t at, Room& room) const {
    lower.Store(room, at);
    if constexpr (!kHalves) {
      StoreScore(scaling, sum, at, room);
    } else {
      upper.Store(room, at + kDoubles);
#if HWY_TARGET != HWY_SCALAR
      const hn::Half<D> half;
      StoreScore(scaling, hn::LowerHalf(half, sum), at, room);
      StoreScore(scaling, hn::UpperHalf(half, sum), at + kDoubles, room);
#endif
    }
  }

  template <class Lanes>
  HWY_INLINE static void StoreScore(const Scaling& scaling, Lanes lanes_of_sum, std::size_t at,
                                    Room& room) {
    double* to = room.scores.get() + at;
    if constexpr (sizeof(Lane) == 4) {
      hn::StoreU(scaling(hn::PromoteTo(W(), lanes_of_sum)), W(), to);
    } else {
      hn::StoreU(scaling(lanes_of_sum), W(), to);
    }
  }
};

// The components of a tile.
template <class Lane>
struct Components {
  const Lane *query, *key;
  const double *content_query, *content_key;
  std::size_t terms;
};

// Scores of the queries x ... of a tile on the diagonal of one row, which is number t.
template <class Lane, Adding kAdding, ContentSums kContent>
HWY_NOINLINE void FillOne(const Rounder<hn::ScalableTag<Lane>>& to, const Scaling& scaling,
                          const Components<Lane>& components, std::size_t x, std::size_t t,
                          Room& room) {
  const hn::ScalableTag<Lane> d;
  Sum<Lane, kAdding, kContent> sum;
  const std::size_t slot = x + tile_diagonals - t;
  for (std::size_t n = 0; n < components.terms; ++n) {
    const auto query = hn::LoadU(d, components.query + n * tile_queries + x);
    const auto key = hn::LoadU(d, components.key + n * tile_keys + slot);
    if (n == 0) {
      sum.Start(to, query, key);
    } else {
      sum.Add(to, query, key);
    }
    if constexpr (kContent != ContentSums::none) {
      const double* content = components.content_query + n * tile_queries + x;
      const WV lower = hn::LoadU(W(), content);
      const WV upper = sum.kHalves ? hn::LoadU(W(), content + kDoubles) : lower;
      sum.AddContent(lower, upper, components.content_key + n * tile_keys + slot);
    }
  }
  sum.Store(scaling, t * tile_queries + x, room);
}

// The same for four rows from t on.
template <class Lane, Adding kAdding, ContentSums kContent>
HWY_NOINLINE void FillFour(const Rounder<hn::ScalableTag<Lane>>& to, const Scaling& scaling,
                           const Components<Lane>& components, std::size_t x, std::size_t t,
                           Room& room) {
  const hn::ScalableTag<Lane> d;
  Sum<Lane, kAdding, kContent> a, b, c, e;
  const Lane* queries_at = components.query + x;
  const Lane* keys_at = components.key + (x + tile_diagonals - t);
  const double* content_queries = components.content_query + x;
  const double* content_keys = components.content_key + (x + tile_diagonals - t);
  const auto first = hn::LoadU(d, queries_at);
  a.Start(to, first, hn::LoadU(d, keys_at));
  b.Start(to, first, hn::LoadU(d, keys_at - 1));
  c.Start(to, first, hn::LoadU(d, keys_at - 2));
  e.Start(to, first, hn::LoadU(d, keys_at - 3));
  for (std::size_t n = 0;;) {
    if constexpr (kContent != ContentSums::none) {
      const WV lower = hn::LoadU(W(), content_queries);
      const WV upper = a.kHalves ? hn::LoadU(W(), content_queries + kDoubles) : lower;
      a.AddContent(lower, upper, content_keys);
      b.AddContent(lower, upper, content_keys - 1);
      c.AddContent(lower, upper, content_keys - 2);
      e.AddContent(lower, upper, content_keys - 3);
    }
    if (++n == components.terms) break;
    queries_at += tile_queries;
    keys_at += tile_keys;
    content_queries += tile_queries;
    content_keys += tile_keys;
    const auto query = hn::LoadU(d, queries_at);
    a.Add(to, query, hn::LoadU(d, keys_at));
    b.Add(to, query, hn::LoadU(d, keys_at - 1));
    c.Add(to, query, hn::LoadU(d, keys_at - 2));
    e.Add(to, query, hn::LoadU(d, keys_at - 3));
  }
  a.Store(scaling, t * tile_queries + x, room);
  b.Store(scaling, (t + 1) * tile_queries + x, room);
  c.Store(scaling, (t + 2) * tile_queries + x, room);
  e.Store(scaling, (t + 3) * tile_queries + x, room);
}

// The deviations of one row of a tile.
template <ContentSums kContent>
class Deviations {
  using R = CheckedSums::D;
  using V = hn::Vec<R>;
  static constexpr std::size_t kLanes = CheckedSums::kLanes;

 public:
  HWY_INLINE explicit Deviations(DoubleDouble scale) {
    const R d;
    scale_high_ = hn::Set(d, scale.high);
    scale_low_ = hn::Set(d, scale.low);
  }

  // Row t, of which the queries x with low <= x < high count, its neighbours compared if asked.
  HWY_NOINLINE kernel::Share Run(const Room& room, std::size_t t, DoubleDouble center,
                                 std::size_t low, std::size_t high, bool compare) {
    const R d;
    center_high_ = hn::Set(d, center.high);
    center_low_ = hn::Set(d, center.low);
    low_ = hn::Set(d, static_cast<double>(low));
    high_ = hn::Set(d, static_cast<double>(high));
    CheckedSums sums;
    for (std::size_t x = 0; x < tile_queries; x += lanes) {
      for (std::size_t part = 0; part < CheckedSums::kParts; ++part) {
        AddPart(sums, part, room, t * tile_queries, x + part * kLanes, compare);
      }
    }
    return sums.Total();
  }

 private:
  // F - C - center.
  HWY_INLINE V DeviationAt(const Room& room, std::size_t at, V score) const {
    if constexpr (kContent == ContentSums::none) {
      return hn::Sub(hn::Sub(score, center_high_), center_low_);
    }
    const R d;
    const V high = hn::LoadU(d, room.content_high.get() + at);
    const V low = hn::LoadU(d, room.content_low.get() + at);
    const V content = hn::Mul(high, scale_high_);
    const V content_low = hn::Add(ProductError(d, high, scale_high_, content),
                                  hn::Add(hn::Mul(high, scale_low_), hn::Mul(low, scale_high_)));
    const V minus_content = hn::Neg(content);
    const V difference = hn::Add(score, minus_content);
    const V error = SumError(score, minus_content, difference);
    return hn::Add(hn::Sub(difference, center_high_),
                   hn::Sub(hn::Sub(error, content_low), center_low_));
  }

  HWY_INLINE void AddPart(CheckedSums& sums, std::size_t part, const Room& room, std::size_t row,
                          std::size_t x, bool compare) const {
    const R d;
    const std::size_t at = row + x;
    const V number = hn::Iota(d, static_cast<double>(x));
    const auto inside = hn::And(hn::Ge(number, low_), hn::Lt(number, high_));
    const V score = hn::LoadU(d, room.scores.get() + at);
    if (compare) {
      sums.Compare(score, hn::LoadU(d, room.scores.get() + at - tile_queries), inside);
    }
    const V deviation = DeviationAt(room, at, score);
    sums.Add(part, score, deviation, deviation, inside);
  }

  V scale_high_, scale_low_, center_high_, center_low_, low_, high_;
};

template <ContentSums kContent>
void Reduce(const Arithmetic& arithmetic, const Place& place, const DoubleDouble* centers,
            const Room& room, kernel::Share* shares) {
  Deviations<kContent> deviations(arithmetic.exact_scale);
  const std::size_t last = std::min(place.begin + tile_queries, place.size);
  for (std::size_t n = 0; n < tile_diagonals; ++n) {
    const std::size_t distance = place.first + n;
    if (distance >= last) break;
    const std::size_t low = distance > place.begin ? distance - place.begin : 0;
    shares[n] = deviations.Run(room, n + 1, centers[n], low, last - place.begin, distance > 0);
  }
}

template <class Lane, Adding kAdding, ContentSums kContent>
void Fill(const Arithmetic& arithmetic, std::size_t terms, Room& room) {
  std::optional<kernel::Rounding<Lane>> accumulation;
  if constexpr (sizeof(Lane) == 4) accumulation = arithmetic.accumulation;
  const Rounder<hn::ScalableTag<Lane>> to(accumulation);
  const Scaling scaling(arithmetic);
  const Components<Lane> components{Queries<Lane>(room), Keys<Lane>(room),
                                    room.content_queries.get(), room.content_keys.get(), terms};
  for (std::size_t x = 0; x < tile_queries; x += hn::MaxLanes(hn::ScalableTag<Lane>())) {
    FillOne<Lane, kAdding, kContent>(to, scaling, components, x, 0, room);
    for (std::size_t t = 1; t <= tile_diagonals; t += 4) {
      FillFour<Lane, kAdding, kContent>(to, scaling, components, x, t, room);
    }
  }
}

template <ContentSums kContent>
void FillSingle(const Arithmetic& arithmetic, std::size_t terms, Room& room) {
  switch (arithmetic.adding) {
    case Adding::as_lanes:
      return Fill<float, Adding::as_lanes, kContent>(arithmetic, terms, room);
    case Adding::in_range:
      return Fill<float, Adding::in_range, kContent>(arithmetic, terms, room);
    case Adding::any:
      return Fill<float, Adding::any, kContent>(arithmetic, terms, room);
    case Adding::fused:
      return Fill<float, Adding::fused, kContent>(arithmetic, terms, room);
  }
}

template <ContentSums kContent>
void FillAny(const Arithmetic& arithmetic, std::size_t terms, Room& room) {
  if (arithmetic.single) {
    FillSingle<kContent>(arithmetic, terms, room);
  } else {
    Fill<double, Adding::as_lanes, kContent>(arithmetic, terms, room);
  }
}

template <class Stored>
void RunTile(const Arithmetic& arithmetic, const std::vector<Term<Stored>>& terms,
             const Place& place, const DoubleDouble* centers, Room& room, kernel::Share* shares) {
  if (arithmetic.single) {
    CopyTerms<float>(arithmetic, terms, room);
  } else {
    CopyTerms<double>(arithmetic, terms, room);
  }
  switch (arithmetic.content) {
    case ContentSums::none:
      FillAny<ContentSums::none>(arithmetic, terms.size(), room);
      return Reduce<ContentSums::none>(arithmetic, place, centers, room, shares);
    case ContentSums::narrow:
      FillAny<ContentSums::narrow>(arithmetic, terms.size(), room);
      return Reduce<ContentSums::narrow>(arithmetic, place, centers, room, shares);
    case ContentSums::wide:
      FillAny<ContentSums::wide>(arithmetic, terms.size(), room);
      return Reduce<ContentSums::wide>(arithmetic, place, centers, room, shares);
  }
}

void RunOfFloats(const Arithmetic& arithmetic, const std::vector<Term<float>>& terms,
                 const Place& place, const DoubleDouble* centers, Room& room,
                 kernel::Share* shares) {
  RunTile(arithmetic, terms, place, centers, room, shares);
}

void RunOfDoubles(const Arithmetic& arithmetic, const std::vector<Term<double>>& terms,
                  const Place& place, const DoubleDouble* centers, Room& room,
                  kernel::Share* shares) {
  RunTile(arithmetic, terms, place, centers, room, shares);
}

}  // namespace ropelab::content_kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropelab::content_kernel {

HWY_EXPORT(RunOfFloats);
HWY_EXPORT(RunOfDoubles);

void run_tile(const Arithmetic& arithmetic, const std::vector<Term<float>>& terms,
              const Place& place, const DoubleDouble* centers, Room& room, kernel::Share* shares) {
  HWY_DYNAMIC_DISPATCH(RunOfFloats)(arithmetic, terms, place, centers, room, shares);
}

void run_tile(const Arithmetic& arithmetic, const std::vector<Term<double>>& terms,
              const Place& place, const DoubleDouble* centers, Room& room, kernel::Share* shares) {
  HWY_DYNAMIC_DISPATCH(RunOfDoubles)(arithmetic, terms, place, centers, room, shares);
}

Room::Room(std::size_t terms)
    : single_queries(hwy::AllocateAligned<float>(terms * tile_queries)),
      single_keys(hwy::AllocateAligned<float>(terms * tile_keys)),
      double_queries(hwy::AllocateAligned<double>(terms * tile_queries)),
      double_keys(hwy::AllocateAligned<double>(terms * tile_keys)),
      content_queries(hwy::AllocateAligned<double>(terms * tile_queries)),
      content_keys(hwy::AllocateAligned<double>(terms * tile_keys)),
      scores(hwy::AllocateAligned<double>((tile_diagonals + 1) * tile_queries)),
      content_high(hwy::AllocateAligned<double>((tile_diagonals + 1) * tile_queries)),
      content_low(hwy::AllocateAligned<double>((tile_diagonals + 1) * tile_queries)) {}

}  // namespace ropelab::content_kernel
#endif  // HWY_ONCE
