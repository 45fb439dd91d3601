// What `storage` keeps of the rotated fixed vectors, for a run of positions.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "ropelab/simulation/score.hpp"

namespace ropelab {

// One component at each position. `low` is empty where storage has a format; else the
// component is the exact number high + low, unless high is infinite or NaN.
struct ComponentTable {
  std::vector<double> high;
  std::vector<double> low;

  StepValue<DoubleDouble> operator[](std::size_t n) const {
    if (low.empty() || !std::isfinite(high[n])) return high[n];
    return DoubleDouble{high[n], low[n]};
  }
};

// Of the construction's (-N/K, 0) and (0, K), or of any fixed vectors of two components.
struct RotatedTable {
  ComponentTable query_first, query_second;
  ComponentTable key_first, key_second;

  std::size_t size() const { return query_first.high.size(); }
  Components<DoubleDouble> query(std::size_t n) const { return {query_first[n], query_second[n]}; }
  Components<DoubleDouble> key(std::size_t n) const { return {key_first[n], key_second[n]}; }
};

// The rotated vectors at positions first_position ... first_position + count - 1, all below
// 2^53, correctly rounded at every step whatever the machine: steps are taken in doubles
// (QuickRotation), in double-double and at last in Real, as far as a rounding is too close to
// call. The bits of a NaN are not fixed. O(count) memory; uses
// as many threads as the caller's TBB arena has. Throws std::domain_error for a phase
// beyond largest_angle().
RotatedTable rotated_table(const Pipeline& pipeline, const Construction& construction,
                           long long first_position, std::size_t count);

// A pair of components with any finite fixed parts: rotated, their dot product at distance d is
// (q0 k0 + q1 k1) cos(d theta) + (q0 k1 - q1 k0) sin(d theta).
struct RotatedPair {
  Algebraic theta;  // rad per position
  std::array<double, 2> query, key;

  friend bool operator==(const RotatedPair&, const RotatedPair&) = default;
};

// The same of its fixed parts, which the rotation step rounds first.
RotatedTable rotated_table(const Pipeline& pipeline, const RotatedPair& pair,
                           long long first_position, std::size_t count);

}  // namespace ropelab
