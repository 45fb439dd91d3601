#include "app/model_comparison.hpp"

#include <algorithm>
#include <utility>

#include <tbb/parallel_for.h>

namespace ropelab::app {
namespace {

// For 250,880 words, 133 rows: with fewer, widening and rearranging the output layer for each of
// the blocks would count beside the products.
constexpr std::size_t kLogitsAtATime = 1 << 25;

// What the rows of logits of one window say.
struct WindowRows {
  std::vector<PairedLoss> losses;  // of scored positions
  std::vector<NextTokenChange> changes;
};

template <class Scalar>
class WindowComparison {
 public:
  WindowComparison(const Transformer<Scalar>& model, std::span<const Token> tokens,
                   const EvaluationWindow& window)
      : model_(model),
        tokens_(tokens),
        window_(window),
        first_row_(std::min(window.first_scored, window.first_new)) {}

  // Losses of the model as it is.
  std::vector<double> losses(const Matrix<Scalar>& hidden) const {
    std::vector<double> losses(window_.predictions());
    Matrix<Scalar> logits = room_for_logits();
    for_blocks([&](std::size_t first, std::size_t count) {
      compute_logits(hidden, first, count, logits);
      tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
        const std::size_t position = first + n;
        if (!is_scored(position)) return;
        const auto logits_here = row(logits, n);
        losses[position - window_.first_scored] =
            loss(next_token(logits_here), logits_here, target(position));
      });
    });
    return losses;
  }

  std::vector<WindowRows> rows(const Matrix<Scalar>& native,
                               const std::vector<Matrix<Scalar>>& replaced) const {
    std::vector<WindowRows> rows(replaced.size());
    for (WindowRows& each : rows) {
      each.losses.resize(window_.predictions());
      each.changes.resize(tokens_.size() - window_.first_new);
    }
    Matrix<Scalar> before = room_for_logits(), after = room_for_logits();
    for_blocks([&](std::size_t first, std::size_t count) {
      compute_logits(native, first, count, before);
      for (std::size_t r = 0; r < replaced.size(); ++r) {
        compute_logits(replaced[r], first, count, after);
        tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
          add_row(rows[r], first + n, row(before, n), row(after, n));
        });
      }
    });
    return rows;
  }

 private:
  std::size_t rows_at_a_time() const {
    const auto vocabulary = static_cast<std::size_t>(model_.config().vocabulary);
    const std::size_t most = std::max<std::size_t>(1, kLogitsAtATime / vocabulary);
    return std::min(most, tokens_.size() - first_row_);
  }

  template <class Block>
  void for_blocks(Block block) const {
    const std::size_t most = rows_at_a_time();
    for (std::size_t first = first_row_; first < tokens_.size(); first += most) {
      block(first, std::min(most, tokens_.size() - first));
    }
  }

  // Of one block, for one after another: the pages of a new one would have to be cleared.
  Matrix<Scalar> room_for_logits() const {
    return Matrix<Scalar>(static_cast<Eigen::Index>(rows_at_a_time()), model_.config().vocabulary);
  }

  void compute_logits(const Matrix<Scalar>& hidden, std::size_t first, std::size_t count,
                      Matrix<Scalar>& logits) const {
    const auto rows = static_cast<Eigen::Index>(count);
    model_.logits(hidden.middleRows(static_cast<Eigen::Index>(first), rows), logits.topRows(rows));
  }

  static std::span<const Scalar> row(const Matrix<Scalar>& logits, std::size_t n) {
    return const_row_of<Scalar>(logits, static_cast<Eigen::Index>(n));
  }

  bool is_scored(std::size_t position) const {
    return position >= window_.first_scored && position <= window_.last_scored;
  }
  std::size_t target(std::size_t position) const {
    return static_cast<std::size_t>(tokens_[position + 1]);
  }

  void add_row(WindowRows& rows, std::size_t position, std::span<const Scalar> native,
               std::span<const Scalar> replaced) const {
    const NextTokenChange change = next_token_change(native, replaced);
    if (is_scored(position)) {
      rows.losses[position - window_.first_scored] = {
          loss(change.native, native, target(position)),
          loss(change.replaced, replaced, target(position))};
    }
    if (position >= window_.first_new) rows.changes[position - window_.first_new] = change;
  }

  const Transformer<Scalar>& model_;
  std::span<const Token> tokens_;
  EvaluationWindow window_;
  std::size_t first_row_;
};

}  // namespace

template <class Scalar>
ModelFigures compare(const Transformer<Scalar>& model, const ModelRun& run,
                     const std::vector<Replacement>& replacements,
                     const Interruption& interruption) {
  const auto windows = evaluation_windows(run.plan);
  std::vector<Encoding<Scalar>> encodings;
  std::vector<Comparison> comparisons;
  ModelFigures figures{windows.size(), LossByPosition(run.plan.window), {}, {}};
  for (const Replacement& replacement : replacements) {
    encodings.push_back(make_encoding<Scalar>(replacement, model.config(), run.first_position,
                                              run.plan.window, interruption));
    comparisons.emplace_back(static_cast<std::size_t>(model.config().vocabulary));
    figures.replaced.push_back({{}, LossByPosition(run.plan.window), {}});
  }
  PartsDone done(interruption, windows.size() * (replacements.size() + 1));
  const auto hidden = [&](std::span<const Token> tokens, const Encoding<Scalar>& encoding,
                          AttentionStatistics& statistics) {
    RunOptions<Scalar> options;
    options.first_position = run.first_position;
    options.bias = encoding.bias.get();
    options.rotary = encoding.rotary.get();
    if (run.wants_statistics) options.statistics = &statistics;
    options.interruption = interruption;
    Matrix<Scalar> states = model.run(tokens, options);
    done.add(1);
    return states;
  };
  for (const EvaluationWindow& window : windows) {
    interruption.check();
    const std::span<const Token> tokens(run.tokens.data() + window.start, run.plan.window);
    const WindowComparison<Scalar> comparison(model, tokens, window);
    const Matrix<Scalar> native = hidden(tokens, {}, figures.native_statistics);
    if (replacements.empty()) {
      figures.native_losses.add(window, comparison.losses(native));
      continue;
    }
    std::vector<Matrix<Scalar>> replaced;
    for (std::size_t r = 0; r < replacements.size(); ++r) {
      replaced.push_back(hidden(tokens, encodings[r], figures.replaced[r].statistics));
    }
    const auto rows = comparison.rows(native, replaced);
    std::vector<double> losses;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      comparisons[r].add_window(rows[r].losses, rows[r].changes);
      losses.clear();
      for (const PairedLoss& loss : rows[r].losses) losses.push_back(loss.replaced);
      figures.replaced[r].losses.add(window, losses);
    }
    losses.clear();
    for (const PairedLoss& loss : rows.front().losses) losses.push_back(loss.native);
    figures.native_losses.add(window, losses);
  }
  for (std::size_t r = 0; r < comparisons.size(); ++r) {
    figures.replaced[r].comparison = comparisons[r].figures();
  }
  return figures;
}

template ModelFigures compare(const Transformer<float>&, const ModelRun&,
                              const std::vector<Replacement>&, const Interruption&);
template ModelFigures compare(const Transformer<double>&, const ModelRun&,
                              const std::vector<Replacement>&, const Interruption&);

}  // namespace ropelab::app
