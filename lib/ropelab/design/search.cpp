#include "ropelab/design/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "ropelab/design/candidates.hpp"
#include "ropelab/design/drawn_shares.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/powers_of_two.hpp"
#include "ropelab/design/wave_fit.hpp"

namespace ropelab {
namespace {

// Of the frequencies of dyadic, of which most do equally well, multi-pair takes one in so many.
constexpr int every_dyadic = 4;
// Copies of a pair that round differently, and digits of which there are some.
constexpr int most_copies = 16, most_copied_digits = 3;
// A digit times a position is exact as long as both fit the significand.
constexpr int most_digit_bits = 4;

// Of drawn_shares, among so many frequencies of a grid.
constexpr int draws = 1000;
constexpr std::size_t most_drawn_from = 16;

// Amplitudes are fitted with these multiples of the price that rounding is expected to have: the
// sample tells which one was right.
constexpr std::array<double, 3> price_weights = {0.5, 2, 8};

// What the pairs of a fit may add: sines alone, cosines and a constant, or all of them.
enum class Form { sines, cosines, waves };

std::size_t waves_per_pair(Form form) { return form == Form::waves ? 2 : 1; }

// With a constant.
Form full_form(const HeadTask& task) { return task.is_even ? Form::cosines : Form::waves; }

std::vector<Form> forms_of(const HeadTask& task) {
  if (task.slope) return {Form::sines, Form::waves};
  return {full_form(task)};
}

// The steps from the angle on, whose roundings a score suffers.
std::vector<StepName> rounded_steps() {
  return {StepName::theta, StepName::phase,    StepName::trig,
          StepName::table, StepName::rotation, StepName::storage};
}

// What a unit of amplitude of this frequency costs, about: the root of the sum of squares of the
// unit roundoffs that a rotated component suffers, those of theta and phase being multiplied by
// the phase of the last position.
double price_of_amplitude(const HeadTask& task, double theta) {
  const double phase = theta * static_cast<double>(task.context);
  double squares = 0;
  for (const StepName step : rounded_steps()) {
    if (!task.pipeline[step]) continue;
    const double roundoff = std::ldexp(1.0, -task.pipeline[step]->precision);
    const bool of_angle = step == StepName::theta || step == StepName::phase;
    squares += std::pow(of_angle ? phase * roundoff : roundoff, 2);
  }
  return std::max(std::sqrt(squares), 0x1p-53);
}

// All that the price depends on but theta.
using Precisions = std::vector<int>;
Precisions precisions_of(const HeadTask& task) {
  Precisions precisions{static_cast<int>(task.context)};
  for (const StepName step : rounded_steps()) {
    precisions.push_back(task.pipeline[step] ? task.pipeline[step]->precision : 0);
  }
  return precisions;
}

// Pair by pair, the cosine first; the constant last.
std::vector<Wave> waves_of(const HeadTask& task, Form form, const std::vector<double>& thetas,
                           double weight) {
  std::vector<Wave> waves;
  for (const double theta : thetas) {
    const double price = weight * price_of_amplitude(task, theta);
    if (form != Form::sines) waves.push_back({Wave::Kind::cosine, theta, price});
    if (form != Form::cosines) waves.push_back({Wave::Kind::sine, theta, price});
  }
  if (form != Form::sines) waves.push_back({Wave::Kind::constant});
  return waves;
}

// With those of keys ahead, where their biases are others.
std::vector<double> of_both_sides(const HeadTask& task, std::vector<double> distances) {
  if (!task.ahead || task.is_even) return distances;
  for (std::size_t n = 1, behind = distances.size(); n < behind; ++n) {
    distances.push_back(-distances[n]);
  }
  std::sort(distances.begin(), distances.end());
  return distances;
}

std::vector<double> all_distances(const HeadTask& task) {
  std::vector<double> distances(task.window);
  for (std::size_t d = 0; d < task.window; ++d) distances[d] = static_cast<double>(d);
  return of_both_sides(task, std::move(distances));
}

// Distances among which smooth functions are fitted: dense at both ends.
std::vector<double> few_distances(const HeadTask& task) {
  constexpr std::size_t most = 1025;
  if (task.window <= most) return all_distances(task);
  std::vector<double> distances;
  const double last = static_cast<double>(task.window - 1);
  for (std::size_t n = 0; n < most; ++n) {
    const double x = std::numbers::pi * static_cast<double>(n) / (most - 1);
    const double d = std::nearbyint((1 - std::cos(x)) / 2 * last);
    if (distances.empty() || d > distances.back()) distances.push_back(d);
  }
  return of_both_sides(task, std::move(distances));
}

// Fits are made in this unit of logits: those of one slope are those of every slope.
double unit_of(const HeadTask& task) { return task.slope ? task.slope->to_double() : 1; }

Eigen::VectorXd target_of(const HeadTask& task, const std::vector<double>& distances) {
  Eigen::VectorXd target(static_cast<Eigen::Index>(distances.size()));
  for (Eigen::Index n = 0; n < target.size(); ++n) {
    const double d = distances[static_cast<std::size_t>(n)];
    const auto size = static_cast<std::size_t>(std::fabs(d));
    target[n] = task.slope ? -d : (d < 0 ? *task.ahead : task.bias).quick(size).high;
  }
  return target;
}

double component_unit(const HeadTask& task) {
  return unit_of(task) * std::sqrt(static_cast<double>(task.head_dim));
}

}  // namespace

// What fits have found, to be used again: for another slope, or for more pairs.
class DesignSearch::Fits {
 public:
  WaveFit fit(const HeadTask& task, Form form, const std::vector<double>& thetas,
              const std::vector<double>& distances, double weight = 1) const {
    return WaveFit(distances, target_of(task, distances), waves_of(task, form, thetas, weight));
  }

  // The best frequencies of a fit of so many pairs, as they were chosen from a row and as they
  // were after being moved; where the bias is no slope, also those of fewer with one more, moved.
  const std::vector<std::vector<double>>& frequencies(const HeadTask& task, Form form, int pairs,
                                                      const Interruption& interruption) {
    const auto key = std::make_tuple(number_of(task), form, pairs, precisions_of(task));
    const auto known = frequencies_.find(key);
    if (known != frequencies_.end()) return known->second;
    const auto row = best_of_rows(task, form, pairs, interruption);
    std::vector<std::vector<double>> found{row, moved(task, form, row, interruption)};
    if (!task.slope) {
      found.push_back(moved(task, form, grown(task, form, pairs, interruption), interruption));
    }
    return frequencies_[key] = std::move(found);
  }

  // Amplitudes in units of the slope, rounded to what the rotation keeps of them.
  const std::vector<double>& amplitudes(const HeadTask& task, Form form,
                                        const std::vector<double>& thetas,
                                        const std::vector<double>& distances, double weight,
                                        const Interruption& interruption) {
    const Step& rotation = task.pipeline[StepName::rotation];
    const int precision = rotation ? rotation->precision : 53;
    int exponent = 0;
    const double fraction = std::frexp(component_unit(task), &exponent);
    const auto key = std::make_tuple(number_of(task), form, thetas, precisions_of(task), weight,
                                     precision, fraction);
    const auto known = amplitudes_.find(key);
    if (known != amplitudes_.end()) return known->second;
    // To so many bits: the range is another matter.
    const auto rounded = [&](double x) {
      int e = 0;
      const double bits = std::frexp(x * fraction, &e);
      return std::ldexp(std::nearbyint(std::ldexp(bits, precision)), e - precision) / fraction;
    };
    return amplitudes_[key] =
               fit(task, form, thetas, distances, weight).rounded_fit(rounded, interruption);
  }

  // The frequencies of a grid that a fit may use, best first: see DesignSearch::best.
  const std::vector<std::vector<double>>& grid_choices(const HeadTask& task,
                                                       const SearchOptions& options, int pairs,
                                                       const Interruption& interruption) {
    const auto key = std::make_tuple(number_of(task), pairs, precisions_of(task));
    const auto known = choices_.find(key);
    if (known != choices_.end()) return known->second;
    const auto thetas = slowest_first(options);
    const std::size_t count = std::min(thetas.size(), static_cast<std::size_t>(pairs));
    return choices_[key] = chosen_from_grid(task, thetas, count, interruption);
  }

  double grid_limit(const HeadTask& task, const SearchOptions& options,
                    const Interruption& interruption) {
    const std::size_t number = number_of(task);
    const auto known = limits_.find(number);
    if (known != limits_.end()) return known->second;
    return limits_[number] =
               fit(task, full_form(task), slowest_first(options), all_distances(task), 0)
                   .fit(interruption)
                   .lower_bound;
  }

 private:
  static std::vector<double> slowest_first(const SearchOptions& options) {
    if (options.grid.empty()) throw std::invalid_argument("a grid needs at least one frequency");
    std::vector<double> thetas;
    for (const Algebraic& theta : options.grid) thetas.push_back(theta.to_double());
    std::sort(thetas.begin(), thetas.end());
    return thetas;
  }

  double value_of(const HeadTask& task, Form form, const std::vector<double>& thetas,
                  const Interruption& interruption) const {
    return fit(task, form, thetas, few_distances(task)).fit(interruption).objective;
  }

  // Frequencies to begin with: psi, 2 psi, ... and, where the bias is no slope, psi, q psi, ...
  static std::vector<std::vector<double>> rows_of(const HeadTask& task, int pairs) {
    constexpr int phases = 20;
    std::vector<double> ratios;
    if (!task.slope && pairs > 1) ratios = {1.5, 2, 3, 5};
    std::vector<std::vector<double>> rows;
    for (int n = 0; n < phases; ++n) {
      const double phase = 0.05 * std::pow(std::numbers::pi / 0.05, n / (phases - 1.0));
      const double psi = phase / static_cast<double>(task.window);
      rows.emplace_back();
      for (int k = 1; k <= pairs; ++k) rows.back().push_back(k * psi);
      for (const double ratio : ratios) {
        if (psi * std::pow(ratio, pairs - 1) > std::numbers::pi) continue;
        rows.emplace_back();
        for (int k = 0; k < pairs; ++k) rows.back().push_back(psi * std::pow(ratio, k));
      }
    }
    return rows;
  }

  std::vector<double> best_of(const HeadTask& task, Form form,
                              const std::vector<std::vector<double>>& choices,
                              const Interruption& interruption) const {
    std::vector<double> best;
    double least = 0;
    for (const auto& thetas : choices) {
      const double value = value_of(task, form, thetas, interruption);
      if (best.empty() || value < least) {
        best = thetas;
        least = value;
      }
    }
    return best;
  }

  std::vector<double> best_of_rows(const HeadTask& task, Form form, int pairs,
                                   const Interruption& interruption) const {
    return best_of(task, form, rows_of(task, pairs), interruption);
  }

  // These frequencies and the one of others that helps the most.
  std::vector<double> with_one_more(const HeadTask& task, Form form,
                                    const std::vector<double>& thetas,
                                    const std::vector<double>& others,
                                    const Interruption& interruption) const {
    std::vector<std::vector<double>> choices;
    for (const double theta : others) {
      if (std::find(thetas.begin(), thetas.end(), theta) != thetas.end()) continue;
      choices.push_back(thetas);
      choices.back().push_back(theta);
    }
    return choices.empty() ? thetas : best_of(task, form, choices, interruption);
  }

  // One more than the best of one fewer, of any from 0.3 rad over the window to pi rad a position.
  std::vector<double> grown(const HeadTask& task, Form form, int pairs,
                            const Interruption& interruption) {
    constexpr int count = 32;
    const double slowest = std::min(0.3 / static_cast<double>(task.window), 0.3);
    std::vector<double> others;
    for (int n = 0; n < count; ++n) {
      others.push_back(slowest * std::pow(std::numbers::pi / slowest, n / (count - 1.0)));
    }
    std::vector<double> fewer;
    if (pairs > 1) {
      fewer = best_of(task, form, frequencies(task, form, pairs - 1, interruption), interruption);
    }
    return with_one_more(task, form, fewer, others, interruption);
  }

  // Moves one frequency after the other while the fit gets better.
  std::vector<double> moved(const HeadTask& task, Form form, std::vector<double> thetas,
                            const Interruption& interruption) const {
    double least = value_of(task, form, thetas, interruption);
    for (double step = 0.2; step > 0.005; step /= 2) {
      for (double& theta : thetas) {
        for (const double factor : {1 + step, 1 / (1 + step)}) {
          const double before = theta;
          theta = before * factor;
          const double value = value_of(task, form, thetas, interruption);
          if (value < least) {
            least = value;
          } else {
            theta = before;
          }
        }
      }
    }
    return thetas;
  }

  // The `count` frequencies to which a fit of these gives the most weight.
  std::vector<double> heaviest(const HeadTask& task, const std::vector<double>& thetas,
                               std::size_t count, const Interruption& interruption) const {
    const Form form = full_form(task);
    const auto found = fit(task, form, thetas, all_distances(task)).fit(interruption);
    const auto waves = static_cast<Eigen::Index>(waves_per_pair(form));
    std::vector<std::pair<double, double>> weighed;
    for (std::size_t k = 0; k < thetas.size(); ++k) {
      const auto n = waves * static_cast<Eigen::Index>(k);
      weighed.emplace_back(-found.coefficients.segment(n, waves).norm(), thetas[k]);
    }
    std::sort(weighed.begin(), weighed.end());
    std::vector<double> chosen;
    for (std::size_t k = 0; k < std::min(count, weighed.size()); ++k) {
      chosen.push_back(weighed[k].second);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  // So many of a grid, each the one that helps the most.
  std::vector<double> one_by_one(const HeadTask& task, const std::vector<double>& grid,
                                 std::size_t count, const Interruption& interruption) const {
    if (count == grid.size()) return grid;
    std::vector<double> chosen;
    while (chosen.size() < count) {
      chosen = with_one_more(task, full_form(task), chosen, grid, interruption);
    }
    return chosen;
  }

  // What is fitted, numbered: the biases of all slopes are one.
  std::size_t number_of(const HeadTask& task) {
    const Eigen::VectorXd target = target_of(task, all_distances(task));
    auto key = std::make_pair(task.window, std::vector<double>(target.begin(), target.end()));
    return numbers_.emplace(std::move(key), numbers_.size()).first->second;
  }

  std::vector<std::vector<double>> chosen_from_grid(const HeadTask& task,
                                                    const std::vector<double>& thetas,
                                                    std::size_t count,
                                                    const Interruption& interruption) const {
    constexpr std::size_t most_runs = 16, most_kept = 8;
    // Of one pair that a fit prefers to another, rounding often thinks differently.
    const std::size_t kept = std::max<std::size_t>(2, most_kept / (count * count));
    const auto distances = all_distances(task);
    std::vector<std::pair<double, std::vector<double>>> ranked;
    const auto consider = [&](const std::vector<double>& run) {
      const auto found = fit(task, full_form(task), run, distances).fit(interruption);
      ranked.emplace_back(found.objective, run);
    };
    for (std::size_t first = 0; first + count <= thetas.size() && first < most_runs; ++first) {
      const auto begin = thetas.begin() + static_cast<std::ptrdiff_t>(first);
      consider({begin, begin + static_cast<std::ptrdiff_t>(count)});
    }
    const std::size_t more = std::min(2 * count, thetas.size());
    const auto heaviest_of_more =
        heaviest(task, {thetas.begin(), thetas.begin() + static_cast<std::ptrdiff_t>(more)}, count,
                 interruption);
    consider(heaviest_of_more);
    if (!task.slope) consider(one_by_one(task, thetas, count, interruption));
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::vector<double>> best;
    for (const auto& [value, run] : ranked) {
      if (best.size() < kept) best.push_back(run);
    }
    // Even where its fit is not among them.
    if (task.slope) best.push_back(heaviest_of_more);
    return best;
  }

  std::map<std::pair<std::size_t, std::vector<double>>, std::size_t> numbers_;
  // By those numbers:
  std::map<std::tuple<std::size_t, Form, int, Precisions>, std::vector<std::vector<double>>>
      frequencies_;
  std::map<std::tuple<std::size_t, Form, std::vector<double>, Precisions, double, int, double>,
           std::vector<double>>
      amplitudes_;
  std::map<std::tuple<std::size_t, int, Precisions>, std::vector<std::vector<double>>> choices_;
  std::map<std::size_t, double> limits_;
};

namespace {

// The design of fitted waves.
HeadDesign fitted_design(const HeadTask& task, Method method, Form form,
                         const std::vector<double>& thetas, const std::vector<double>& amplitudes) {
  const double unit = component_unit(task);
  HeadDesign design{.method = method};
  const std::size_t waves = waves_per_pair(form);
  double greatest = 0;
  for (std::size_t n = 0; n < waves * thetas.size(); ++n) {
    greatest = std::max(greatest, std::fabs(amplitudes[n] * unit));
  }
  const auto component = [&](std::size_t n) {
    return rounded_component(task, amplitudes[n] * unit);
  };
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    const double cosine = form == Form::sines ? 0 : component(waves * k);
    const double sine = form == Form::cosines ? 0 : component(waves * k + waves - 1);
    if (cosine == 0 && sine == 0) continue;
    design.pairs.push_back(
        pair_of(Algebraic(to_rational(thetas[k])), cosine, sine, even_exponent(greatest)));
  }
  if (form != Form::sines) design.offset = -amplitudes.back() * unit_of(task);
  // A bias that is a constant is its offset, and a pair of nothing.
  if (design.pairs.empty() && !task.slope) {
    design.pairs.push_back(pair_of(Algebraic(to_rational(thetas.front())), 0, 0, 0));
  }
  return design;
}

// The grid's own frequencies for their doubles.
void take_exact_frequencies(HeadDesign& design, const std::vector<Algebraic>& grid) {
  for (RotatedPair& pair : design.pairs) {
    const double theta = pair.theta.to_double();
    pair.theta = *std::find_if(grid.begin(), grid.end(),
                               [&](const Algebraic& exact) { return exact.to_double() == theta; });
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

// Of these, the slowest that turn little over the window.
std::vector<Algebraic> turning_little(const HeadTask& task, std::vector<Algebraic> grid) {
  constexpr double little = 0.5;
  std::erase_if(grid, [&](const Algebraic& theta) {
    return theta.to_double() * static_cast<double>(task.window) > little;
  });
  std::stable_sort(grid.begin(), grid.end(), [](const Algebraic& a, const Algebraic& b) {
    return a.to_double() < b.to_double();
  });
  if (grid.size() > most_drawn_from) {
    grid.erase(grid.begin() + static_cast<std::ptrdiff_t>(most_drawn_from), grid.end());
  }
  return grid;
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
    : options_(std::move(options)), fits_(std::make_unique<Fits>()) {}
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
  Candidates candidates(group, options_, interruption);
  const auto add = [&](const std::vector<HeadDesign>& designs) {
    for (const HeadDesign& design : designs) candidates.add(design);
  };
  const auto add_fit = [&](Method method, Form form, const std::vector<double>& thetas,
                           const std::vector<double>& distances) {
    for (const double weight : price_weights) {
      const auto& amplitudes =
          fits_->amplitudes(task, form, thetas, distances, weight, interruption);
      HeadDesign design = fitted_design(task, method, form, thetas, amplitudes);
      if (method == Method::grid) take_exact_frequencies(design, options_.grid);
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
        for (const auto& thetas : fits_->grid_choices(task, options_, most_pairs, interruption)) {
          add_fit(method, full_form(task), thetas, distances);
        }
        if (task.slope) {
          add(drawn_shares(task, turning_little(task, options_.grid),
                           static_cast<std::size_t>(most_pairs), draws, options_.seed));
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
  return fits_->grid_limit(task, options_, interruption) * unit_of(task);
}

}  // namespace ropelab
