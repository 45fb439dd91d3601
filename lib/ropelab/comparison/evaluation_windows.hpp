// Which windows of a text a language model is evaluated on, and which of its predictions count.
//
// A text is tokens 0 ... N-1. A window of W tokens starts at token s, fresh, at position 0: the
// token at its position q, 0 ... W-2, predicts token s+q+1 and has q+1 tokens of context, itself
// included. Position W-1 predicts what the window does not hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ropelab {

struct EvaluationPlan {
  std::size_t tokens;                 // N
  std::size_t window;                 // W
  std::optional<std::size_t> stride;  // S; empty: W, windows that do not overlap
  std::optional<std::size_t> limit;   // only the first so many windows; empty: all
};

struct EvaluationWindow {
  std::size_t start;         // s
  std::size_t first_scored;  // the predictions that count: positions first_scored ... last_scored
  std::size_t last_scored;   // W-2
  std::size_t first_new;     // positions first_new ... W-1 hold tokens of no earlier window

  std::size_t predictions() const { return last_scored - first_scored + 1; }
};

// Windows at 0, S, 2S ... up to N-W; what is left of the text is dropped. The first scores all of
// its predictions, each later one those of its last S tokens, so that every token from 1 to the
// end of the last window is predicted once, with at least W-S tokens of context after the first
// window. Where S = W, the first token of each window is not predicted at all.
// Throws std::invalid_argument unless 2 <= W <= N, 1 <= S <= W, and the limit, if any, is positive.
std::vector<EvaluationWindow> evaluation_windows(const EvaluationPlan& plan);

// Whether windows of W tokens that do not overlap would predict the token that position q predicts
// in this window, that is, whether it is no multiple of W. (Where W does not divide N, or under a
// limit, windows with a stride may reach past those that do not overlap.)
bool is_predicted_without_overlap(const EvaluationWindow& window, std::size_t position);

// Positions first ... last of a window, those past its last prediction left out.
struct PositionBin {
  std::size_t first, last;

  std::string name() const;  // "64-127"
};
// 0-63, 64-127, 128-255, 256-511 and so on, doubling, up to the one that holds position W-2.
// Throws std::invalid_argument unless W >= 2.
std::vector<PositionBin> position_bins(std::size_t window);

}  // namespace ropelab
