// Where copies of a pair stand, so that they round positions differently; internal to this room.
#pragma once

#include <vector>

#include "ropelab/design/head_design.hpp"

namespace ropelab {

// Positions are counted from the middle of the context.
double middle_of(const HeadTask& task);

// How far apart the numbers of a step, which has a format, are where positions end, in positions.
double spacing_at_end(const Step& step, const HeadTask& task);

// A copy takes position p for (p - middle - shift) stretch.
struct Place {
  double shift;
  double stretch = 1;
};
using Places = std::vector<Place>;

// A fraction of a position beyond the middle, one before it, and one position further to either
// side, and so on.
Places opposite_places(int copies, double fraction);

// The places that are tried for so many copies, at least one, of a pair whose small components are
// positions and a power of two, for a task whose storage has a format. All copies in the middle
// where the storage holds the positions. Else they are spread over its spacing at the ends: what
// one rounds up another rounds down. Two of them carry one bit of position more than the storage
// has, four of them two.
//
// Four need more than shifts for that, as one position is off where the spacing becomes 4, at
// +-c: the copy furthest below rounds c - 1.5 to the multiple of 2 below c already. By stretches of
// 1 +- e/c, e being a part of a position, copies change their order between -c and c. If s(x) is
// what a copy adds to position x, one has s = -1 between c and c + 3 (or a little later) and falls,
// one between c - 2 and c and rises, and the two others are their mirror images; then the sum of
// the four roundings is four times the position everywhere that spacings are 2 or 4, and near the
// other changes.
std::vector<Places> places_of(const HeadTask& task, int copies);

}  // namespace ropelab
