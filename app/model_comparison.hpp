// A model as it is and with its position encoding replaced, run on the same windows of a text.
#pragma once

#include <optional>
#include <vector>

#include "app/replacement.hpp"
#include "ropelab/comparison/by_position.hpp"
#include "ropelab/comparison/comparison.hpp"
#include "ropelab/comparison/evaluation_windows.hpp"
#include "ropelab/transformer/transformer.hpp"

namespace ropelab::app {

struct ModelRun {
  const std::vector<Token>& tokens;
  EvaluationPlan plan;
  long long first_position = 0;  // of the first token of every window
  bool wants_statistics = false;
};

// Of one replacement. Losses are of the predictions that count, changes of the positions that hold
// tokens of no earlier window.
struct ReplacedFigures {
  ComparisonFigures comparison;
  LossByPosition losses;
  AttentionStatistics statistics;
};
struct ModelFigures {
  std::size_t windows;
  LossByPosition native_losses;
  AttentionStatistics native_statistics;
  std::vector<ReplacedFigures> replaced;  // as the replacements
};

// Beside what Transformer::run needs it holds the hidden states of a window for each replacement,
// and two blocks of at most 2^25 logits, or of one position's. Throws as Transformer::run,
// evaluation_windows and make_encoding.
template <class Scalar>
ModelFigures compare(const Transformer<Scalar>& model, const ModelRun& run,
                     const std::vector<Replacement>& replacements,
                     const Interruption& interruption);

}  // namespace ropelab::app
