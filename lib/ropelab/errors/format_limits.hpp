// Where a format gives out, found on the computed values themselves.
#pragma once

#include <optional>
#include <string_view>

#include "ropelab/errors/context_limit.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/simulation/construction.hpp"
#include "ropelab/simulation/content.hpp"
#include "ropelab/simulation/pipeline.hpp"

namespace ropelab {

// A construction in a pipeline, at the positions first_position ... first_position + context - 1.
struct LimitsInputs {
  Pipeline pipeline;
  Construction construction;
  long long first_position;
  std::size_t context;
  Split split{};  // that `construction` follows, and keeps to where theta changes
  // F is the score among it; then times grow by head_dim, and where the vector kernels do not
  // know the arithmetic (an exact storage, accumulation or scaling), a pair takes microseconds.
  std::optional<Content> content{};
};

// The first query position i at which something is not finite that the scores F(i,j), j <= i,
// are made of, and the first such thing in the order of the computation:
//   "N" (either share of it), "theta", "position", "phase", a "component" of the rotated
//   query or key of i, a "product" of theirs with those before, their "sum", the "score" F.
// Among content the sum is that of all products, which overflows as soon as a partial one does;
// products of content never do.
struct FirstOverflow {
  long long position;
  std::string_view what;
};
// Empty where everything is finite; so it is also where a format saturates. Time O(context),
// and O(context^2) while products are within a factor of 2 of the largest number of
// accumulation, or the magnitudes of all products among content add up to more than that number.
// Throws Interrupted.
std::optional<FirstOverflow> first_overflow(const LimitsInputs& inputs,
                                            const Interruption& interruption = {});

// The first query position i that gives two neighbouring keys the same score:
// F(i,j) = F(i,j+1), both finite, for a j with j+1 <= i. Every query before it, taken as fixed,
// tells all its neighbouring keys apart. Empty where there is none among the positions before
// the first overflow.
//
// Among content neighbouring keys differ by their content too, and may have the same score by
// chance. What counts there is whether the pair of j, moved to j+1 under the content of j, changes
// the score: the first i with F(i,j) = F'(i,j+1), F' being the score of the rotated vectors of
// i and j+1 among the content of i and j.
//
// Time O(context^2) times the logarithm of the context, among content without it. Throws
// Interrupted.
std::optional<long long> first_merged_position(const LimitsInputs& inputs,
                                               const Interruption& interruption = {});

// Which pairs are held to the tolerance.
enum class PairsHeld { all, visible };

// The largest context up to inputs.context such that |F - B| <= tolerance (logits, above 0) for
// all, or all visible, causal pairs, there and at every smaller context; a pair whose F is not
// finite is beyond any tolerance. 0 where context 1 is not within it. Among content the error is
// F - (B + C), C being the exact score of the content as it is stored.
//
// With theta fixed a pair's error does not depend on the context, so the answer is certain:
// every pair of that context was computed, or is covered by rounding_bound() and the exact
// truncation error, and the next position has a pair that exceeds the tolerance.
//
// With max_phase fixed theta and N change with the context. The answer was computed to be within
// the tolerance, the next larger context not to be. Of the smaller ones, those that the bounds
// cover are certain, those up to 512 were computed each, and beyond, contexts at most an eighth
// apart. One between two of these might exceed the tolerance and not be noticed.
//
// Time O(context^2) times the logarithm of the context. Throws Interrupted.
std::size_t accurate_context(const LimitsInputs& inputs, Fixed fixed, const Algebraic& tolerance,
                             PairsHeld held, const Interruption& interruption = {});

}  // namespace ropelab
