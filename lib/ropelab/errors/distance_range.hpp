// Runs of distances, by which errors are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// The distances first ... last, in positions; first <= last.
struct DistanceRange {
  std::size_t first, last;

  friend bool operator==(const DistanceRange&, const DistanceRange&) = default;
};

// One run for each power of two: 0, 1, 2-3, 4-7, ... The last one ends at context-1, so that
// together they are the distances of all causal pairs. The context is at least 1.
std::vector<DistanceRange> doubling_distances(std::size_t context);

// How many causal pairs of `context` positions, at most 2^31, stand at these distances, which
// are below the context: context - d at distance d.
std::uint64_t pairs_at(DistanceRange range, std::size_t context);

// The share of these pairs that is visible under a slope in logits per position (alibi/slope.hpp):
// correctly rounded.
double visible_share(const Algebraic& slope, DistanceRange range, std::size_t context);

}  // namespace ropelab
