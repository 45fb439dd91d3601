#include "ropelab/design/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <tbb/parallel_for.h>

#include "ropelab/design/annealing.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/polish.hpp"

namespace ropelab {
namespace {

// Pairs of the sample that most candidates are refused by, of that which the others are compared
// by, and of that for the best of them.
constexpr std::uint64_t small_sample = 1 << 10, sample_size = 1 << 13, larger_sample = 1 << 16;
constexpr std::size_t finalists = 16;
// The best are measured over all pairs: one, a second unless both take more products than the first
// of these numbers, and further ones up to the second.
constexpr double products_of_two = 0x1p33, products_of_more = 0x1p30;
// So many of the best are polished, by so many trials altogether, less where the context is long,
// and so many products for those of the trials that come to an end. A grid is, for each power of
// two of pairs.
constexpr std::size_t most_polished = 4;
constexpr double most_trials = 6144, most_trials_of_grid = 1024;
constexpr double positions_of_polish = 0x1.8p23, products_of_polish = 0x1.8p34;
double trials_of_polish(const HeadTask& task, Method method) {
  return std::min(method == Method::grid ? most_trials_of_grid : most_trials,
                  positions_of_polish / static_cast<double>(task.context));
}
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_finite(const HeadDesign& design) {
  return std::all_of(design.pairs.begin(), design.pairs.end(), [](const RotatedPair& pair) {
    return std::isfinite(pair.query[0]) && std::isfinite(pair.query[1]) &&
           std::isfinite(pair.key[0]) && std::isfinite(pair.key[1]);
  });
}

// Whether the scores of two designs are the same, whatever the method is called.
bool makes_the_same(const HeadDesign& a, const HeadDesign& b) {
  return a.pairs == b.pairs && a.factor_terms == b.factor_terms &&
         a.unit_exponent == b.unit_exponent && a.offset == b.offset &&
         (a.method == Method::native) == (b.method == Method::native);
}

// Whether changes of one are about those of the other: of as many pairs, of about the same
// frequencies.
bool are_close(const HeadDesign& a, const HeadDesign& b) {
  return std::equal(a.pairs.begin(), a.pairs.end(), b.pairs.begin(), b.pairs.end(),
                    [](const RotatedPair& x, const RotatedPair& y) {
                      const double ratio = x.theta.to_double() / y.theta.to_double();
                      return std::fabs(ratio - 1) < 0x1p-6;
                    });
}

// Whether it may matter in which order products are added: hardly, where all are copies of one
// pair.
bool has_an_order(const std::vector<RotatedPair>& pairs) {
  const auto size = [](const RotatedPair& pair) {
    return std::hypot(pair.query[0], pair.query[1]);
  };
  return std::any_of(pairs.begin(), pairs.end(), [&](const RotatedPair& pair) {
    return !(pair.theta == pairs.front().theta) ||
           std::fabs(size(pair) / size(pairs.front()) - 1) > 0x1p-6;
  });
}

// The design of another head of a group.
HeadDesign for_slope(HeadDesign design, const HeadTask& from, const HeadTask& to) {
  const double ratio = (*to.slope / *from.slope).to_double();
  for (RotatedPair& pair : design.pairs) {
    for (double& component : pair.query) component = rounded_component(to, component * ratio);
  }
  design.offset *= ratio;
  return design;
}

}  // namespace

std::optional<double> worst_of(const std::vector<HeadTask>& group, const std::vector<Found>& found,
                               Objective objective) {
  double worst = 0;
  for (std::size_t h = 0; h < found.size(); ++h) {
    const auto value = comparable_objective(group[h], found[h].errors, objective);
    if (!value) return std::nullopt;
    worst = std::max(worst, *value);
  }
  return worst;
}

void Candidates::add(const HeadDesign& design) {
  // So many are compared at once: more would take fewer of those before them into account.
  constexpr std::size_t together = 16;
  const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const HeadDesign& known) {
    return makes_the_same(known, design) && is_free(known) == is_free(design);
  });
  if (is_known) return;
  known_.push_back(design);
  if (known_.size() - compared_ == together) compare();
}

void Candidates::compare() {
  struct Compared {
    std::optional<Ranked> itself, apart;
  };
  const std::size_t first = compared_;
  std::vector<Compared> compared(known_.size() - first);
  tbb::parallel_for(std::size_t{0}, compared.size(), [&](std::size_t n) {
    const HeadDesign& design = known_[first + n];
    const double most = enough(design);
    auto& [itself, apart] = compared[n];
    itself = ranked(design, most);
    // Scores on both sides of 0 are half as large, and so are the roundings of their sums.
    constexpr double worth_it = 0.9;
    if (itself && design.method == Method::multi_pair && group_.front().slope) {
      apart = ranked(moved_apart(group_.front(), design), std::min(most, worth_it * itself->value));
    }
  });
  // As if one had been compared after the other, on any number of threads.
  for (std::size_t n = 0; n < compared.size(); ++n) {
    const double most = enough(known_[first + n]);
    for (auto* candidate : {&compared[n].itself, &compared[n].apart}) {
      if (*candidate && (*candidate)->value <= most) insert(std::move(**candidate));
    }
  }
  compared_ = known_.size();
}

std::optional<Candidates::Ranked> Candidates::ranked(const HeadDesign& design, double most) const {
  auto designs = for_group(design);
  std::optional<double> value;
  for (const std::uint64_t size : {small_sample, sample_size}) {
    value = sampled(designs, size, most);
    if (!value || *value > most) return std::nullopt;
  }
  return Ranked{*value, std::move(designs)};
}

void Candidates::insert(Ranked candidate) {
  std::vector<Ranked>& ranked = ranked_[candidate.designs.front().pairs.size()];
  const auto after =
      std::upper_bound(ranked.begin(), ranked.end(), candidate.value,
                       [](double value, const Ranked& other) { return value < other.value; });
  ranked.insert(after, std::move(candidate));
  if (ranked.size() > finalists) ranked.pop_back();
}

bool Candidates::is_free(const HeadDesign& design) const {
  return may_have_offset(group_.front(), design.method, options_.objective);
}

double Candidates::enough(const HeadDesign& design) const {
  // So far above the best of all, no candidate is the winner in spite of its sample.
  constexpr double far_above = 4;
  const auto ranked = ranked_.find(design.pairs.size());
  const bool are_few = ranked == ranked_.end() || ranked->second.size() < finalists;
  const double of_finalists = are_few ? infinity : ranked->second.back().value;
  double best = infinity;
  for (const auto& [pairs, candidates] : ranked_) best = std::min(best, candidates.front().value);
  return best > 0 ? std::min(of_finalists, far_above * best) : of_finalists;
}

Candidates::Ranked Candidates::reversed(Ranked candidate) {
  candidate.value = 0;
  for (HeadDesign& design : candidate.designs) {
    std::reverse(design.pairs.begin(), design.pairs.end());
  }
  return candidate;
}

std::optional<double> Candidates::sampled(const std::vector<HeadDesign>& designs,
                                          std::uint64_t size, double enough) const {
  double worst = 0;
  for (std::size_t h = 0; h < group_.size(); ++h) {
    interruption_.check();
    if (!is_finite(designs[h])) return std::nullopt;
    const HeadTask& task = group_[h];
    const auto value = rough_objective(
        task, designs[h], options_.objective, {size, options_.seed},
        compares_slopes(task, options_.objective) ? enough * task.slope->to_double() : enough,
        interruption_);
    if (!value) return std::nullopt;
    worst = std::max(worst, comparable(task, options_.objective, *value));
  }
  return worst;
}

std::vector<HeadDesign> Candidates::for_group(const HeadDesign& design) const {
  std::vector<HeadDesign> designs{design};
  for (std::size_t h = 1; h < group_.size(); ++h) {
    designs.push_back(for_slope(design, group_.front(), group_[h]));
  }
  return designs;
}

double Candidates::products_measured(const HeadDesign& design) const {
  const HeadTask& task = group_.front();
  return static_cast<double>(task.context) * static_cast<double>(task.window) *
         static_cast<double>(group_.size() * std::max<std::size_t>(1, design.pairs.size()));
}

void Candidates::rank_finalists(std::vector<Ranked>& ranked, double least) const {
  const auto by_value = [](const Ranked& a, const Ranked& b) { return a.value < b.value; };
  // Added the other way round, they may do better.
  constexpr double by_order = 1.5;
  const auto is_beaten = [&](const Ranked& candidate) {
    const bool has_order = has_an_order(candidate.designs.front().pairs);
    return candidate.value >= (has_order ? by_order * least : least);
  };
  ranked.erase(std::find_if(ranked.begin(), ranked.end(), is_beaten), ranked.end());
  const std::size_t count = ranked.size();
  for (std::size_t n = 0; n < count; ++n) {
    if (has_an_order(ranked[n].designs.front().pairs)) {
      ranked.push_back(reversed(ranked[n]));
    }
  }
  tbb::parallel_for(std::size_t{0}, ranked.size(), [&](std::size_t n) {
    const auto value = sampled(ranked[n].designs, larger_sample, infinity);
    ranked[n].value = value ? std::max(ranked[n].value, *value) : infinity;
  });
  std::stable_sort(ranked.begin(), ranked.end(), by_value);
}

void Candidates::measure(const std::vector<HeadDesign>& designs, Best& best) const {
  std::vector<Found> found;
  for (std::size_t h = 0; h < group_.size(); ++h) {
    HeadDesign design = with_best_offset(group_[h], designs[h], options_.objective, interruption_);
    const DesignErrors errors = ropelab::measure(group_[h], design, interruption_);
    found.push_back({std::move(design), errors});
  }
  const auto value = worst_of(group_, found, options_.objective);
  if (value && *value < best.value) best = {*value, std::move(found)};
}

void Candidates::measure_finalists(const std::vector<Ranked>& ranked, Best& best) const {
  double products = 0;
  for (std::size_t n = 0; n < ranked.size(); ++n) {
    products += products_measured(ranked[n].designs.front());
    // What a sample finds is no more than what all pairs have.
    if (best.value <= ranked[n].value) return;
    if (n > 0 && products > (n == 1 ? products_of_two : products_of_more)) return;
    if (is_beaten_by_rows(ranked[n].designs, best.value)) continue;
    measure(ranked[n].designs, best);
  }
}

bool Candidates::is_beaten_by_rows(const std::vector<HeadDesign>& designs, double least) const {
  constexpr std::size_t queries = 32;
  for (std::size_t h = 0; std::isfinite(least) && h < group_.size(); ++h) {
    const HeadTask& task = group_[h];
    const HeadDesign& design = designs[h];
    if (design.pairs.empty() || !task.slope || !come_by_rows(task, options_.objective)) continue;
    const RowErrors rows(task, options_.objective, design.offset);
    const auto found =
        rows.of_queries(rows.scores(score_table(task.pipeline, design.pairs, 0, task.context)),
                        spread_queries(task, queries), is_free(design), infinity);
    if (comparable(task, options_.objective, found.errors.value(is_free(design))) > least)
      return true;
  }
  return false;
}

std::vector<HeadDesign> Candidates::best_few(const Best& best) const {
  std::vector<HeadDesign> designs{best.found.front().design};
  // The best of each number of pairs before the others: what has a few pairs may gain the most.
  std::vector<std::pair<bool, const Ranked*>> others;
  for (const auto& [pairs, ranked] : ranked_) {
    for (const Ranked& candidate : ranked) {
      const bool is_first = &candidate == &ranked.front() && pairs != designs[0].pairs.size();
      if (std::isfinite(candidate.value)) others.emplace_back(!is_first, &candidate);
    }
  }
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->value) < std::pair(b.first, b.second->value);
  });
  for (const auto& [is_other, candidate] : others) {
    if (designs.size() == most_polished) break;
    const HeadDesign& design = candidate->designs.front();
    if (std::none_of(designs.begin(), designs.end(),
                     [&](const HeadDesign& known) { return are_close(known, design); })) {
      designs.push_back(design);
    }
  }
  return designs;
}

std::vector<std::unique_ptr<Polish>> Candidates::to_polish(const Best& best) const {
  const HeadTask& task = group_.front();
  const auto polish_of = [&](const HeadDesign& design) {
    return std::make_unique<Polish>(task, design, options_.objective, options_.seed, interruption_);
  };
  std::vector<HeadDesign> starts = best_few(best);
  std::erase_if(starts, [&](const HeadDesign& design) {
    return !may_be_polished(task, design.method, options_.objective);
  });
  std::vector<std::unique_ptr<Polish>> all;
  for (const HeadDesign& design : starts) all.push_back(polish_of(design));
  starts.insert(starts.end(), starts_.begin(), starts_.end());
  for (const HeadDesign& design :
       annealed(task, starts, options_.objective, grid_, options_.seed, interruption_)) {
    auto one = polish_of(design);
    const double value = comparable(task, options_.objective, one->value());
    if (value < best.value) all.push_back(std::move(one));
  }
  return all;
}

void Candidates::polish(Best& best) const {
  if (group_.size() > 1 || best.found.empty() || !(best.value > 0)) return;
  const HeadTask& task = group_.front();
  const std::vector<std::unique_ptr<Polish>> all = to_polish(best);
  if (all.empty()) return;
  const double trials = trials_of_polish(task, best.found.front().design.method);
  const auto run = [&](Polish& one, double share) {
    one.run(static_cast<int>(share * trials), share * products_of_polish);
  };
  // The best of them goes on for longer.
  constexpr double last_share = 1.0 / 3;
  const double share = (1 - last_share) / static_cast<double>(all.size());
  tbb::parallel_for(std::size_t{0}, all.size(), [&](std::size_t n) { run(*all[n], share); });
  Polish& least = **std::min_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a->value() < b->value(); });
  run(least, last_share);
  measure({least.design()}, best);
}

std::vector<Found> Candidates::best() {
  compare();
  std::vector<std::vector<Ranked>*> by_pairs;
  for (auto& [pairs, ranked] : ranked_) {
    if (!ranked.empty()) by_pairs.push_back(&ranked);
  }
  std::stable_sort(by_pairs.begin(), by_pairs.end(), [](const auto* a, const auto* b) {
    return a->front().value < b->front().value;
  });
  Best best;
  for (std::vector<Ranked>* ranked : by_pairs) {
    rank_finalists(*ranked, best.value);
    measure_finalists(*ranked, best);
  }
  polish(best);
  return std::move(best.found);
}

}  // namespace ropelab
