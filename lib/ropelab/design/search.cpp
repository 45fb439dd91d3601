#include "ropelab/design/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "ropelab/design/candidates.hpp"
#include "ropelab/design/drawn_shares.hpp"
#include "ropelab/design/equal_shares.hpp"
#include "ropelab/design/fits.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/powers_of_two.hpp"

namespace ropelab {
namespace {

// Of the frequencies of dyadic, of which most do equally well, multi-pair takes one in so many.
constexpr int every_dyadic = 4;
// Copies of a pair that round differently, and digits of which there are some.
constexpr int most_copies = 16, most_copied_digits = 3;
// A digit times a position is exact as long as both fit the significand.
constexpr int most_digit_bits = 4;

// Of drawn_shares.
constexpr int draws = 1000;
constexpr std::size_t drawn_starts = 32;

// Amplitudes are fitted with these multiples of the price that rounding is expected to have: the
// sample tells which one was right.
constexpr std::array<double, 3> price_weights = {0.5, 2, 8};

// The grid's own frequencies for their doubles.
void take_exact_frequencies(HeadDesign& design, const Frequencies& grid) {
  for (RotatedPair& pair : design.pairs) {
    const double theta = pair.theta.to_double();
    pair.theta = std::find_if(grid.begin(), grid.end(), [&](const Frequency& frequency) {
                   return frequency.theta == theta;
                 })->exact;
  }
}

void check(const std::vector<Method>& methods, const std::vector<HeadTask>& group) {
  if (group.empty()) throw std::invalid_argument("there is no head to find a design for");
  const bool slopes = std::all_of(group.begin(), group.end(),
                                  [](const HeadTask& task) { return task.slope.has_value(); });
  for (const Method method : methods) {
    const std::string name(name_of(method));
    const bool one_for_all =
        method == Method::multi_pair || method == Method::grid || method == Method::native;
    if (!slopes && (!one_for_all || group.size() > 1)) {
      throw std::invalid_argument(name + " needs a bias that is a slope");
    }
    if (method == Method::rank_two && group.size() > 1) {
      throw std::invalid_argument(
          "rank-2 has the slope in the key, which the heads of a group share");
    }
  }
}

std::vector<HeadDesign> rank_two_designs(const HeadTask& task) {
  const double greatest = step_per_position(task).to_double() * static_cast<double>(task.context);
  std::vector<HeadDesign> designs;
  for (int terms = 1; terms <= 3; ++terms) {
    if (terms > 1 && !task.pipeline[StepName::storage]) continue;
    designs.push_back({.method = Method::rank_two});
    designs.back().factor_terms = terms;
    designs.back().unit_exponent = even_exponent(greatest);
  }
  return designs;
}

void add_both(const HeadTask& task, const HeadDesign& design, Candidates& candidates) {
  if (design.pairs.empty()) return;
  candidates.add(centred(task, design));
  candidates.add(design);
}

// Of how many pairs, at most, a grid of so many frequencies is also searched: where rounding
// decides, fewer may do better. 0 for none.
int fewer_pairs(const std::vector<Method>& methods, const HeadTask& task, std::size_t frequencies,
                int most_pairs) {
  const bool has_grid = std::find(methods.begin(), methods.end(), Method::grid) != methods.end();
  const std::size_t pairs = std::min(frequencies, static_cast<std::size_t>(most_pairs));
  return has_grid && task.slope && pairs > 1 ? static_cast<int>(std::bit_floor(pairs - 1)) : 0;
}

// On a tie, of a.
std::vector<Found> better_of(const std::vector<HeadTask>& group, Objective objective,
                             std::vector<Found> a, std::vector<Found> b) {
  const auto of_a = worst_of(group, a, objective), of_b = worst_of(group, b, objective);
  const bool is_b = a.empty() || (!b.empty() && of_b && (!of_a || *of_b < *of_a));
  return is_b ? std::move(b) : std::move(a);
}

}  // namespace

DesignSearch::DesignSearch(SearchOptions options)
    : options_(std::move(options)),
      grid_(slowest_first(options_.grid)),
      fits_(std::make_unique<Fits>()) {}
DesignSearch::~DesignSearch() = default;

std::vector<Found> DesignSearch::best(const std::vector<Method>& methods,
                                      const std::vector<HeadTask>& group,
                                      const Interruption& interruption) {
  check(methods, group);
  return answer(methods, group, options_.most_pairs, interruption);
}

std::vector<Found> DesignSearch::answer(const std::vector<Method>& methods,
                                        const std::vector<HeadTask>& group, int most_pairs,
                                        const Interruption& interruption) {
  std::vector<Found> found = scaled_answer(methods, group, most_pairs, interruption);
  if (found.empty()) {
    found = searched(methods, group, most_pairs, interruption);
    if (const int fewer = fewer_pairs(methods, group.front(), options_.grid.size(), most_pairs);
        fewer > 0) {
      found = better_of(group, options_.objective, answer(methods, group, fewer, interruption),
                        std::move(found));
    }
  }
  if (!found.empty()) answers_.push_back({methods, most_pairs, group, found});
  return found;
}

std::vector<Found> DesignSearch::scaled_answer(const std::vector<Method>& methods,
                                               const std::vector<HeadTask>& group, int most_pairs,
                                               const Interruption& interruption) const {
  if (options_.objective != Objective::total && options_.objective != Objective::truncation) {
    return {};
  }
  std::optional<int> exponent;
  const auto last = std::find_if(answers_.rbegin(), answers_.rend(), [&](const Answer& earlier) {
    const bool same = earlier.methods == methods && earlier.most_pairs == most_pairs;
    if (same) exponent = power_of_two_between(earlier.group, group);
    return exponent.has_value();
  });
  if (last == answers_.rend()) return {};
  if (*exponent == 0) return last->found;
  std::vector<Found> found;
  for (std::size_t h = 0; h < group.size(); ++h) {
    HeadDesign design = for_slopes_times(last->found[h].design, *exponent);
    const DesignErrors errors = measure(group[h], design, interruption);
    found.push_back({std::move(design), errors});
    const auto value = comparable_objective(group[h], errors, options_.objective);
    const auto known =
        comparable_objective(last->group[h], last->found[h].errors, options_.objective);
    if (!value || *value > *known) return {};
  }
  return found;
}

std::vector<Found> DesignSearch::searched(const std::vector<Method>& methods,
                                          const std::vector<HeadTask>& group, int most_pairs,
                                          const Interruption& interruption) {
  const HeadTask& task = group.front();
  Candidates candidates(group, options_, grid_, interruption);
  const auto add = [&](const std::vector<HeadDesign>& designs) {
    for (const HeadDesign& design : designs) candidates.add(design);
  };
  const auto add_fit = [&](Method method, Form form, const std::vector<double>& thetas,
                           const std::vector<double>& distances) {
    for (const double weight : price_weights) {
      const auto& amplitudes =
          fits_->amplitudes(task, form, thetas, distances, weight, interruption);
      HeadDesign design = fitted_design(task, method, form, thetas, amplitudes);
      if (method == Method::grid) take_exact_frequencies(design, grid_);
      add_both(task, design, candidates);
    }
  };
  const auto add_multi_pair = [&] {
    const auto distances = task.slope ? few_distances(task) : all_distances(task);
    for (int pairs = 1; pairs <= most_pairs; ++pairs) {
      for (const Form form : forms_of(task)) {
        for (const auto& thetas : fits_->frequencies(task, form, pairs, interruption)) {
          add_fit(Method::multi_pair, form, thetas, distances);
        }
      }
    }
    if (!task.slope) return;
    for (int first = 1; first <= std::min(most_pairs, most_copies); first *= 2) {
      for (const int others : {1, 2}) {
        for (int digits = 1; first + (digits - 1) * others <= most_pairs; ++digits) {
          if (others > 1 && (digits == 1 || first == 1)) continue;
          if (first > 1 && digits > most_copied_digits) break;
          add(shifted_copies(task, {digits, first, others}));
        }
      }
    }
    for (const auto& designs : {single_designs(task), dyadic_designs(task, most_pairs)}) {
      for (HeadDesign design : designs) {
        design.method = Method::multi_pair;
        add_both(task, design, candidates);
      }
    }
    for (int pairs = 2; pairs <= most_pairs; ++pairs) {
      for (int bits = 1; bits <= most_digit_bits; ++bits) {
        for (HeadDesign design :
             dyadic_designs(task, pairs, {LastPair::rest, bits, every_dyadic})) {
          design.method = Method::multi_pair;
          candidates.add(centred(task, design));
        }
      }
    }
  };
  for (const Method method : methods) {
    switch (method) {
      case Method::single:
        add(single_designs(task));
        for (const HeadDesign& design : faster_singles(task)) candidates.add_start(design);
        break;
      case Method::dyadic:
        for (int digits = 1; digits <= most_pairs; ++digits) {
          add(dyadic_designs(task, digits));
        }
        break;
      case Method::multi_pair:
        add_multi_pair();
        break;
      case Method::grid: {
        const auto distances = all_distances(task);
        for (const auto& thetas : fits_->grid_choices(task, grid_, most_pairs, interruption)) {
          add_fit(method, full_form(task), thetas, distances);
        }
        if (task.slope) {
          const auto count = static_cast<std::size_t>(most_pairs);
          for (const auto& set : equal_shares(task, grid_, count)) {
            add(set);
            candidates.add_start(set.front());
          }
          const auto drawn = drawn_shares(task, grid_, count, draws, options_.seed);
          add(drawn);
          for (std::size_t n = 0; n < std::min(drawn.size(), drawn_starts); ++n) {
            candidates.add_start(drawn[n]);
          }
        }
        break;
      }
      case Method::rank_two:
        add(rank_two_designs(task));
        break;
      case Method::native:
        candidates.add({.method = Method::native});
        break;
    }
  }
  return candidates.best();
}

double DesignSearch::grid_limit(const HeadTask& task, const Interruption& interruption) {
  return fits_->grid_limit(task, grid_, interruption);
}

}  // namespace ropelab
