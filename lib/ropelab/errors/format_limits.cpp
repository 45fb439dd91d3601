#include "ropelab/errors/format_limits.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/content_limits.hpp"
#include "ropelab/errors/error_measures.hpp"
#include "ropelab/errors/pair_errors.hpp"

namespace ropelab {
namespace {

using Value = StepValue<DoubleDouble>;

RotatedTable table_of(const LimitsInputs& inputs) {
  return rotated_table(inputs.pipeline, inputs.construction, inputs.first_position, inputs.context);
}

long long position_of(const LimitsInputs& inputs, std::size_t row) {
  return inputs.first_position + static_cast<long long>(row);
}

ContentScores scores_among_content(const LimitsInputs& inputs) {
  return {inputs.pipeline, inputs.construction, inputs.first_position, inputs.context,
          *inputs.content};
}

Value magnitude(const Value& value) {
  if (const double* rounded = std::get_if<double>(&value)) return std::abs(*rounded);
  return absolute(std::get<DoubleDouble>(value));
}

Value larger(const Value& a, const Value& b) { return as_exact(a) < as_exact(b) ? b : a; }

// Goes over the rows in order. The products of a row are largest for the largest components of
// the keys so far; since rounding keeps order, they tell of all of them, and their sum and its
// score bound those of every pair. Products of content overflow in no format.
class OverflowSearch {
 public:
  OverflowSearch(const LimitsInputs& inputs, const RotatedTable& table)
      : inputs_(inputs), table_(table), scale_(score_scale(inputs.construction)) {}

  std::optional<FirstOverflow> run(const Interruption& interruption) {
    if (const auto what = of_constants()) return FirstOverflow{inputs_.first_position, *what};
    for (std::size_t row = 0; row < table_.size(); ++row) {
      if (row % 1024 == 0) interruption.check();
      const auto what = in_row(row);
      if (!what) continue;
      if (const auto before = among_content(row, interruption)) return before;
      return FirstOverflow{position_of(inputs_, row), *what};
    }
    return among_content(table_.size(), interruption);
  }

 private:
  using What = std::optional<std::string_view>;

  What of_constants() const {
    const Construction& construction = inputs_.construction;
    const auto overflows = [&](StepName name, const Algebraic& x) {
      const Step& step = inputs_.pipeline[name];
      return step && !std::isfinite(round_to(*step, x));
    };
    const Algebraic query_part = amplitude(construction) / construction.key_part;
    for (const Algebraic& part : {query_part, construction.key_part}) {
      if (overflows(StepName::rotation, part)) return "N";
    }
    if (overflows(StepName::theta, construction.theta)) return "theta";
    return std::nullopt;
  }

  What in_row(std::size_t row) {
    const auto query = table_.query(row), key = table_.key(row);
    for (const Value& component : {query.first, query.second, key.first, key.second}) {
      if (!is_finite(component)) return of_component(row);
    }
    greatest_key_ = {larger(magnitude(key.first), greatest_key_.first),
                     larger(magnitude(key.second), greatest_key_.second)};
    const auto bound = score_steps<DoubleDouble>(
        inputs_.pipeline, scale_, {magnitude(query.first), magnitude(query.second)}, greatest_key_);
    if (!is_finite(bound.first_product) || !is_finite(bound.second_product)) return "product";
    if (inputs_.content) {
      if (!row_in_doubt_ && !surely_finite_among_content(row)) row_in_doubt_ = row;
      return std::nullopt;
    }
    if (!is_finite(bound.accumulated) || !is_finite(bound.scaled)) return of_sums(row);
    return std::nullopt;
  }

  // Sine and cosine of a finite phase are finite.
  std::string_view of_component(std::size_t row) const {
    const ExactInput theta(inputs_.construction.theta);
    const auto angle =
        angle_steps<Real>(inputs_.pipeline, theta, static_cast<double>(position_of(inputs_, row)));
    if (!is_finite(angle.position)) return "position";
    return is_finite(angle.phase) && is_finite(angle.cosine) ? "component" : "phase";
  }

  What of_sums(std::size_t row) const {
    What what;
    for (std::size_t j = 0; j <= row; ++j) {
      const auto steps =
          score_steps<DoubleDouble>(inputs_.pipeline, scale_, table_.query(row), table_.key(j));
      if (!is_finite(steps.accumulated)) return "sum";
      if (!is_finite(steps.scaled)) what = "score";
    }
    return what;
  }

  std::vector<double> content_magnitudes(Role role, std::size_t row) const {
    auto content = content_vector(inputs_.content->seed, role, position_of(inputs_, row),
                                  static_cast<std::size_t>(inputs_.construction.head_dim),
                                  inputs_.pipeline[StepName::storage]);
    for (double& x : content) x = std::abs(x);
    return content;
  }

  // By the sum of the largest magnitudes so far, added and rounded as any other.
  bool surely_finite_among_content(std::size_t row) {
    const auto key = content_magnitudes(Role::key, row);
    greatest_content_key_.resize(key.size());
    for (std::size_t n = 0; n < key.size(); ++n) {
      greatest_content_key_[n] = std::max(greatest_content_key_[n], key[n]);
    }
    const auto query = table_.query(row);
    return is_finite(score_among_content<DoubleDouble>(
        inputs_.pipeline, scale_, inputs_.content->place,
        Components<DoubleDouble>{magnitude(query.first), magnitude(query.second)}, greatest_key_,
        content_magnitudes(Role::query, row), greatest_content_key_));
  }

  // The first sum or score that is not finite, of the rows before `end`.
  std::optional<FirstOverflow> among_content(std::size_t end,
                                             const Interruption& interruption) const {
    if (!row_in_doubt_) return std::nullopt;
    const ContentScores scores = scores_among_content(inputs_);
    const auto row = first_row_not_finite(scores, *row_in_doubt_, end, interruption);
    if (!row) return std::nullopt;
    bool is_sum = false;
    for (std::size_t j = 0; j <= *row; ++j) is_sum = is_sum || !is_finite(scores.sum(*row, j));
    return FirstOverflow{position_of(inputs_, *row), is_sum ? "sum" : "score"};
  }

  const LimitsInputs& inputs_;
  const RotatedTable& table_;
  ExactInput scale_;
  Components<DoubleDouble> greatest_key_{0.0, 0.0};
  // Among content.
  std::vector<double> greatest_content_key_;
  std::optional<std::size_t> row_in_doubt_;  // the first whose sums and scores may overflow
};

ComponentTable first_of(const ComponentTable& column, std::size_t count) {
  const auto cut = [count](const std::vector<double>& values) {
    const auto size = std::min(count, values.size());
    return std::vector<double>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
  };
  return {cut(column.high), cut(column.low)};
}

RotatedTable first_of(const RotatedTable& table, std::size_t count) {
  return {first_of(table.query_first, count), first_of(table.query_second, count),
          first_of(table.key_first, count), first_of(table.key_second, count)};
}

ComponentTable negated(ComponentTable column) {
  for (double& x : column.high) x = -x;
  for (double& x : column.low) x = -x;
  return column;
}

// Looks for equal scores of neighbouring keys; every score of the table is finite.
class MergeSearch {
 public:
  MergeSearch(const LimitsInputs& inputs, const RotatedTable& table,
              const Interruption& interruption)
      : pipeline_(inputs.pipeline),
        scale_(score_scale(inputs.construction)),
        table_(table),
        simulated_(DistanceReference(inputs.construction, table.size(), interruption).simulated()),
        interruption_(interruption) {}

  // The first row with such a pair.
  std::optional<std::size_t> run() const {
    std::size_t begin = 0;
    while (begin < table_.size()) {
      const std::size_t end = std::min(table_.size(), std::max<std::size_t>(64, 2 * begin));
      if (has_equal_within(end)) return first_row(begin, end);
      begin = end;
    }
    return std::nullopt;
  }

 private:
  // Keys that are quicker scored one by one than by measuring all pairs again.
  static constexpr std::size_t most_to_scan = 1 << 20;

  std::uint64_t order_lost(const RotatedTable& table) const {
    std::uint64_t lost = 0;
    for (const Diagonal& diagonal :
         measure_diagonals(pipeline_, scale_, table, simulated_, interruption_)) {
      lost += diagonal.order_lost;
    }
    return lost;
  }

  // Rounding to nearest knows no sign, so that a negated query turns every score and every order
  // around: what is lost both ways is equal.
  bool has_equal_within(std::size_t count) const {
    RotatedTable table = first_of(table_, count);
    const std::uint64_t lost = order_lost(table), neighbours = count * (count - 1) / 2;
    if (lost == 0) return false;
    table.query_first = negated(std::move(table.query_first));
    table.query_second = negated(std::move(table.query_second));
    return lost + order_lost(table) > neighbours;
  }

  // One of good ... bad-1.
  std::size_t first_row(std::size_t good, std::size_t bad) const {
    while (bad - good > 1 && (bad - good) * bad > most_to_scan) {
      const std::size_t middle = good + (bad - good) / 2;
      (has_equal_within(middle) ? bad : good) = middle;
    }
    while (good < bad - 1 && !has_equal_in(good)) ++good;
    return good;
  }

  bool has_equal_in(std::size_t row) const {
    DoubleDouble last = score_at(pipeline_, scale_, table_, row, 0);
    for (std::size_t j = 1; j <= row; ++j) {
      const DoubleDouble score = score_at(pipeline_, scale_, table_, row, j);
      if (score == last) return true;
      last = score;
    }
    return false;
  }

  const Pipeline& pipeline_;
  ExactInput scale_;
  const RotatedTable& table_;
  std::vector<DoubleDouble> simulated_;
  const Interruption& interruption_;
};

// The pairs of one construction, held to a tolerance: those at distances below that of the
// reference.
class HeldPairs {
 public:
  HeldPairs(const LimitsInputs& inputs, std::size_t distances, const Real& tolerance,
            const Interruption& interruption)
      : pipeline_(inputs.pipeline),
        scale_(score_scale(inputs.construction)),
        table_(table_of(inputs)),
        reference_(inputs.construction, distances, interruption),
        bias_(reference_, Against::bias),
        tolerance_(tolerance),
        quick_tolerance_(to_double(tolerance)),
        interruption_(interruption) {}

  // The distances at which a pair of the first `context` positions exceeds the tolerance.
  std::vector<std::size_t> exceeded_at(std::size_t context) const {
    const auto diagonals = measure_diagonals(pipeline_, scale_, first_of(table_, context),
                                             reference_.simulated(), interruption_);
    std::vector<std::size_t> distances;
    for (std::size_t d = 0; d < diagonals.size(); ++d) {
      const Diagonal& diagonal = diagonals[d];
      const bool within = diagonal.finite == diagonal.pairs && holds(d, diagonal.least) &&
                          holds(d, diagonal.greatest);
      if (!within) distances.push_back(d);
    }
    return distances;
  }

  // The first row, from `good` on, with a pair that exceeds the tolerance; row bad-1 or one
  // before it has one, at one of these distances.
  std::size_t first_exceeded(std::size_t good, std::size_t bad,
                             std::vector<std::size_t> distances) const {
    while (bad - good > 1 && rows_to_scan(good, bad, distances) > most_to_scan) {
      const std::size_t middle = good + (bad - good) / 2;
      auto there = exceeded_at(middle);
      if (there.empty()) {
        good = middle;
      } else {
        bad = middle;
        distances = std::move(there);
      }
    }
    return scan(good, bad, distances);
  }

 private:
  // Scores that are quicker computed one by one than by measuring all pairs again.
  static constexpr std::size_t most_to_scan = 1 << 20;

  static std::size_t rows_to_scan(std::size_t good, std::size_t bad,
                                  const std::vector<std::size_t>& distances) {
    std::size_t rows = 0;
    for (const std::size_t d : distances) rows += bad - std::max(good, d);
    return rows;
  }

  std::size_t scan(std::size_t good, std::size_t bad,
                   const std::vector<std::size_t>& distances) const {
    std::size_t first = bad - 1;
    for (const std::size_t d : distances) {
      interruption_.check();
      for (std::size_t row = std::max(good, d); row < first; ++row) {
        if (holds(d, score_at(pipeline_, scale_, table_, row, row - d))) continue;
        first = row;
      }
    }
    return first;
  }

  bool holds(std::size_t distance, DoubleDouble score) const {
    if (!std::isfinite(score.high)) return false;
    const double error = absolute(score - bias_.quick(distance)).high;
    const double slack = (error + quick_tolerance_) * 0x1p-50 + bias_.quick_error(distance);
    if (error + slack < quick_tolerance_) return true;
    if (error - slack > quick_tolerance_) return false;
    return abs(to_real(score) - bias_.exact(distance)) <= tolerance_;
  }

  const Pipeline& pipeline_;
  ExactInput scale_;
  RotatedTable table_;
  DistanceReference reference_;
  Target bias_;
  Real tolerance_;
  double quick_tolerance_;
  const Interruption& interruption_;
};

class ContextSearch {
 public:
  ContextSearch(const LimitsInputs& inputs, Fixed fixed, const Algebraic& tolerance, PairsHeld held,
                const Interruption& interruption)
      : inputs_(inputs),
        fixed_(fixed),
        tolerance_(tolerance.to_real()),
        most_distances_(held == PairsHeld::all
                            ? inputs.context
                            : visible_reach(inputs.construction.slope, inputs.context - 1) + 1),
        interruption_(interruption) {}

  std::size_t run() const {
    const std::size_t certain = certain_context();
    if (certain == inputs_.context) return certain;
    return fixed_ == Fixed::theta ? with_theta_fixed(certain) : with_max_phase_fixed(certain);
  }

 private:
  // Up to here every context is computed.
  static constexpr std::size_t last_of_all = 512;

  LimitsInputs at(std::size_t context) const {
    LimitsInputs inputs = inputs_;
    inputs.context = context;
    if (fixed_ == Fixed::max_phase) {
      const auto whole = [](std::size_t n) { return Algebraic(static_cast<long long>(n)); };
      inputs.construction.theta =
          inputs_.construction.theta * whole(inputs_.context) / whole(context);
      inputs.construction.key_part = key_part(inputs.split, amplitude(inputs.construction));
    }
    return inputs;
  }

  HeldPairs pairs_of(const LimitsInputs& inputs) const {
    return {inputs, std::min(inputs.context, most_distances_), tolerance_, interruption_};
  }

  // Whether the bounds alone hold this context, and every smaller one, to the tolerance. The
  // truncation error grows with the distance; with max_phase fixed that of a fixed distance
  // falls with the context, so that it is greatest where that distance is the last one.
  bool is_certain(std::size_t context) const {
    const LimitsInputs inputs = at(context);
    const Construction& construction = inputs.construction;
    const auto bound = rounding_bound(
        inputs.pipeline,
        {construction.theta.to_double(), amplitude(construction).to_double(),
         construction.key_part.to_double(), static_cast<double>(construction.head_dim),
         static_cast<double>(inputs.first_position), static_cast<double>(context),
         inputs.content ? std::optional(inputs.content->place) : std::nullopt, inputs.split.even});
    if (!bound) return false;
    const std::size_t longest = std::min(context, most_distances_);
    const DistanceReference greatest(at(longest).construction, 1);
    return Real(*bound) + greatest.exact_truncation(longest - 1) <= tolerance_;
  }

  // The rounding bound does not decrease with the context, unless positions begin elsewhere and
  // so turn less the longer a context is.
  std::size_t certain_context() const {
    if (fixed_ == Fixed::max_phase && inputs_.first_position > 0) return 0;
    std::size_t good = 0, bad = inputs_.context + 1;
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (is_certain(middle) ? good : bad) = middle;
    }
    return good;
  }

  // Those before the first, from `good` on, that has a pair beyond the tolerance.
  std::size_t rows_within_among_content(const LimitsInputs& inputs, std::size_t good) const {
    const DistanceReference reference(inputs.construction,
                                      std::min(inputs.context, most_distances_), interruption_);
    return first_row_beyond(tolerance_, scores_among_content(inputs), reference, good,
                            interruption_)
        .value_or(inputs.context);
  }

  std::size_t with_theta_fixed(std::size_t good) const {
    if (inputs_.content) return rows_within_among_content(inputs_, good);
    const HeldPairs pairs = pairs_of(inputs_);
    while (good < inputs_.context) {
      const std::size_t next = std::min(inputs_.context, std::max<std::size_t>(64, 2 * good));
      auto distances = pairs.exceeded_at(next);
      if (!distances.empty()) return pairs.first_exceeded(good, next, std::move(distances));
      good = next;
    }
    return good;
  }

  bool holds(std::size_t context) const {
    if (inputs_.content) return rows_within_among_content(at(context), 0) == context;
    return pairs_of(at(context)).exceeded_at(context).empty();
  }

  std::size_t with_max_phase_fixed(std::size_t good) const {
    while (good < inputs_.context) {
      const std::size_t step = good < last_of_all ? 1 : good / 8;
      const std::size_t next = std::min(inputs_.context, good + step);
      if (!holds(next)) return bisect(good, next);
      good = next;
    }
    return good;
  }

  std::size_t bisect(std::size_t good, std::size_t bad) const {
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (holds(middle) ? good : bad) = middle;
    }
    return good;
  }

  const LimitsInputs& inputs_;
  Fixed fixed_;
  Real tolerance_;
  std::size_t most_distances_;
  const Interruption& interruption_;
};

}  // namespace

std::optional<FirstOverflow> first_overflow(const LimitsInputs& inputs,
                                            const Interruption& interruption) {
  return OverflowSearch(inputs, table_of(inputs)).run(interruption);
}

std::optional<long long> first_merged_position(const LimitsInputs& inputs,
                                               const Interruption& interruption) {
  RotatedTable table = table_of(inputs);
  if (const auto overflow = OverflowSearch(inputs, table).run(interruption)) {
    table = first_of(table, static_cast<std::size_t>(overflow->position - inputs.first_position));
  }
  if (table.size() < 2) return std::nullopt;
  const auto row = inputs.content
                       ? first_row_merged(scores_among_content(inputs), table.size(), interruption)
                       : MergeSearch(inputs, table, interruption).run();
  if (!row) return std::nullopt;
  return position_of(inputs, *row);
}

std::size_t accurate_context(const LimitsInputs& inputs, Fixed fixed, const Algebraic& tolerance,
                             PairsHeld held, const Interruption& interruption) {
  return ContextSearch(inputs, fixed, tolerance, held, interruption).run();
}

}  // namespace ropelab
