#include "ropelab/errors/sampled_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/error_measures.hpp"
#include "ropelab/errors/exact_errors.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/simulation/budget.hpp"

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
  std::vector<Stratum> strata;
  for (const auto& [first, last] : doubling_distances(context)) {
    strata.push_back({context, first, last});
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
  PartsDone pairs_done(interruption, sample.size());
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, sample.size(), 1024), [&](const auto& range) {
        interruption.check();
        for (std::size_t n = range.begin(); n != range.end(); ++n) {
          const auto [i, j, weight] = sample[n];
          const DoubleDouble f = score_at(pipeline, scale, table, i, j);
          const bool ordered = j == i || f < score_at(pipeline, scale, table, i, j + 1);
          scores[n] = {sample[n], f, ordered};
        }
        pairs_done.add(range.size());
      });
  return scores;
}

std::vector<Score> finite_scores(const std::vector<Score>& scores) {
  std::vector<Score> finite;
  for (const Score& s : scores) {
    if (std::isfinite(s.score.high)) finite.push_back(s);
  }
  return finite;
}

std::size_t distance_of(const Score& score) { return score.pair.i - score.pair.j; }

std::vector<Score> scores_at(DistanceRange distances, const std::vector<Score>& scores) {
  std::vector<Score> selected;
  for (const Score& s : scores) {
    if (distances.first <= distance_of(s) && distance_of(s) <= distances.last) {
      selected.push_back(s);
    }
  }
  return selected;
}

// The scores with their distances, up to distance `last`.
std::vector<DistanceScore> by_distance(const std::vector<Score>& scores,
                                       std::size_t last = std::numeric_limits<std::size_t>::max()) {
  std::vector<DistanceScore> selected;
  for (const Score& s : scores) {
    if (distance_of(s) <= last) selected.push_back({distance_of(s), s.score});
  }
  return selected;
}

std::optional<LargestError> locate_largest(const std::vector<Score>& scores, const Target& target,
                                           long long first_position) {
  const auto largest = largest_among(by_distance(scores), target);
  if (!largest) return std::nullopt;
  constexpr std::uint64_t beyond = std::numeric_limits<std::uint64_t>::max();
  std::pair<std::uint64_t, std::uint64_t> best{beyond, beyond};
  for (const std::size_t place : largest->places) {
    best = std::min(best, {scores[place].pair.i, scores[place].pair.j});
  }
  return LargestError{target.unit().rounded(largest->error),
                      first_position + static_cast<long long>(best.first),
                      first_position + static_cast<long long>(best.second)};
}

// Each score as a set of its own, as many as it stands for.
std::vector<Moments> weighted(const std::vector<Score>& scores) {
  std::vector<Moments> moments;
  for (const Score& s : scores) {
    moments.push_back({distance_of(s), s.pair.weight, s.score, 0, 0, 0});
  }
  return moments;
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

PairErrors gather(const std::vector<Score>& scores, const DistanceReference& reference,
                  long long first_position) {
  const auto finite = finite_scores(scores);
  const std::size_t reach = visible_reach(reference.construction().slope, reference.context() - 1);
  const Target simulated(reference, Against::simulated), bias(reference, Against::bias);
  const auto moments = weighted(finite);
  PairErrors errors;
  errors.pairs = scores.size();
  errors.nonfinite_pairs = scores.size() - finite.size();
  errors.rounding_maximum = locate_largest(finite, simulated, first_position);
  errors.rounding_rms = root_mean_square(moments, simulated);
  errors.total_maximum = largest_error(by_distance(finite), bias);
  errors.total_rms = root_mean_square(moments, bias);
  errors.visible_maximum = largest_error(by_distance(finite, reach), bias);
  errors.order_lost = estimated_order_lost(scores);
  return errors;
}

}  // namespace

Measurement measure_sampled_pairs(const Pipeline& pipeline, const DistanceReference& reference,
                                  long long first_position, std::uint64_t count, std::uint64_t seed,
                                  const Interruption& interruption) {
  if (is_exact(pipeline)) return exact_measurement(reference, first_position);
  const Construction& construction = reference.construction();
  const RotatedTable table =
      rotated_table(pipeline, construction, first_position, reference.context());
  const auto scores = compute_scores(pipeline, score_scale(construction), table,
                                     sample_pairs(reference.context(), count, seed), interruption);
  return {gather(scores, reference, first_position),
          last_query_total_variation(pipeline, reference, table)};
}

std::vector<PairErrors> sampled_errors_at(const std::vector<DistanceRange>& ranges,
                                          const Pipeline& pipeline,
                                          const DistanceReference& reference,
                                          long long first_position, std::uint64_t count,
                                          std::uint64_t seed, const Interruption& interruption) {
  if (is_exact(pipeline)) return exact_errors_at(ranges, reference, first_position);
  const Construction& construction = reference.construction();
  const RotatedTable table =
      rotated_table(pipeline, construction, first_position, reference.context());
  const auto scores = compute_scores(pipeline, score_scale(construction), table,
                                     sample_pairs(reference.context(), count, seed), interruption);
  std::vector<PairErrors> errors;
  for (const DistanceRange& distances : ranges) {
    errors.push_back(gather(scores_at(distances, scores), reference, first_position));
  }
  return errors;
}

}  // namespace ropelab
