// The least base of RoPE that serves a context, with a proof.
//
// A base serves a context if f(d, t) >= 0 (cosine_sum.hpp) at every distance d = 0 ... context - 1:
// then a query scores keys that resemble it above others, on average, as far as the context goes.
// [MXW] Men, Xu, Wang et al.: Base of RoPE Bounds Context Length (arXiv 2405.14591), section 4.
// Bases from 1 on are meant. Those that serve are closed, so there is a least one, but they are no
// interval: islands of them may be narrower than any grid of samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// f(witness, t) < 0 at every ratio t from `ratio` up to that of the refutation before it, or to 1
// for the first one: no base in between serves a context beyond the witness.
struct Refutation {
  double ratio;
  long long witness;

  friend bool operator==(const Refutation&, const Refutation&) = default;
};

// Where the least base of a context lies: refutations reach from ratio 1 down to refuted.back(),
// and a base just beyond them serves.
struct LeastBaseProof {
  int rope_dim;
  long long context;
  std::vector<Refutation> refuted;
  double serving;  // a ratio whose base serves, below the last refuted one
};

// Empty if the proof holds; otherwise a sentence that names the first refutation or distance at
// which it does not. Certain: every interval of ratios is covered by enclosures of f between its
// ends (a linear interpolation and a bound on the second derivative), every distance at the
// serving ratio by its own. Throws Interrupted, and std::invalid_argument as CosineSum does.
std::optional<std::string> flaw_of(const LeastBaseProof& proof,
                                   const Interruption& interruption = {});

// base = ratio^(-rope_dim/2), bracketed by doubles.
struct BaseBracket {
  double low, high;  // low <= the least base <= high
};
BaseBracket bracket(const LeastBaseProof& proof);

// The largest base that is searched for, and the longest context.
inline constexpr double largest_searched_base = 1e30;
inline constexpr long long longest_searched_context = 1LL << 32;

// Searches from base 1 on, or from where `shorter`, a proof for the same dimension and a shorter
// context, ends: what it refutes is refuted here too. Empty where no base up to
// largest_searched_base serves. The bracket is as narrow as a few ulps of the ratio. Time grows
// with about the square of the context (dimension 128: a tenth of a second for 1K, minutes for
// 1M); the interruption is told the share done, roughly. The result does not depend on threads.
// Throws Interrupted; std::invalid_argument unless rope_dim is even and at least 2 and 1 <= context
// <= longest_searched_context; std::runtime_error where the base's ratio cannot be told from its
// neighbours in doubles.
std::optional<LeastBaseProof> find_least_base(int rope_dim, long long context,
                                              const LeastBaseProof* shorter = nullptr,
                                              const Interruption& interruption = {});

}  // namespace ropelab
