#include "app/model_comparison.hpp"

#include <algorithm>
#include <utility>

#include <tbb/parallel_for.h>

namespace ropelab::app {
namespace {

constexpr std::size_t kLogitsAtATime = 1 << 24;

// What the rows of logits of one window say.
struct WindowRows {
  std::vector<PairedLoss> losses;  // of scored positions
  std::vector<NextTokenChange> changes;
};

template <class Scalar>
std::span<const Scalar> row_of(const Matrix<Scalar>& matrix, std::size_t row) {
  const auto columns = static_cast<std::size_t>(matrix.cols());
  return {matrix.data() + row * columns, columns};
}

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
    for_blocks([&](std::size_t first, std::size_t count) {
      const Matrix<Scalar> logits = logits_of(hidden, first, count);
      tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
        const std::size_t position = first + n;
        if (!is_scored(position)) return;
        const auto row = row_of(logits, n);
        losses[position - window_.first_scored] = loss(next_token(row), row, target(position));
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
    for_blocks([&](std::size_t first, std::size_t count) {
      const Matrix<Scalar> before = logits_of(native, first, count);
      for (std::size_t r = 0; r < replaced.size(); ++r) {
        const Matrix<Scalar> after = logits_of(replaced[r], first, count);
        tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
          add_row(rows[r], first + n, row_of(before, n), row_of(after, n));
        });
      }
    });
    return rows;
  }

 private:
  template <class Block>
  void for_blocks(Block block) const {
    const auto vocabulary = static_cast<std::size_t>(model_.config().vocabulary);
    const std::size_t most = std::max<std::size_t>(1, kLogitsAtATime / vocabulary);
    for (std::size_t first = first_row_; first < tokens_.size(); first += most) {
      block(first, std::min(most, tokens_.size() - first));
    }
  }

  Matrix<Scalar> logits_of(const Matrix<Scalar>& hidden, std::size_t first,
                           std::size_t count) const {
    return model_.logits(
        hidden.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(count)));
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
