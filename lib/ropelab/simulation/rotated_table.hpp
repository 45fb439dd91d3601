// What `storage` keeps of the rotated fixed vectors, for a run of positions.
#pragma once

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

struct RotatedTable {
  ComponentTable query_first, query_second;  // of (-N/K, 0)
  ComponentTable key_first, key_second;      // of (0, K)

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

}  // namespace ropelab
