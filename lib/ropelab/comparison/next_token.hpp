// The distribution over the next token that a row of logits stands for, and how far two of them
// are apart. Rows of float are widened to double before anything is computed.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace ropelab {

// p(v) = e^logit(v) / sum of e^logit(w), w = 0 ... V-1.
//
// A logit of -infinity has probability 0. Where a logit is NaN or +infinity, or all are -infinity,
// there is no distribution, and every figure of it is NaN.
struct NextToken {
  double greatest = std::numeric_limits<double>::quiet_NaN();  // logit
  double log_sum = greatest;     // ln of the sum of e^(logit - greatest), in [0, ln V]
  std::size_t first_choice = 0;  // as torch.argmax: the first of the greatest, or the first NaN

  bool exists() const { return log_sum == log_sum; }
  // ln p of the token with this logit, in nats. Absolute error below 2^-51 (1 + |ln p|); where p
  // is nearly 1, relative error below 2^-50.
  double log_probability(double logit) const { return (logit - greatest) - log_sum; }
};

// Of at least one logit. Time: two or three nanoseconds a logit. Throws std::invalid_argument if
// the row is empty.
NextToken next_token(std::span<const float> logits);
NextToken next_token(std::span<const double> logits);

// ln p of every token.
std::vector<double> log_softmax(std::span<const float> logits);
std::vector<double> log_softmax(std::span<const double> logits);

// -ln p(target), in nats: 0 or more, +infinity where p is 0. Throws std::invalid_argument unless
// there is such a token.
double loss(const NextToken& distribution, std::span<const float> logits, std::size_t target);
double loss(const NextToken& distribution, std::span<const double> logits, std::size_t target);

// From the distribution p of one row, `native`, to q of another, `replaced`.
struct NextTokenChange {
  NextToken native, replaced;
  // KL(p || q) = sum of p ln(p/q), nats; +infinity where q lacks a token that p has.
  double divergence;
  double largest;         // the largest |change of a logit|; equal infinities do not differ
  double sum_of_squares;  // of the changes
  // False where either distribution does not exist.
  bool same_first_choice;
};
// The three numbers are NaN where a row has no distribution. Otherwise the divergence D is off by
// at most 2^-44 D + 2^-48 sqrt(D) + 2^-95: the sum taken is that of p (q/p - 1 - ln(q/p)), of which
// no term is negative, and which an error in a normalisation changes by its square only. Time:
// about ten nanoseconds a logit. The bits depend neither on the instruction set nor on the
// compiler, but for those of the C library's logarithm.
// Throws std::invalid_argument unless the rows are of one size, 1 or more.
NextTokenChange next_token_change(std::span<const float> native, std::span<const float> replaced);
NextTokenChange next_token_change(std::span<const double> native, std::span<const double> replaced);

}  // namespace ropelab
