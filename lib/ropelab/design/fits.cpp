#include "ropelab/design/fits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "ropelab/design/pair_designs.hpp"

namespace ropelab {
namespace {

// The frequencies of a grid as fits take them.
std::vector<double> doubles_of(const Frequencies& grid) {
  if (grid.empty()) throw std::invalid_argument("a grid needs at least one frequency");
  std::vector<double> thetas;
  for (const Frequency& frequency : grid) thetas.push_back(frequency.theta);
  return thetas;
}

std::size_t waves_per_pair(Form form) { return form == Form::waves ? 2 : 1; }

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

Form full_form(const HeadTask& task) { return task.is_even ? Form::cosines : Form::waves; }

std::vector<Form> forms_of(const HeadTask& task) {
  if (task.slope) return {Form::sines, Form::waves};
  return {full_form(task)};
}

std::vector<double> all_distances(const HeadTask& task) {
  std::vector<double> distances(task.window);
  for (std::size_t d = 0; d < task.window; ++d) distances[d] = static_cast<double>(d);
  return of_both_sides(task, std::move(distances));
}

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

Fits::Precisions Fits::precisions_of(const HeadTask& task) {
  Precisions precisions{static_cast<int>(task.context)};
  for (const StepName step : rounded_steps()) {
    precisions.push_back(task.pipeline[step] ? task.pipeline[step]->precision : 0);
  }
  return precisions;
}

WaveFit Fits::fit(const HeadTask& task, Form form, const std::vector<double>& thetas,
                  const std::vector<double>& distances, double weight) const {
  return WaveFit(distances, target_of(task, distances), waves_of(task, form, thetas, weight));
}

const std::vector<std::vector<double>>& Fits::frequencies(const HeadTask& task, Form form,
                                                          int pairs,
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

const std::vector<double>& Fits::amplitudes(const HeadTask& task, Form form,
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

const std::vector<std::vector<double>>& Fits::grid_choices(const HeadTask& task,
                                                           const Frequencies& grid, int pairs,
                                                           const Interruption& interruption) {
  const auto key = std::make_tuple(number_of(task), pairs, precisions_of(task));
  const auto known = choices_.find(key);
  if (known != choices_.end()) return known->second;
  const auto thetas = doubles_of(grid);
  const std::size_t count = std::min(thetas.size(), static_cast<std::size_t>(pairs));
  return choices_[key] = chosen_from_grid(task, thetas, count, interruption);
}

double Fits::grid_limit(const HeadTask& task, const Frequencies& grid,
                        const Interruption& interruption) {
  const std::size_t number = number_of(task);
  auto known = limits_.find(number);
  if (known == limits_.end()) {
    const WaveFit all = fit(task, full_form(task), doubles_of(grid), all_distances(task), 0);
    known = limits_.emplace(number, all.fit(interruption).lower_bound).first;
  }
  return known->second * unit_of(task);
}

double Fits::value_of(const HeadTask& task, Form form, const std::vector<double>& thetas,
                      const Interruption& interruption) const {
  return fit(task, form, thetas, few_distances(task)).fit(interruption).objective;
}

std::vector<std::vector<double>> Fits::rows_of(const HeadTask& task, int pairs) {
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

std::vector<double> Fits::best_of(const HeadTask& task, Form form,
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

std::vector<double> Fits::best_of_rows(const HeadTask& task, Form form, int pairs,
                                       const Interruption& interruption) const {
  return best_of(task, form, rows_of(task, pairs), interruption);
}

std::vector<double> Fits::with_one_more(const HeadTask& task, Form form,
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

std::vector<double> Fits::grown(const HeadTask& task, Form form, int pairs,
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

std::vector<double> Fits::moved(const HeadTask& task, Form form, std::vector<double> thetas,
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

std::vector<double> Fits::heaviest(const HeadTask& task, const std::vector<double>& thetas,
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

std::vector<double> Fits::one_by_one(const HeadTask& task, const std::vector<double>& grid,
                                     std::size_t count, const Interruption& interruption) const {
  if (count == grid.size()) return grid;
  std::vector<double> chosen;
  while (chosen.size() < count) {
    chosen = with_one_more(task, full_form(task), chosen, grid, interruption);
  }
  return chosen;
}

std::size_t Fits::number_of(const HeadTask& task) {
  const Eigen::VectorXd target = target_of(task, all_distances(task));
  auto key = std::make_pair(task.window, std::vector<double>(target.begin(), target.end()));
  return numbers_.emplace(std::move(key), numbers_.size()).first->second;
}

std::vector<std::vector<double>> Fits::chosen_from_grid(const HeadTask& task,
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

}  // namespace ropelab
