// The sum of cosines of all phases at a distance, enclosed: whether RoPE still tells near from far.
//
// Everything is said in the ratio t = base^(-2/rope_dim) of neighbouring frequencies, theta_r =
// t^r:
//   f(d, t) = sum_r cos(d t^r), r = 0 ... rope_dim/2 - 1.
// A base from 1 on is a ratio in (0, 1], and a larger base is a smaller ratio.
#pragma once

#include <cstdint>
#include <vector>

#include "ropelab/exact/real.hpp"

namespace ropelab {

// A number within `error` of `value`.
struct Enclosure {
  double value;
  double error;

  double upper() const { return value + error; }
};

// f(d, t) for one ratio and many distances.
class CosineSum {
 public:
  // Throws std::invalid_argument unless rope_dim is even and at least 2 and 0 < ratio <= 1.
  CosineSum(int rope_dim, double ratio);

  double ratio() const { return ratio_; }
  int pairs() const { return static_cast<int>(turns_.size()); }

  // f(distance, t), 0 <= distance < 2^32, with an error below |value|/16: the sign is certain. (f
  // is never 0 for a distance from 1 on: by Lindemann-Weierstrass cosines of distinct algebraic
  // numbers are linearly independent, and where t is 1 it is a multiple of cos d.)
  Enclosure at(long long distance) const;

  // The first distances in [first, end), ascending, at which f is negative; at most `count`. In
  // single precision, so it may overlook one that is near 0, but every one that it returns is
  // certain. Uses as many threads as the caller's TBB arena has, without a trace in the result.
  std::vector<long long> negative_distances(long long first, long long end,
                                            std::size_t count) const;

 private:
  Enclosure quickly(long long distance) const;
  Enclosure closely(long long distance) const;

  double ratio_;
  // theta_r as fractions of a turn in units of 2^-64, less than 2 units too small: a phase is then
  // a product modulo 2^64, too small by less than 2 * distance units.
  std::vector<std::uint64_t> turns_;
};

// A bound on |d^2 f/dt^2| at every ratio up to `ratio`: the sum of (d r t^(r-1))^2 +
// d r (r-1) t^(r-2), which grows with t, and 0.1 % for its roundings.
double curvature_bound(int rope_dim, long long distance, double ratio);

}  // namespace ropelab
