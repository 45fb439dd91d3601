// What fits of waves find, as searches use it; internal to this room.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "ropelab/design/frequencies.hpp"
#include "ropelab/design/head_design.hpp"
#include "ropelab/design/wave_fit.hpp"

namespace ropelab {

// What the pairs of a fit may add: sines alone, cosines and a constant, or all of them.
enum class Form { sines, cosines, waves };

// With a constant.
Form full_form(const HeadTask& task);
// Those that are worth a try.
std::vector<Form> forms_of(const HeadTask& task);

// Distances that a fit looks at, of both signs where keys ahead have other biases.
std::vector<double> all_distances(const HeadTask& task);
// Those that do for smooth functions: dense at both ends.
std::vector<double> few_distances(const HeadTask& task);

// What fits have found, to be used again: for another slope, or for more pairs.
class Fits {
 public:
  // The best frequencies of a fit of so many pairs, as they were chosen from a row and as they
  // were after being moved; where the bias is no slope, also those of fewer with one more, moved.
  const std::vector<std::vector<double>>& frequencies(const HeadTask& task, Form form, int pairs,
                                                      const Interruption& interruption);

  // Amplitudes in units of the slope, rounded to what the rotation keeps of them.
  const std::vector<double>& amplitudes(const HeadTask& task, Form form,
                                        const std::vector<double>& thetas,
                                        const std::vector<double>& distances, double weight,
                                        const Interruption& interruption);

  // The frequencies of a grid that a fit may use, best first: see DesignSearch::best.
  const std::vector<std::vector<double>>& grid_choices(const HeadTask& task,
                                                       const Frequencies& grid, int pairs,
                                                       const Interruption& interruption);

  // What DesignSearch::grid_limit says.
  double grid_limit(const HeadTask& task, const Frequencies& grid,
                    const Interruption& interruption);

 private:
  // All that the price of amplitudes depends on but theta.
  using Precisions = std::vector<int>;
  static Precisions precisions_of(const HeadTask& task);

  WaveFit fit(const HeadTask& task, Form form, const std::vector<double>& thetas,
              const std::vector<double>& distances, double weight = 1) const;
  double value_of(const HeadTask& task, Form form, const std::vector<double>& thetas,
                  const Interruption& interruption) const;

  // Frequencies to begin with: psi, 2 psi, ... and, where the bias is no slope, psi, q psi, ...
  static std::vector<std::vector<double>> rows_of(const HeadTask& task, int pairs);

  std::vector<double> best_of(const HeadTask& task, Form form,
                              const std::vector<std::vector<double>>& choices,
                              const Interruption& interruption) const;

  std::vector<double> best_of_rows(const HeadTask& task, Form form, int pairs,
                                   const Interruption& interruption) const;

  // These frequencies and the one of others that helps the most.
  std::vector<double> with_one_more(const HeadTask& task, Form form,
                                    const std::vector<double>& thetas,
                                    const std::vector<double>& others,
                                    const Interruption& interruption) const;

  // One more than the best of one fewer, of any from 0.3 rad over the window to pi rad a position.
  std::vector<double> grown(const HeadTask& task, Form form, int pairs,
                            const Interruption& interruption);

  // Moves one frequency after the other while the fit gets better.
  std::vector<double> moved(const HeadTask& task, Form form, std::vector<double> thetas,
                            const Interruption& interruption) const;

  // The `count` frequencies to which a fit of these gives the most weight.
  std::vector<double> heaviest(const HeadTask& task, const std::vector<double>& thetas,
                               std::size_t count, const Interruption& interruption) const;

  // So many of a grid, each the one that helps the most.
  std::vector<double> one_by_one(const HeadTask& task, const std::vector<double>& grid,
                                 std::size_t count, const Interruption& interruption) const;

  // What is fitted, numbered: the biases of all slopes are one.
  std::size_t number_of(const HeadTask& task);

  std::vector<std::vector<double>> chosen_from_grid(const HeadTask& task,
                                                    const std::vector<double>& thetas,
                                                    std::size_t count,
                                                    const Interruption& interruption) const;

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

// The design of fitted waves.
HeadDesign fitted_design(const HeadTask& task, Method method, Form form,
                         const std::vector<double>& thetas, const std::vector<double>& amplitudes);

}  // namespace ropelab
