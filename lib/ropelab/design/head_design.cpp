#include "ropelab/design/head_design.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/design/both_sides.hpp"
#include "ropelab/design/dice.hpp"
#include "ropelab/design/error_range.hpp"
#include "ropelab/design/row_errors.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/errors/exact_errors.hpp"
#include "ropelab/errors/weights.hpp"

namespace ropelab {
namespace {

DistanceFunction target(const HeadTask& task, const HeadDesign& design) {
  return design.offset == 0 ? task.bias : shifted(task.bias, design.offset);
}

DistanceFunction simulated(const HeadTask& task, const HeadDesign& design) {
  if (design.pairs.empty()) return target(task, design);
  return simulated_by(design.pairs, scale_of(task));
}

// At the positions first ... first + count - 1.
ScoreTable products_at(const HeadTask& task, const HeadDesign& design, std::size_t first,
                       std::size_t count) {
  const auto first_position = static_cast<long long>(first);
  if (design.pairs.empty()) {
    return factor_table(task.pipeline, step_per_position(task), design.factor_terms,
                        design.unit_exponent, first_position, count);
  }
  return score_table(task.pipeline, design.pairs, first_position, count);
}

ScoreTable products(const HeadTask& task, const HeadDesign& design) {
  return products_at(task, design, 0, task.context);
}

// F(i,j) = round(B(d)), in the accumulation's format.
std::vector<DoubleDouble> native_scores(const HeadTask& task, const DistanceFunction& bias) {
  const Step& accumulation = task.pipeline[StepName::accumulation];
  std::vector<DoubleDouble> scores(task.window);
  for (std::size_t d = 0; d < scores.size(); ++d) {
    const DoubleDouble b = bias.quick(d);
    scores[d] = accumulation ? DoubleDouble{round_to(*accumulation, b.high, b.low), 0} : b;
  }
  return scores;
}

Measurement measure_scores(const HeadTask& task, const HeadDesign& design,
                           const BiasReference& reference, const Interruption& interruption) {
  if (design.method == Method::native) {
    return measure_by_distance(native_scores(task, target(task, design)), task.context, reference,
                               task.visible);
  }
  if (design.pairs.size() == 1) {
    return measure_rotated_pair(task.pipeline, scale_of(task),
                                rotated_table(task.pipeline, design.pairs[0], 0, task.context),
                                reference, task.visible, interruption);
  }
  return measure_all_products(task.pipeline, scale_of(task), products(task, design), reference,
                              task.visible, interruption);
}

// Runs of positions, the first and the last among them, that stand for all in a rough sample: in a
// long context tables of all positions would take longer than the sample itself.
class Runs {
 public:
  // One run, of all positions.
  explicit Runs(const HeadTask& task) : Runs(task.context, 1, task.context) {}
  // As a sample of so many pairs needs them.
  static Runs for_sample(const HeadTask& task, std::uint64_t sample) {
    constexpr std::size_t pairs_of_position = 8;
    const std::size_t length = sample / pairs_of_position / many;
    return task.context >= 2 * many * length ? Runs(task.context, many, length) : Runs(task);
  }

  std::size_t count() const { return count_; }
  std::size_t length() const { return length_; }
  std::size_t start(std::size_t run) const {
    return count_ == 1 ? 0 : run * (context_ - length_) / (count_ - 1);
  }

 private:
  static constexpr std::size_t many = 8;

  Runs(std::size_t context, std::size_t count, std::size_t length)
      : context_(context), count_(count), length_(length) {}

  std::size_t context_, count_, length_;
};

ScoreTable products_of(const HeadTask& task, const HeadDesign& design, const Runs& runs) {
  ScoreTable all;
  const auto append = [](std::vector<ComponentTable>& to, const std::vector<ComponentTable>& from) {
    to.resize(from.size());
    for (std::size_t term = 0; term < from.size(); ++term) {
      to[term].high.insert(to[term].high.end(), from[term].high.begin(), from[term].high.end());
      to[term].low.insert(to[term].low.end(), from[term].low.begin(), from[term].low.end());
    }
  };
  for (std::size_t run = 0; run < runs.count(); ++run) {
    const ScoreTable part = products_at(task, design, runs.start(run), runs.length());
    append(all.query, part.query);
    append(all.key, part.key);
  }
  return all;
}

// A place in a run.
struct InRun {
  std::size_t run, place;
};

// F of one pair after the other.
class Scores {
 public:
  Scores(const HeadTask& task, const HeadDesign& design) : Scores(task, design, Runs(task)) {}
  Scores(const HeadTask& task, const HeadDesign& design, const Runs& runs) : runs_(runs) {
    if (design.method == Method::native) {
      by_distance_ = native_scores(task, target(task, design));
    } else {
      products_.emplace(task.pipeline, scale_of(task), products_of(task, design, runs));
    }
  }

  std::size_t distance(const InRun& query, const InRun& key) const {
    return runs_.start(query.run) + query.place - runs_.start(key.run) - key.place;
  }
  DoubleDouble operator()(const InRun& query, const InRun& key) const {
    return products_ ? products_->score(row(query), row(key)) : by_distance_[distance(query, key)];
  }
  // Where there is one run.
  DoubleDouble operator()(std::size_t i, std::size_t j) const {
    return (*this)(InRun{0, i}, InRun{0, j});
  }

 private:
  std::size_t row(const InRun& position) const {
    return position.run * runs_.length() + position.place;
  }

  Runs runs_;
  std::vector<DoubleDouble> by_distance_;
  std::optional<ContentScores> products_;
};

// Pairs of a query and a key it sees, the first of which is the furthest of all: one in three of
// any distance, one within a run, one within a run at a distance of any magnitude.
class RoughPairs {
 public:
  RoughPairs(const Runs& runs, std::uint64_t seed) : runs_(runs), dice_(seed) {}

  std::pair<InRun, InRun> next() {
    const std::uint64_t n = drawn_++;
    if (n == 0) return {{runs_.count() - 1, runs_.length() - 1}, {0, 0}};
    const InRun query{dice_.below(runs_.count()), dice_.below(runs_.length())};
    if (n % 3 == 0) {
      const std::size_t run = dice_.below(query.run + 1);
      return {query, {run, dice_.below(run == query.run ? query.place + 1 : runs_.length())}};
    }
    const std::size_t most = n % 3 == 1
                                 ? query.place + 1
                                 : std::min(query.place + 1, std::size_t{1} << dice_.below(bits_));
    return {query, {query.run, query.place - dice_.below(most)}};
  }

 private:
  const Runs& runs_;
  Dice dice_;
  std::size_t bits_ = static_cast<std::size_t>(std::bit_width(runs_.length()));
  std::uint64_t drawn_ = 0;
};

// With doubles for frequencies: an exact one is evaluated to many digits for each run of a table.
HeadDesign with_double_frequencies(HeadDesign design) {
  for (RotatedPair& pair : design.pairs) {
    pair.theta = Algebraic(to_rational(pair.theta.to_double()));
  }
  return design;
}

// The errors of so many pairs, or up to the first with which the value of the range is above
// `enough`. Empty where a score is not finite.
template <class Value>
std::optional<ErrorRange> rough_errors(const HeadTask& task, const HeadDesign& design,
                                       std::size_t last_distance, const Sample& sample,
                                       double enough, const Value& value) {
  const DistanceFunction bias = target(task, design);
  const Runs runs = Runs::for_sample(task, sample.pairs);
  const Scores scores(task, with_double_frequencies(design), runs);
  RoughPairs pairs(runs, sample.seed);
  ErrorRange errors;
  for (std::uint64_t n = 0; n < sample.pairs; ++n) {
    const auto [query, key] = pairs.next();
    const std::size_t d = scores.distance(query, key);
    if (d > last_distance) continue;
    const DoubleDouble score = scores(query, key);
    if (!std::isfinite(score.high)) return std::nullopt;
    errors.add((score - bias.quick(d)).high);
    if (value(errors) > enough) break;
  }
  return errors;
}

std::optional<double> total_variation_of(const Scores& scores, const DistanceFunction& bias,
                                         const HeadTask& task) {
  const std::size_t last = task.context - 1;
  std::vector<DoubleDouble> native(task.window), computed(task.window);
  for (std::size_t d = 0; d < task.window; ++d) {
    native[d] = bias.quick(d);
    computed[d] = scores(last, last - d);
    if (!std::isfinite(computed[d].high)) return std::nullopt;
  }
  return total_variation(softmax(native), softmax(computed));
}

DesignErrors measure_behind(const HeadTask& task, const HeadDesign& design,
                            const Interruption& interruption) {
  FittedReference reference(simulated(task, design), target(task, design), task.window,
                            interruption);
  if (task.errors_in_slopes) reference.tell_errors_in(ErrorUnit(task.slope.value()));
  return {fitted_truncation(reference, task.context),
          measure_scores(task, design, reference, interruption),
          total_variation(reference.native_weights(), softmax(reference.simulated()))};
}

SquaresOfDiagonal squares_of_diagonal(const HeadTask& task, const HeadDesign& design) {
  const Scores scores(task, design);
  const DoubleDouble bias = target(task, design).quick(0);
  const DoubleDouble s = simulated(task, design).quick(0);
  SquaresOfDiagonal squares;
  squares.pairs = task.context;
  squares.truncation = (s - bias) * (s - bias) * static_cast<double>(task.context);
  for (std::size_t i = 0; i < task.context; ++i) {
    const DoubleDouble f = scores(i, i);
    if (!std::isfinite(f.high)) continue;
    ++squares.finite_pairs;
    squares.rounding = squares.rounding + (f - s) * (f - s);
    squares.total = squares.total + (f - bias) * (f - bias);
  }
  return squares;
}

std::size_t last_visible(const DistanceFunction& bias, std::size_t window) {
  const Real least = bias.exact(0) - 16 * ln2();
  const DoubleDouble quick_least = to_double_double(least);
  for (std::size_t d = window - 1; d > 0; --d) {
    const double above = (bias.quick(d) - quick_least).high;
    // What double-doubles do not decide, Reals do.
    const bool is_close =
        std::fabs(above) <= bias.error(d) + 0x1p-100 * std::fabs(quick_least.high);
    if (is_close ? bias.exact(d) >= least : above > 0) return d;
  }
  return 0;
}

bool are_equal(const DistanceFunction& a, const DistanceFunction& b, std::size_t window) {
  for (std::size_t d = 0; d < window; ++d) {
    if (!(a.quick(d) == b.quick(d))) return false;
  }
  return true;
}

// Of the objectives that are no largest error of computed scores.
std::optional<double> rough_behind(const HeadTask& task, const HeadDesign& design,
                                   Objective objective, const Sample& sample,
                                   const Interruption& interruption) {
  interruption.check();
  // Neither looks at the scores of every query, and so at those that overflow.
  const auto any = [](const ErrorRange&) { return 0.0; };
  if (!rough_errors(task, design, task.window - 1, sample, 1, any)) return std::nullopt;
  const DistanceFunction bias = target(task, design);
  if (objective == Objective::weights) return total_variation_of(Scores(task, design), bias, task);
  return fitted_truncation(FittedReference(simulated(task, design), bias, task.window),
                           task.context)
      .maximum;
}

template <class Value>
std::optional<ErrorRange> rough_errors_of_both(const HeadTask& task, const HeadDesign& design,
                                               Objective objective, const Sample& sample,
                                               double enough, const Value& value,
                                               const Interruption& interruption) {
  interruption.check();
  auto errors = rough_errors(task, design, last_distance(task, objective), sample, enough, value);
  if (!errors || !task.ahead || value(*errors) > enough) return errors;
  const HeadTask ahead = seen_by_keys(task);
  const auto errors_ahead = rough_errors(ahead, exchanged(design), last_distance(ahead, objective),
                                         sample, enough, value);
  if (!errors_ahead) return std::nullopt;
  errors->add(*errors_ahead);
  return errors;
}

}  // namespace

HeadTask alibi_task(const Algebraic& slope, long long head_dim, std::size_t context,
                    std::size_t window, const Pipeline& pipeline) {
  return {linear_bias(slope),
          slope,
          visible_reach(slope, window - 1),
          head_dim,
          context,
          window,
          pipeline};
}

Algebraic step_per_position(const HeadTask& task) {
  return task.slope.value() * square_root(Rational(task.head_dim));
}

Algebraic scale_of(const HeadTask& task) {
  return Algebraic() / square_root(Rational(task.head_dim));
}

HeadTask task_of_bias(const RelativeBias& bias, long long head_dim, std::size_t context,
                      std::size_t window, const Pipeline& pipeline) {
  if (bias.slope) return alibi_task(*bias.slope, head_dim, context, window, pipeline);
  HeadTask task{bias.behind, {},      last_visible(bias.behind, window), head_dim, context,
                window,      pipeline};
  task.ahead = bias.ahead;
  if (bias.ahead) {
    task.visible_ahead = last_visible(*bias.ahead, window);
    task.is_even = are_equal(bias.behind, *bias.ahead, window);
  }
  return task;
}

DesignErrors measure(const HeadTask& task, const HeadDesign& design,
                     const Interruption& interruption) {
  const DesignErrors behind = measure_behind(task, design, interruption);
  if (!task.ahead) return behind;
  const DesignErrors ahead = measure_behind(seen_by_keys(task), exchanged(design), interruption);
  return of_both_sides(behind, ahead, squares_of_diagonal(task, design));
}

std::optional<double> rough_objective(const HeadTask& task, const HeadDesign& design,
                                      Objective objective, const Sample& sample, double enough,
                                      const Interruption& interruption) {
  if (objective == Objective::total || objective == Objective::visible) {
    const bool is_free = may_have_offset(task, design.method, objective);
    const auto value = [is_free](const ErrorRange& errors) { return errors.value(is_free); };
    const auto errors =
        rough_errors_of_both(task, design, objective, sample, enough, value, interruption);
    return errors ? std::optional(value(*errors)) : std::nullopt;
  }
  const auto behind = rough_behind(task, design, objective, sample, interruption);
  if (!behind || !task.ahead || objective == Objective::weights) return behind;
  const auto ahead =
      rough_behind(seen_by_keys(task), exchanged(design), objective, sample, interruption);
  return ahead ? std::max(behind, ahead) : std::nullopt;
}

bool may_have_offset(const HeadTask& task, Method method, Objective objective) {
  return task.slope && (method == Method::multi_pair || method == Method::grid) &&
         come_by_rows(task, objective) && are_pairs_few(task);
}

HeadDesign with_best_offset(const HeadTask& task, HeadDesign design, Objective objective,
                            const Interruption& interruption) {
  constexpr double worth_it = 0.999;
  if (!may_have_offset(task, design.method, objective)) return design;
  const RowErrors rows(task, objective, design.offset);
  const ErrorRange errors = rows.of_all(rows.scores(products(task, design)), true,
                                        std::numeric_limits<double>::infinity(), interruption)
                                .errors;
  if (errors.is_finite() && errors.half_width() < worth_it * errors.largest()) {
    design.offset += errors.middle();
  }
  return design;
}

std::optional<double> objective_of(const DesignErrors& errors, Objective objective) {
  const PairErrors& pairs = errors.measurement.errors;
  if (pairs.nonfinite_pairs > 0) return std::nullopt;
  switch (objective) {
    case Objective::truncation:
      return errors.truncation.maximum;
    case Objective::total:
      return pairs.total_maximum;
    case Objective::visible:
      return pairs.visible_maximum;
    case Objective::weights:
      return errors.measurement.weights_total_variation;
  }
  return std::nullopt;
}

bool compares_slopes(const HeadTask& task, Objective objective) {
  return task.slope && objective != Objective::weights;
}

double comparable(const HeadTask& task, Objective objective, double value) {
  return compares_slopes(task, objective) ? value / task.slope->to_double() : value;
}

std::optional<double> comparable_objective(const HeadTask& task, const DesignErrors& errors,
                                           Objective objective) {
  const auto value = objective_of(errors, objective);
  if (!value || task.errors_in_slopes) return value;
  return comparable(task, objective, *value);
}

}  // namespace ropelab
