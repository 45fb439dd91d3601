// What a language model loses when something in it is replaced: both are run on the same windows
// of a text, and what they say about every next token is compared.
//
// Where a figure is one that llama.cpp's llama-perplexity --kl-divergence prints, its name there
// stands beside it. Its figures are of the second half of each window and in float; its "±" are
// standard errors over tokens, here they are over windows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ropelab/comparison/compensated_sum.hpp"
#include "ropelab/comparison/next_token.hpp"
#include "ropelab/comparison/paired_difference.hpp"

namespace ropelab {

// Of one prediction, nats.
struct PairedLoss {
  double native, replaced;
};

// All in nats unless they say otherwise.
struct ComparisonFigures {
  std::size_t windows, predictions, positions;
  double cross_entropy_native;    // mean loss over predictions; ln of "PPL(base)"
  double cross_entropy_replaced;  // ln of "PPL(Q)"
  PairedDifference difference;    // replaced minus native; "ln(PPL(Q)/PPL(base))"
  double rms_probability_change;  // of the tokens that were to be predicted; "RMS Δp"
  double mean_kl;                 // KL(native || replaced) over positions; "Mean KLD"
  double p99_kl;                  // its quantile 0.99, see quantile.hpp; "99.0% KLD"
  double max_kl;                  // "Maximum KLD"
  double max_logit_change;        // over positions and vocabulary, absolute
  double rms_logit_change;        // over positions and vocabulary
  double same_top;                // share of positions with the same first choice; "Same top p"
};

// Gathers figures window by window. They depend on the order of windows and positions, not on what
// computed them: sums are compensated and taken in order.
class Comparison {
 public:
  // Rows have this many logits. Throws std::invalid_argument if it is 0.
  explicit Comparison(std::size_t vocabulary);

  // `losses`: of the predictions of the window that count, in order. `changes`: of the positions
  // that count, in order; in a window of L tokens that overlaps with none these are all L, the last
  // among them, which predicts nothing that is known. Throws std::invalid_argument if either is
  // empty.
  void add_window(std::span<const PairedLoss> losses, std::span<const NextTokenChange> changes);

  // A figure is NaN where a row that counts has no distribution (see NextToken), with the exception
  // of the cross-entropy of the model whose rows all have one; a difference of two infinite losses
  // is NaN too. Throws std::logic_error before the first window.
  ComparisonFigures figures() const;

 private:
  void add(const PairedLoss& loss);
  void add(const NextTokenChange& change);

  std::size_t vocabulary_, predictions_ = 0, same_top_ = 0;
  CompensatedSum native_, replaced_, squared_probability_changes_, divergence_, squared_changes_;
  double largest_change_ = 0;
  bool has_distributions_ = true;  // every row so far
  std::vector<double> divergences_;
  std::vector<WindowDifference> differences_;
};

// Bits per byte of text, from a mean loss per token and the bytes that a token stands for on
// average: nats_per_token / (ln 2 * bytes_per_token).
double bits_per_byte(double nats_per_token, double bytes_per_token = 1);

}  // namespace ropelab
