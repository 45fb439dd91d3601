#include "ropelab/errors/sampled_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

using Random = boost::random::mt19937_64;

// The pairs of distances first ... last, numbered by distance and then by query.
struct Stratum {
  std::uint64_t context, first, last;

  std::uint64_t before(std::uint64_t distance) const {  // pairs at first ... distance-1
    const std::uint64_t n = distance - first;
    return n * (context - first) - n * (n - (n > 0)) / 2;
  }
  std::uint64_t size() const { return before(last + 1); }
  SampledPair at(std::uint64_t number) const {
    std::uint64_t low = first, high = last;
    while (low < high) {
      const std::uint64_t middle = low + (high - low + 1) / 2;
      if (before(middle) <= number) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const std::uint64_t i = low + (number - before(low));
    return {i, i - low, 1};
  }
};

std::vector<Stratum> make_strata(std::uint64_t context) {
  std::vector<Stratum> strata{{context, 0, 0}};
  for (std::uint64_t d = 1; d < context; d *= 2) {
    strata.push_back({context, d, std::min(2 * d, context) - 1});
  }
  return strata;
}

// How many to take of each stratum: equal shares, but no more than it has.
std::vector<std::uint64_t> share_out(const std::vector<std::uint64_t>& sizes, std::uint64_t count) {
  std::vector<std::uint64_t> shares(sizes.size(), 0);
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; });
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::uint64_t share = std::min(sizes[order[n]], count / (order.size() - n));
    shares[order[n]] = share;
    count -= share;
  }
  return shares;
}

// Floyd's algorithm: `count` distinct numbers below `size`, all sets alike likely.
std::vector<std::uint64_t> distinct_numbers(std::uint64_t size, std::uint64_t count,
                                            Random& random) {
  std::unordered_set<std::uint64_t> chosen;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t top = size - count; top < size; ++top) {
    std::uint64_t number = boost::random::uniform_int_distribution<std::uint64_t>(0, top)(random);
    if (!chosen.insert(number).second) chosen.insert(number = top);
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The pairs that every sample holds.
std::vector<SampledPair> certain_pairs(std::uint64_t context) {
  std::vector<SampledPair> pairs{{0, 0, 1}};
  if (context > 1) {
    pairs.push_back({context - 1, context - 1, 1});
    pairs.push_back({context - 1, 0, 1});
  }
  return pairs;
}

bool is_certain(const SampledPair& pair, std::uint64_t context) {
  return (pair.i == 0 || pair.i == context - 1) && (pair.j == 0 || pair.j == context - 1);
}

}  // namespace

std::vector<SampledPair> sample_pairs(std::uint64_t context, std::uint64_t count,
                                      std::uint64_t seed) {
  Random random(seed);
  std::vector<SampledPair> sample = certain_pairs(context);
  const auto strata = make_strata(context);
  std::vector<std::uint64_t> sizes;
  for (const Stratum& stratum : strata) sizes.push_back(stratum.size());
  // The certain pairs are numbers of their strata too; they are drawn past by taking as many
  // more, and dropped.
  std::vector<std::uint64_t> certain(strata.size(), 0);
  for (const SampledPair& pair : sample) {
    const std::uint64_t d = pair.i - pair.j;
    ++certain[d == 0 ? 0 : strata.size() - 1];
  }
  std::vector<std::uint64_t> open(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) open[s] = sizes[s] - certain[s];
  const auto shares = share_out(open, count > sample.size() ? count - sample.size() : 0);
  for (std::size_t s = 0; s < strata.size(); ++s) {
    if (shares[s] == 0) continue;
    std::vector<SampledPair> drawn;
    for (const std::uint64_t number :
         distinct_numbers(sizes[s], std::min(sizes[s], shares[s] + certain[s]), random)) {
      const SampledPair pair = strata[s].at(number);
      if (!is_certain(pair, context)) drawn.push_back(pair);
    }
    // Of those drawn too many, the last of a random order go.
    while (drawn.size() > shares[s]) {
      const auto victim =
          boost::random::uniform_int_distribution<std::size_t>(0, drawn.size() - 1)(random);
      drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    const double weight = static_cast<double>(open[s]) / static_cast<double>(drawn.size());
    for (SampledPair& pair : drawn) {
      pair.weight = weight;
      sample.push_back(pair);
    }
  }
  return sample;
}

namespace {

struct Score {
  SampledPair pair;
  DoubleDouble score;
  bool ordered;  // whether F(i,j) < F(i,j+1); true where there is no j+1
};

std::vector<Score> compute_scores(const Pipeline& pipeline, const ExactInput& scale,
                                  const RotatedTable& table, const std::vector<SampledPair>& sample,
                                  const Interruption& interruption) {
  std::vector<Score> scores(sample.size());
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, sample.size(), 1024), [&](const auto& range) {
        interruption.check();
        for (std::size_t n = range.begin(); n != range.end(); ++n) {
          const auto [i, j, weight] = sample[n];
          const DoubleDouble f = score_at(pipeline, scale, table, i, j);
          const bool ordered = j == i || f < score_at(pipeline, scale, table, i, j + 1);
          scores[n] = {sample[n], f, ordered};
        }
      });
  return scores;
}

// The largest |F - target| among the scores for which `counts` holds; exact.
template <class Quick, class Exact, class Counts>
std::optional<LargestError> largest(const std::vector<Score>& scores, double tolerance,
                                    const Quick& quick_target, const Exact& exact_target,
                                    const Counts& counts, long long first_position) {
  double greatest = -1;
  const auto quick = [&](const Score& s) {
    return absolute(s.score - quick_target(s.pair.i - s.pair.j)).high;
  };
  for (const Score& s : scores) {
    if (counts(s)) greatest = std::max(greatest, quick(s));
  }
  if (greatest < 0) return std::nullopt;
  Real best = -1;
  std::pair<std::uint64_t, std::uint64_t> where;
  for (const Score& s : scores) {
    if (!counts(s) || quick(s) < greatest * (1 - 0x1p-50) - tolerance) continue;
    const Real error = abs(to_real(s.score) - exact_target(s.pair.i - s.pair.j));
    const std::pair here{s.pair.i, s.pair.j};
    if (error > best || (error == best && here < where)) {
      best = error;
      where = here;
    }
  }
  return LargestError{to_double(best), first_position + static_cast<long long>(where.first),
                      first_position + static_cast<long long>(where.second)};
}

bool has_finite_score(const Score& score) { return std::isfinite(score.score.high); }

template <class Target>
std::optional<double> weighted_rms(const std::vector<Score>& scores, const Target& target) {
  DoubleDouble sum, weights;
  for (const Score& s : scores) {
    if (!has_finite_score(s)) continue;
    const double error = (s.score - target(s.pair.i - s.pair.j)).high;
    sum = sum + exact_product(error, error) * s.pair.weight;
    weights = weights + s.pair.weight;
  }
  if (weights.high == 0) return std::nullopt;
  return std::sqrt((sum / weights).high);
}

double estimated_order_lost(const std::vector<Score>& scores) {
  DoubleDouble lost, all;
  for (const Score& s : scores) {
    if (s.pair.i == s.pair.j) continue;
    all = all + s.pair.weight;
    if (!s.ordered) lost = lost + s.pair.weight;
  }
  return all.high == 0 ? 0 : (lost / all).high;
}

}  // namespace

Measurement measure_sampled_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                                  long long first_position, std::uint64_t count, std::uint64_t seed,
                                  const Interruption& interruption) {
  const Construction& construction = reference.construction();
  const ExactInput scale = score_scale(construction);
  const RotatedTable table =
      rotated_table(pipeline, construction, first_position, reference.context());
  const auto scores = compute_scores(pipeline, scale, table,
                                     sample_pairs(reference.context(), count, seed), interruption);
  const auto reach = static_cast<std::uint64_t>(visible_reach(construction.slope));
  const auto quick_simulated = [&](std::uint64_t d) { return reference.simulated()[d]; };
  const auto quick_bias = [&](std::uint64_t d) { return reference.bias(d); };
  const auto exact_simulated = [&](std::uint64_t d) { return reference.exact_simulated(d); };
  const auto exact_bias = [&](std::uint64_t d) { return reference.exact_bias(d); };
  const auto visible = [&](const Score& s) {
    return has_finite_score(s) && s.pair.i - s.pair.j <= reach;
  };
  const double tolerance = 4 * reference.simulated_error();
  const auto magnitude = [](const std::optional<LargestError>& error) {
    return error ? std::optional<double>(error->error) : std::nullopt;
  };
  PairErrors errors;
  errors.pairs = scores.size();
  errors.nonfinite_pairs = static_cast<std::uint64_t>(std::count_if(
      scores.begin(), scores.end(), [](const Score& s) { return !has_finite_score(s); }));
  errors.rounding_maximum = largest(scores, tolerance, quick_simulated, exact_simulated,
                                    has_finite_score, first_position);
  errors.rounding_rms = weighted_rms(scores, quick_simulated);
  errors.total_maximum = magnitude(
      largest(scores, tolerance, quick_bias, exact_bias, has_finite_score, first_position));
  errors.total_rms = weighted_rms(scores, quick_bias);
  errors.visible_maximum =
      magnitude(largest(scores, tolerance, quick_bias, exact_bias, visible, first_position));
  errors.order_lost = estimated_order_lost(scores);
  return {errors, last_query_total_variation(pipeline, reference, table)};
}

}  // namespace ropelab
