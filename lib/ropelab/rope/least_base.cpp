#include "ropelab/rope/least_base.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "ropelab/rope/cosine_sum.hpp"

namespace ropelab {
namespace {

Real base_of(double ratio, int rope_dim) { return power(Real(ratio), Real(-rope_dim / 2)); }

// A ratio at which f(witness, .) is enclosed.
struct Known {
  double ratio;
  double upper;  // of f
};

Known known(int rope_dim, long long witness, double ratio) {
  return {ratio, CosineSum(rope_dim, ratio).at(witness).upper()};
}

// Between two ratios f lies below the straight line between its ends, but for an eighth of the
// squared width times the largest second derivative.
bool negative_between(int rope_dim, long long witness, const Known& low, const Known& high) {
  const double width = high.ratio - low.ratio;
  return std::max(low.upper, high.upper) +
             curvature_bound(rope_dim, witness, high.ratio) * width * width / 8 * (1 + 0x1p-40) <
         0;
}

// The same, halving as often as is needed. Where f is negative throughout, that ends: the bound
// shrinks with the square of the width.
bool negative_all_over(int rope_dim, long long witness, const Known& low, const Known& high) {
  if (low.upper >= 0 || high.upper >= 0) return false;
  if (negative_between(rope_dim, witness, low, high)) return true;
  const double middle = low.ratio + (high.ratio - low.ratio) / 2;
  if (middle <= low.ratio || middle >= high.ratio) return false;
  const Known between = known(rope_dim, witness, middle);
  return negative_all_over(rope_dim, witness, low, between) &&
         negative_all_over(rope_dim, witness, between, high);
}

std::string text_of(long long witness, double low, double high) {
  return fmt::format("the sum at distance {} is not negative at every ratio from {} to {}", witness,
                     low, high);
}

std::optional<std::string> flaw_in_order(const LeastBaseProof& proof) {
  double before = 1;
  for (const Refutation& refutation : proof.refuted) {
    if (!(refutation.ratio <= before && refutation.ratio > 0)) {
      return fmt::format("the ratio {} is not between 0 and the one before it, {}",
                         refutation.ratio, before);
    }
    if (refutation.witness < 1 || refutation.witness >= proof.context) {
      return fmt::format("the witness {} is not a distance from 1 to {}", refutation.witness,
                         proof.context - 1);
    }
    before = refutation.ratio;
  }
  if (proof.serving <= before && proof.serving > 0) return std::nullopt;
  return fmt::format("the serving ratio {} is not between 0 and the last refuted one, {}",
                     proof.serving, before);
}

// Does step(n) for n = 0 ... count - 1, in parallel, and finds the least n for which it is false.
template <class Step>
std::optional<std::size_t> first_failure(std::size_t count, const Interruption& interruption,
                                         Step step) {
  std::vector<char> holds(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
    interruption.check();
    holds[n] = step(n) ? 1 : 0;
  });
  const auto failure = std::find(holds.begin(), holds.end(), 0);
  if (failure == holds.end()) return std::nullopt;
  return static_cast<std::size_t>(failure - holds.begin());
}

// The least distance at which f is negative; certain for every one.
std::optional<long long> first_negative(const CosineSum& sum, long long context,
                                        const Interruption& interruption) {
  constexpr long long kBlock = 4096;
  const auto blocks = static_cast<std::size_t>((context + kBlock - 1) / kBlock);
  const auto negative_in = [&](std::size_t block) {
    const long long first = static_cast<long long>(block) * kBlock;
    long long d = first;
    while (d < std::min(first + kBlock, context) && sum.at(d).value > 0) ++d;
    return d;
  };
  const auto block = first_failure(blocks, interruption, [&](std::size_t n) {
    const long long end = std::min((static_cast<long long>(n) + 1) * kBlock, context);
    return negative_in(n) == end;
  });
  if (!block) return std::nullopt;
  return negative_in(*block);
}

// What is searched: the ratios from `frontier` up are refuted.
class Search {
 public:
  Search(int rope_dim, long long context, std::vector<Refutation> refuted,
         const Interruption& interruption)
      : rope_dim_(rope_dim),
        context_(context),
        least_ratio_(std::pow(largest_searched_base, -2.0 / rope_dim)),
        interruption_(interruption),
        refuted_(std::move(refuted)) {
    for (const Refutation& refutation : refuted_) {
      largest_witness_ = std::max(largest_witness_, refutation.witness);
    }
  }

  // Goes on from witness to witness, each time with the one that reaches furthest; where none
  // reaches any further, the last one is followed to its root as closely as doubles do.
  std::optional<LeastBaseProof> run() {
    while (frontier() > least_ratio_) {
      interruption_.check();
      if (advance(kCoarse) || advance(kFine)) continue;
      if (const auto serving = serving_ratio())
        return LeastBaseProof{rope_dim_, context_, refuted_, *serving};
    }
    return std::nullopt;
  }

 private:
  static constexpr double kCoarse = 0x1p-30, kFine = 0x1p-51;  // steps, relative to the ratio
  static constexpr std::size_t kCandidates = 16;

  double frontier() const { return refuted_.empty() ? 1 : refuted_.back().ratio; }

  // Refutes as much as one witness can, if that is more than a few steps.
  bool advance(double step) {
    const double from = frontier();
    const std::vector<long long> candidates =
        CosineSum(rope_dim_, from).negative_distances(1, context_, kCandidates);
    std::vector<double> reached(candidates.size());
    tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t n) {
      interruption_.check();
      reached[n] = negative_down_to(candidates[n], from, step);
    });
    const auto best = std::min_element(reached.begin(), reached.end());
    if (best == reached.end() || *best > from * (1 - 4 * step)) return false;
    refute(*best, candidates[static_cast<std::size_t>(best - reached.begin())]);
    return true;
  }

  void refute(double ratio, long long witness) {
    if (!refuted_.empty() && refuted_.back().witness == witness) {
      refuted_.back().ratio = ratio;
    } else {
      refuted_.push_back({ratio, witness});
    }
    largest_witness_ = std::max(largest_witness_, witness);
    interruption_.tell(static_cast<double>(largest_witness_) / static_cast<double>(context_));
  }

  // How far down f(witness, .) is negative all over, by steps that are doubled where they hold and
  // halved where they do not, down to `step`.
  double negative_down_to(long long witness, double from, double step) const {
    Known reached = known(rope_dim_, witness, from);
    double width = from / 2;
    while (width > step * reached.ratio && reached.ratio > least_ratio_) {
      const Known next = known(rope_dim_, witness, std::max(reached.ratio - width, least_ratio_));
      if (next.upper < 0 && negative_between(rope_dim_, witness, next, reached)) {
        reached = next;
        width *= 2;
      } else {
        width /= 2;
      }
    }
    return reached.ratio;
  }

  // The frontier is where its witness turns positive, and no other distance refutes it there: the
  // base just beyond serves, unless another witness begins within a few ulps. Then that one
  // refutes the frontier as well, or doubles cannot tell.
  std::optional<double> serving_ratio() {
    const double from = frontier();
    for (int ulps = refuted_.empty() ? 0 : 1; ulps <= 16; ulps = std::max(1, 2 * ulps)) {
      const CosineSum sum(rope_dim_, from * (1 - ulps * 0x1p-52));
      const auto negative = first_negative(sum, context_, interruption_);
      if (!negative) return sum.ratio();
      if (known(rope_dim_, *negative, from).upper >= 0) continue;
      const double reached = negative_down_to(*negative, from, kFine);
      if (reached == from) continue;
      refute(reached, *negative);
      return std::nullopt;
    }
    throw std::runtime_error(fmt::format("the bases about {} are too close to be told apart",
                                         to_double(base_of(from, rope_dim_))));
  }

  int rope_dim_;
  long long context_;
  double least_ratio_;
  const Interruption& interruption_;
  std::vector<Refutation> refuted_;
  long long largest_witness_ = 0;
};

}  // namespace

std::optional<std::string> flaw_of(const LeastBaseProof& proof, const Interruption& interruption) {
  if (auto flaw = flaw_in_order(proof)) return flaw;
  const auto& refuted = proof.refuted;
  const auto begin_of = [&](std::size_t n) { return n == 0 ? 1 : refuted[n - 1].ratio; };
  const auto failed = first_failure(refuted.size(), interruption, [&](std::size_t n) {
    const auto& [ratio, witness] = refuted[n];
    return negative_all_over(proof.rope_dim, witness, known(proof.rope_dim, witness, ratio),
                             known(proof.rope_dim, witness, begin_of(n)));
  });
  if (failed) return text_of(refuted[*failed].witness, refuted[*failed].ratio, begin_of(*failed));
  const auto negative =
      first_negative(CosineSum(proof.rope_dim, proof.serving), proof.context, interruption);
  if (!negative) return std::nullopt;
  return fmt::format("the sum at distance {} is negative at the serving ratio {}", *negative,
                     proof.serving);
}

BaseBracket bracket(const LeastBaseProof& proof) {
  const Real low =
      proof.refuted.empty() ? Real(1) : base_of(proof.refuted.back().ratio, proof.rope_dim);
  const Real high = base_of(proof.serving, proof.rope_dim);
  const Format& format = float64_format();
  const double below = to_double(low), above = to_double(high);
  return {Real(below) <= low ? below : next_below(format, below),
          Real(above) >= high ? above : next_above(format, above)};
}

std::optional<LeastBaseProof> find_least_base(int rope_dim, long long context,
                                              const LeastBaseProof* shorter,
                                              const Interruption& interruption) {
  if (context < 1 || context > longest_searched_context) {
    throw std::invalid_argument(fmt::format("the context is {}; it must be from 1 to {}", context,
                                            longest_searched_context));
  }
  std::vector<Refutation> refuted;
  if (shorter != nullptr) refuted = shorter->refuted;
  return Search(rope_dim, context, std::move(refuted), interruption).run();
}

}  // namespace ropelab
