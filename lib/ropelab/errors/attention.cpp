#include "ropelab/errors/attention.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "ropelab/errors/attention_statistics.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/simulation/budget.hpp"

namespace ropelab {
namespace {

using Score = StepValue<DoubleDouble>;

// By distance, as weights are.
using Scores = std::vector<DoubleDouble>;

Scores backwards(const std::vector<double>& by_key) {
  Scores by_distance(by_key.size());
  for (std::size_t d = 0; d < by_key.size(); ++d) {
    by_distance[d] = {by_key[by_key.size() - 1 - d], 0};
  }
  return by_distance;
}

// The scores that queries have under each bias.
class AttentionScores {
 public:
  AttentionScores(const AttentionInputs& inputs, const Interruption& interruption)
      : inputs_(inputs),
        interruption_(interruption),
        scale_(score_scale(construction())),
        root_(square_root(Rational(construction().head_dim))),
        added_slope_(inputs.addition == NativeAddition::after_scaling
                         ? construction().slope
                         : construction().slope * root_.algebraic()) {
    if (const Content* content = std::get_if<Content>(&inputs.content)) {
      among_components_.emplace(inputs.pipeline, construction(), inputs.first_position, context(),
                                *content);
    } else {
      table_ = rotated_table(inputs.pipeline, construction(), inputs.first_position, context());
    }
  }

  // C(row, row - d).
  Scores content(std::size_t row) const {
    if (const ContentRow* scores = std::get_if<ContentRow>(&inputs_.content)) {
      return backwards((*scores)(row));
    }
    return by_distance(row, [&](std::size_t d) {
      const ContentScore c = among_components_->content_score(row, row - d);
      return exact_sum(c.high, c.low);
    });
  }

  Scores under(AddedBias bias, std::size_t row, const Scores& content) const {
    return by_distance(row, [&](std::size_t d) {
      switch (bias) {
        case AddedBias::exact:
          break;
        case AddedBias::native:
          return native(content[d], step_negated(added(static_cast<double>(d))));
        case AddedBias::native_key:
          return native(content[d], added(static_cast<double>(position(row - d))));
        case AddedBias::pair:
          return of_pair(row, d, content[d]);
      }
      return inputs_.reference.bias(d) + content[d];
    });
  }

 private:
  const Construction& construction() const { return inputs_.reference.construction(); }
  std::size_t context() const { return inputs_.reference.context(); }
  long long position(std::size_t row) const {
    return inputs_.first_position + static_cast<long long>(row);
  }

  template <class ScoreAt>
  Scores by_distance(std::size_t row, const ScoreAt& score_at) const {
    Scores scores(row + 1);
    for (std::size_t d = 0; d <= row; ++d) {
      interruption_.check();
      scores[d] = score_at(d);
    }
    return scores;
  }

  static DoubleDouble number(const Score& score) {
    return is_finite(score) ? as_exact(score) : DoubleDouble{std::get<double>(score), 0};
  }

  // What native bias adds at so many positions, in the dtype.
  Score added(double positions) const {
    return finish<DoubleDouble>(inputs_.dtype, added_slope_.times<DoubleDouble>(positions));
  }

  DoubleDouble before_scaling(DoubleDouble content) const {
    return content * root_.times<DoubleDouble>(1);
  }

  DoubleDouble native(DoubleDouble content, const Score& bias) const {
    const Step step = inputs_.dtype;
    if (inputs_.addition == NativeAddition::after_scaling) {
      return number(step_sum<DoubleDouble>(step, content, bias));
    }
    const Score sum = step_sum<DoubleDouble>(step, before_scaling(content), bias);
    return number(step_product<DoubleDouble>(step, sum, scale_.rounded(inputs_.dtype)));
  }

  DoubleDouble of_pair(std::size_t row, std::size_t d, DoubleDouble content) const {
    if (is_exact(inputs_.pipeline)) return inputs_.reference.simulated()[d] + content;
    if (among_components_) return among_components_->score(row, row - d);
    const auto query = table_.query(row), key = table_.key(row - d);
    Accumulation<DoubleDouble> accumulation(inputs_.pipeline);
    accumulation.add(before_scaling(content), 1.0);
    accumulation.add(query.first, key.first);
    accumulation.add(query.second, key.second);
    return number(step_product(inputs_.pipeline[StepName::scaling], accumulation.sum_so_far(),
                               rounded_scale<DoubleDouble>(inputs_.pipeline, scale_)));
  }

  const AttentionInputs& inputs_;
  const Interruption& interruption_;
  ExactInput scale_, root_;  // 1/sqrt(head_dim) and its inverse
  ExactInput added_slope_;
  RotatedTable table_;
  std::optional<ContentScores> among_components_;
};

// What is known of one query under one bias.
using QueryFigures = std::optional<AttentionFigures>;

AttentionFigures figures_of(const AttentionWeights& weights, const AttentionWeights& exact) {
  const WeightStatistics statistics = statistics_of(weights);
  const WeightChange change = change_between(exact, weights);
  return {change.total_variation, change.divergence,   change.largest,          statistics.entropy,
          statistics.greatest,    statistics.variance, statistics.half_distance};
}

// Under each of the biases.
std::vector<QueryFigures> query_figures(const AttentionScores& scores,
                                        const std::vector<AddedBias>& biases, std::size_t row) {
  const auto is_finite = [](DoubleDouble score) { return std::isfinite(score.high); };
  const Scores content = scores.content(row);
  const AttentionWeights exact(scores.under(AddedBias::exact, row, content));
  std::vector<QueryFigures> figures;
  for (const AddedBias bias : biases) {
    figures.emplace_back();
    if (bias == AddedBias::exact) {
      figures.back() = figures_of(exact, exact);
      continue;
    }
    Scores biased = scores.under(bias, row, content);
    if (!std::all_of(biased.begin(), biased.end(), is_finite)) continue;
    figures.back() = figures_of(AttentionWeights(std::move(biased)), exact);
  }
  return figures;
}

constexpr double AttentionFigures::*means[] = {
    &AttentionFigures::total_variation, &AttentionFigures::divergence,
    &AttentionFigures::entropy,         &AttentionFigures::greatest,
    &AttentionFigures::variance,        &AttentionFigures::half_distance};

// Those of the n-th bias, over all queries.
QueryFigures gathered(const std::vector<std::vector<QueryFigures>>& queries, std::size_t n) {
  AttentionFigures all{};
  for (const auto& query : queries) {
    if (!query[n]) return std::nullopt;
    all.largest_change = std::max(all.largest_change, query[n]->largest_change);
  }
  for (const auto figure : means) {
    DoubleDouble sum;
    for (const auto& query : queries) sum = sum + (*query[n]).*figure;
    all.*figure = (sum / DoubleDouble{static_cast<double>(queries.size()), 0}).high;
  }
  return all;
}

}  // namespace

std::vector<std::optional<AttentionFigures>> measure_attention(const AttentionInputs& inputs,
                                                               const std::vector<AddedBias>& biases,
                                                               const std::vector<std::size_t>& rows,
                                                               const Interruption& interruption) {
  const AttentionScores scores(inputs, interruption);
  std::vector<std::vector<QueryFigures>> figures(rows.size());
  std::uint64_t keys = 0;
  for (const std::size_t row : rows) keys += row + 1;
  PartsDone keys_done(interruption, keys);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rows.size(), 1), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      figures[n] = query_figures(scores, biases, rows[n]);
      keys_done.add(rows[n] + 1);
    }
  });
  std::vector<std::optional<AttentionFigures>> measured;
  for (std::size_t n = 0; n < biases.size(); ++n) measured.push_back(gathered(figures, n));
  return measured;
}

std::vector<std::size_t> sample_rows(std::size_t context, std::size_t count, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  const std::size_t parts = std::min(context, count);
  std::vector<std::size_t> rows;
  for (std::size_t part = 0; part + 1 < parts; ++part) {
    rows.push_back(boost::random::uniform_int_distribution<std::size_t>(
        part * context / parts, (part + 1) * context / parts - 1)(random));
  }
  rows.push_back(context - 1);
  return rows;
}

ContentRow random_content(double sigma, std::uint64_t seed) {
  return [sigma, seed](std::size_t row) {
    std::vector<double> scores =
        content_vector(seed, Role::query, static_cast<long long>(row), row + 1, Step());
    for (double& score : scores) score *= sigma;
    return scores;
  };
}

}  // namespace ropelab
