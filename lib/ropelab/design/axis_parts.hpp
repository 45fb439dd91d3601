// A pair on its axes where positions are a little more than a format holds; internal to this room.
#pragma once

#include <cstddef>
#include <vector>

namespace ropelab {

// Query and key part of a pair on its axes, each between 1 and 2, for a phase so small that the
// large components are these parts, rounded to the format. theta query key is the step per position
// times `step`, which is 1 to about half a position over the context.
struct AxisParts {
  double query, key, step;
  double error;  // the largest that rounding makes, positions, if nothing else is rounded
};

// The best, in order, for so many positions, a step per position (of which a power of two does not
// matter) and so many significant bits; empty where these hold
// all positions, or less than an eighth of them, and for more than 11 bits. O(context 2^bits) time.
//
// The small component of a position p is step p (1 + drift)/part, rounded; times the part of the
// other side it is step (p + g(p)). A score has the error g of its key less g of its query: each
// part gives another g, and the pair is chosen of the best of these, as no key comes after its
// query.
std::vector<AxisParts> best_axis_parts(std::size_t context, double step, int bits);

}  // namespace ropelab
