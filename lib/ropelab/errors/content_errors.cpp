#include "ropelab/errors/content_errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/content_diagonals.hpp"
#include "ropelab/errors/error_measures.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

// The scores and what they are compared with.
struct Judged {
  ContentScores scores;
  const BiasReference& reference;
  long long first_position;
  std::size_t reach;  // the last visible distance

  Judged(const Pipeline& pipeline, const DistanceReference& judge, long long first,
         const Content& content)
      : scores(pipeline, judge.construction(), first, judge.context(), content),
        reference(judge),
        first_position(first),
        reach(visible_reach(judge.construction().slope, judge.context() - 1)) {}
  Judged(ContentScores all_scores, const BiasReference& judge, std::size_t visible)
      : scores(std::move(all_scores)), reference(judge), first_position(0), reach(visible) {}

  // F - C of a finite score.
  DoubleDouble without_content(std::size_t i, std::size_t j, DoubleDouble score) const {
    const ContentScore content = scores.content_score(i, j);
    const DoubleDouble difference = exact_sum(score.high, -content.high);
    return exact_sum(difference.high, difference.low + (score.low - content.low));
  }

  // Deviations are taken from what the first pair of a distance has, so that neither rms is lost
  // in sums of large squares where scores are nearer to one another than to S or to B.
  std::vector<DoubleDouble> centers() const {
    std::vector<DoubleDouble> centers(reference.context());
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, centers.size(), 256), [&](const auto& range) {
          for (std::size_t d = range.begin(); d != range.end(); ++d) {
            const DoubleDouble f = scores.score(d, 0);
            centers[d] =
                std::isfinite(f.high) ? without_content(d, 0, f) : reference.simulated()[d];
          }
        });
    return centers;
  }
};

// The search for the largest |F - C - target| by its deviations from some centre: doubles tell
// which pairs can have it, reals decide.
class LargestSearch {
 public:
  LargestSearch(const Judged& judged, Against against) : judged_(judged), against_(against) {}

  // First, of every distance: the deviations that can have the largest error.
  void add(std::size_t distance, DoubleDouble center, double deviation) {
    const Quick error = quick(distance, center, deviation);
    threshold_ = std::max(threshold_, error.value - error.tolerance);
  }

  bool can_be_largest(std::size_t distance, DoubleDouble center, double deviation) const {
    const Quick error = quick(distance, center, deviation);
    return !(error.value + error.tolerance < threshold_);
  }

  // Then every pair that can have it.
  void consider(std::size_t i, std::size_t j) {
    const std::size_t d = i - j;
    const Real target = Target(judged_.reference, against_).exact(d);
    const Real error = abs(to_real(judged_.scores.score(i, j)) -
                           judged_.scores.exact_content_score(i, j) - target);
    const std::pair place{i, j};
    if (!largest_ || error > *largest_ || (error == *largest_ && place < place_)) {
      largest_ = error;
      place_ = place;
    }
  }

  std::optional<LargestError> result() const {
    if (!largest_) return std::nullopt;
    return LargestError{judged_.reference.error_unit().rounded(*largest_),
                        judged_.first_position + static_cast<long long>(place_.first),
                        judged_.first_position + static_cast<long long>(place_.second)};
  }

 private:
  struct Quick {
    double value, tolerance;
  };

  Quick quick(std::size_t distance, DoubleDouble center, double deviation) const {
    const Target target(judged_.reference, against_);
    const double offset = (center - target.quick(distance)).high;
    const double size = std::abs(deviation) + std::abs(offset);
    return {std::abs(deviation + offset), size * 0x1p-48 + target.quick_error(distance) +
                                              judged_.scores.content_error() +
                                              0x1p-100 * std::abs(center.high) + 0x1p-1070};
  }

  const Judged& judged_;
  Against against_;
  double threshold_ = 0;
  std::optional<Real> largest_;
  std::pair<std::size_t, std::size_t> place_;
};

std::optional<double> magnitude_of(const std::optional<LargestError>& largest) {
  return largest ? std::optional<double>(largest->error) : std::nullopt;
}

// What the last query makes of its keys under B + C, S + C and F.
void weigh_last_query(const Judged& judged, Measurement& measured) {
  const std::size_t last = judged.scores.size() - 1, keys = judged.reference.context();
  std::vector<DoubleDouble> bias(keys), simulated(keys), computed(keys);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, keys, 256), [&](const auto& range) {
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      const ContentScore c = judged.scores.content_score(last, last - d);
      const DoubleDouble content = exact_sum(c.high, c.low);
      bias[d] = judged.reference.bias(d) + content;
      simulated[d] = judged.reference.simulated()[d] + content;
      computed[d] = judged.scores.score(last, last - d);
    }
  });
  const auto native = softmax(bias);
  measured.exact_weights_total_variation = total_variation(native, softmax(simulated));
  const bool finite = std::all_of(computed.begin(), computed.end(),
                                  [](DoubleDouble f) { return std::isfinite(f.high); });
  if (finite) measured.weights_total_variation = total_variation(native, softmax(computed));
}

// The measures of pairs at some distances, of which `pairs` gives the moments, counts and largest
// errors.
template <class Pairs>
PairErrors errors_of(const Pairs& pairs, const Judged& judged, DistanceRange distances) {
  const std::size_t reach = std::min(judged.reach, distances.last);
  const std::vector<Moments> moments = pairs.moments(distances);
  PairErrors errors;
  pairs.count(distances, errors);
  errors.rounding_maximum = pairs.largest(Against::simulated, distances);
  errors.rounding_rms = root_mean_square(moments, Target(judged.reference, Against::simulated));
  errors.total_maximum = pairs.largest_magnitude(Against::bias, distances);
  errors.total_rms = root_mean_square(moments, Target(judged.reference, Against::bias));
  errors.visible_maximum = pairs.largest_magnitude(Against::bias, {distances.first, reach});
  return errors;
}

// All pairs, by their shares in each diagonal.
class AllPairs {
 public:
  AllPairs(const Judged& judged, const Interruption& interruption)
      : judged_(judged),
        interruption_(interruption),
        centers_(judged.centers()),
        shares_(measure_deviations(judged.scores, centers_, interruption)) {}

  std::vector<Moments> moments(DistanceRange distances) const {
    std::vector<Moments> moments;
    for (std::size_t d = distances.first; d <= distances.last; ++d) {
      if (finite_pairs(d) > 0) moments.push_back(moments_of(d));
    }
    return moments;
  }

  void count(DistanceRange distances, PairErrors& errors) const {
    std::uint64_t lost = 0, neighbours = 0;
    for (std::size_t d = distances.first; d <= distances.last; ++d) {
      errors.pairs += pairs(d);
      errors.nonfinite_pairs += shares_[d].not_finite;
      lost += shares_[d].lost;
      if (d > 0) neighbours += pairs(d);
    }
    if (neighbours > 0) errors.order_lost = to_double(Rational(lost, neighbours));
  }

  std::optional<LargestError> largest(Against against, DistanceRange distances) const {
    LargestSearch search(judged_, against);
    for (std::size_t d = distances.first; d <= distances.last; ++d) {
      if (finite_pairs(d) == 0) continue;
      search.add(d, centers_[d], shares_[d].least);
      search.add(d, centers_[d], shares_[d].greatest);
    }
    for (std::size_t d = distances.first; d <= distances.last; ++d) {
      if (finite_pairs(d) == 0) continue;
      if (!search.can_be_largest(d, centers_[d], shares_[d].least) &&
          !search.can_be_largest(d, centers_[d], shares_[d].greatest)) {
        continue;
      }
      for_finite_pairs(d, [&](std::size_t i, double deviation) {
        if (search.can_be_largest(d, centers_[d], deviation)) search.consider(i, i - d);
      });
    }
    return search.result();
  }

  std::optional<double> largest_magnitude(Against against, DistanceRange distances) const {
    return magnitude_of(largest(against, distances));
  }

 protected:
  const Judged& judged() const { return judged_; }
  const Interruption& interruption() const { return interruption_; }
  const kernel::Share& share(std::size_t d) const { return shares_[d]; }
  DoubleDouble center(std::size_t d) const { return centers_[d]; }
  std::uint64_t pairs(std::size_t d) const { return judged_.scores.size() - d; }
  std::uint64_t finite_pairs(std::size_t d) const { return pairs(d) - shares_[d].not_finite; }

  // Calls visit(i, F), by the plain definition.
  template <class Visit>
  void for_finite_scores(std::size_t d, const Visit& visit) const {
    for (std::size_t i = d; i < judged_.scores.size(); ++i) {
      interruption_.check();
      const DoubleDouble f = judged_.scores.score(i, i - d);
      if (std::isfinite(f.high)) visit(i, f);
    }
  }

 private:
  Moments moments_of(std::size_t d) const {
    const kernel::Share& share = shares_[d];
    const double size = std::max(std::abs(share.least), std::abs(share.greatest));
    Moments moments{
        d, static_cast<double>(finite_pairs(d)), centers_[d], share.sum, share.sum_of_squares, 0};
    if (squares_are_sound(size)) return moments;
    moments.exponent = unit_exponent(size);
    moments.sum = moments.sum_of_squares = 0;
    for_finite_pairs(d, [&](std::size_t, double deviation) {
      const double in_units = std::ldexp(deviation, -moments.exponent);
      moments.sum += in_units;
      moments.sum_of_squares += in_units * in_units;
    });
    return moments;
  }

  // Calls visit(i, deviation), by the plain definition.
  template <class Visit>
  void for_finite_pairs(std::size_t d, const Visit& visit) const {
    for_finite_scores(d, [&](std::size_t i, DoubleDouble f) {
      visit(i, deviation(f, judged_.scores.content_score(i, i - d), centers_[d]));
    });
  }

  const Judged& judged_;
  const Interruption& interruption_;
  std::vector<DoubleDouble> centers_;
  std::vector<kernel::Share> shares_;
};

// The same without content. What a diagonal's least and greatest deviation belong to is a number of
// the scaling's format, which is found from either; so many pairs may share the largest error
// without being looked at one by one.
class AllProducts : public AllPairs {
 public:
  using AllPairs::AllPairs;

  std::optional<LargestError> largest(Against against, DistanceRange distances) const {
    const auto scores = extremes(distances);
    if (!scores) return AllPairs::largest(against, distances);
    const Target target(judged().reference, against);
    const auto among = largest_among(*scores, target);
    if (!among) return std::nullopt;
    std::vector<DistanceScore> wanted;
    for (const std::size_t place : among->places) wanted.push_back((*scores)[place]);
    const QueryKey first = first_pair_with(wanted);
    return LargestError{target.unit().rounded(among->error), static_cast<long long>(first.first),
                        static_cast<long long>(first.second)};
  }

  std::optional<double> largest_magnitude(Against against, DistanceRange distances) const {
    const auto scores = extremes(distances);
    if (!scores) return AllPairs::largest_magnitude(against, distances);
    return largest_error(*scores, Target(judged().reference, against));
  }

 private:
  using QueryKey = std::pair<std::size_t, std::size_t>;

  // The first query, and its first key, that have one of these scores at its distance: there is
  // one. Query by query in tiles, as many pairs may be looked at before it.
  QueryKey first_pair_with(std::vector<DistanceScore> wanted) const {
    constexpr std::size_t together = 64;
    std::sort(wanted.begin(), wanted.end(), [](const DistanceScore& a, const DistanceScore& b) {
      return a.distance < b.distance;
    });
    const auto tiles = content_tiles(judged().scores, interruption());
    const std::size_t size = judged().scores.size();
    const std::size_t blocks =
        (size + content_kernel::tile_queries - 1) / content_kernel::tile_queries;
    QueryKey first{size, 0};
    for (std::size_t begin = 0; begin < blocks && first.first == size; begin += together) {
      first = tbb::parallel_reduce(
          tbb::blocked_range<std::size_t>(begin, std::min(begin + together, blocks)), first,
          [&](const auto& range, QueryKey found) {
            ContentTiles::Room room = tiles->room();
            for (std::size_t block = range.begin(); block != range.end(); ++block) {
              found = std::min(found, first_of_block(*tiles, room, block, wanted));
            }
            return found;
          },
          [](const QueryKey& a, const QueryKey& b) { return std::min(a, b); });
    }
    return first;
  }

  // Of the queries of a tile; as many as there are queries where there is none.
  QueryKey first_of_block(const ContentTiles& tiles, ContentTiles::Room& room, std::size_t block,
                          const std::vector<DistanceScore>& wanted) const {
    constexpr std::size_t queries = content_kernel::tile_queries;
    constexpr std::size_t diagonals = content_kernel::tile_diagonals;
    const std::size_t begin = block * queries, size = judged().scores.size();
    const std::size_t end = std::min(begin + queries, size);
    QueryKey first{size, 0};
    const double* scores = nullptr;
    std::optional<std::size_t> tile;
    for (const auto& [distance, score] : wanted) {
      if (distance >= end) break;
      if (tile != distance / diagonals) {
        tile = distance / diagonals;
        scores = tiles.scores({*tile * diagonals, begin}, room);
      }
      const std::size_t row = distance % diagonals * queries;
      for (std::size_t i = std::max(begin, distance); i < std::min(end, first.first + 1); ++i) {
        const bool is_equal = scores ? scores[row + i - begin] == score.high
                                     : judged().scores.score(i, i - distance) == score;
        if (is_equal) first = std::min(first, {i, i - distance});
      }
    }
    return first;
  }

  // Of each distance the least and the greatest score. Empty where too many are not told by their
  // deviations; a few are looked for pair by pair.
  std::optional<std::vector<DistanceScore>> extremes(DistanceRange distances) const {
    constexpr std::size_t most_untold = 256;
    const Step& scaling = judged().scores.pipeline()[StepName::scaling];
    if (!scaling) return std::nullopt;
    std::vector<DistanceScore> scores;
    std::vector<std::size_t> untold;
    for (std::size_t d = distances.first; d <= distances.last; ++d) {
      if (finite_pairs(d) == 0) continue;
      const auto least = told(*scaling, d, share(d).least);
      const auto greatest = told(*scaling, d, share(d).greatest);
      if (least && greatest) {
        scores.push_back({d, {*least, 0}});
        scores.push_back({d, {*greatest, 0}});
      } else {
        untold.push_back(d);
        if (untold.size() > most_untold) return std::nullopt;
      }
    }
    const std::size_t known = scores.size();
    scores.resize(known + 2 * untold.size());
    tbb::parallel_for(std::size_t{0}, untold.size(), [&](std::size_t n) {
      const auto [least, greatest] = extremes_of(untold[n]);
      scores[known + 2 * n] = least;
      scores[known + 2 * n + 1] = greatest;
    });
    return scores;
  }

  // The score that has this deviation, which is good to 2^-50 of itself: not near 0.
  std::optional<double> told(const Format& scaling, std::size_t d, double deviation) const {
    const DoubleDouble f = center(d) + deviation;
    const double score = round_to(scaling, f.high, f.low);
    if (!(std::abs(deviation) * 0x1p-48 < ulp(scaling, score))) return std::nullopt;
    return score;
  }

  // Of a distance with finite scores, pair by pair.
  std::pair<DistanceScore, DistanceScore> extremes_of(std::size_t d) const {
    std::optional<DoubleDouble> least, greatest;
    for_finite_scores(d, [&](std::size_t, DoubleDouble score) {
      if (!least || score < *least) least = score;
      if (!greatest || *greatest < score) greatest = score;
    });
    return {{d, *least}, {d, *greatest}};
  }
};

// A sample, pair by pair.
class Sample {
 public:
  Sample(const Judged& judged, const std::vector<SampledPair>& pairs,
         const Interruption& interruption)
      : judged_(judged), looks_(pairs.size()) {
    PartsDone pairs_done(interruption, pairs.size());
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, pairs.size(), 256),
                      [&](const auto& range) {
                        interruption.check();
                        for (std::size_t n = range.begin(); n != range.end(); ++n) {
                          looks_[n] = look_at(pairs[n]);
                        }
                        pairs_done.add(range.size());
                      });
  }

  std::vector<Moments> moments(DistanceRange distances) const {
    std::vector<Moments> moments;
    for (const Look& look : looks_) {
      if (look.finite && look.is_at(distances)) {
        moments.push_back({look.distance(), look.weight, look.value, 0, 0, 0});
      }
    }
    return moments;
  }

  void count(DistanceRange distances, PairErrors& errors) const {
    DoubleDouble lost, all;
    for (const Look& look : looks_) {
      if (!look.is_at(distances)) continue;
      ++errors.pairs;
      if (!look.finite) ++errors.nonfinite_pairs;
      if (look.i == look.j) continue;
      all = all + look.weight;
      if (!look.ordered) lost = lost + look.weight;
    }
    if (all.high > 0) errors.order_lost = (lost / all).high;
  }

  std::optional<LargestError> largest(Against against, DistanceRange distances) const {
    LargestSearch search(judged_, against);
    const auto counts = [&](const Look& look) { return look.finite && look.is_at(distances); };
    for (const Look& look : looks_) {
      if (counts(look)) search.add(look.distance(), look.value, 0);
    }
    for (const Look& look : looks_) {
      if (counts(look) && search.can_be_largest(look.distance(), look.value, 0)) {
        search.consider(look.i, look.j);
      }
    }
    return search.result();
  }

  std::optional<double> largest_magnitude(Against against, DistanceRange distances) const {
    return magnitude_of(largest(against, distances));
  }

 private:
  struct Look {
    std::size_t i, j;
    double weight;
    DoubleDouble value;  // F - C
    bool finite, ordered;

    std::size_t distance() const { return i - j; }
    bool is_at(DistanceRange distances) const {
      return distances.first <= distance() && distance() <= distances.last;
    }
  };

  Look look_at(const SampledPair& pair) const {
    const std::size_t i = pair.i, j = pair.j;
    const DoubleDouble f = judged_.scores.score(i, j);
    const bool finite = std::isfinite(f.high);
    return {i,           j,
            pair.weight, finite ? judged_.without_content(i, j, f) : f,
            finite,      j == i || f < judged_.scores.score(i, j + 1)};
  }

  const Judged& judged_;
  std::vector<Look> looks_;
};

template <class Pairs>
Measurement measurement_of(const Pairs& pairs, const Judged& judged) {
  Measurement measured;
  measured.errors = errors_of(pairs, judged, judged.reference.all_distances());
  weigh_last_query(judged, measured);
  return measured;
}

template <class Pairs>
std::vector<PairErrors> errors_of_each(const std::vector<DistanceRange>& ranges, const Pairs& pairs,
                                       const Judged& judged) {
  std::vector<PairErrors> errors;
  for (const DistanceRange& distances : ranges) {
    errors.push_back(errors_of(pairs, judged, distances));
  }
  return errors;
}

}  // namespace

Measurement measure_all_pairs_among_content(const Pipeline& pipeline,
                                            const DistanceReference& reference,
                                            long long first_position, const Content& content,
                                            const Interruption& interruption) {
  const Judged judged(pipeline, reference, first_position, content);
  return measurement_of(AllPairs(judged, interruption), judged);
}

Measurement measure_all_products(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table,
                                 const BiasReference& reference, std::size_t reach,
                                 const Interruption& interruption) {
  const Judged judged({pipeline, scale, std::move(table)}, reference, reach);
  return measurement_of(AllProducts(judged, interruption), judged);
}

Measurement measure_sampled_pairs_among_content(const Pipeline& pipeline,
                                                const DistanceReference& reference,
                                                long long first_position, const Content& content,
                                                std::uint64_t count, std::uint64_t seed,
                                                const Interruption& interruption) {
  const Judged judged(pipeline, reference, first_position, content);
  const auto sample = sample_pairs(reference.context(), count, seed);
  return measurement_of(Sample(judged, sample, interruption), judged);
}

std::vector<PairErrors> errors_at_among_content(const std::vector<DistanceRange>& ranges,
                                                const Pipeline& pipeline,
                                                const DistanceReference& reference,
                                                long long first_position, const Content& content,
                                                const Interruption& interruption) {
  const Judged judged(pipeline, reference, first_position, content);
  return errors_of_each(ranges, AllPairs(judged, interruption), judged);
}

std::vector<PairErrors> sampled_errors_at_among_content(
    const std::vector<DistanceRange>& ranges, const Pipeline& pipeline,
    const DistanceReference& reference, long long first_position, const Content& content,
    std::uint64_t count, std::uint64_t seed, const Interruption& interruption) {
  const Judged judged(pipeline, reference, first_position, content);
  const auto sample = sample_pairs(reference.context(), count, seed);
  return errors_of_each(ranges, Sample(judged, sample, interruption), judged);
}

}  // namespace ropelab
