#include "ropelab/design/places.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {

double middle_of(const HeadTask& task) {
  const std::size_t middle = task.context / 2;
  return static_cast<double>(middle);
}

double spacing_at_end(const Step& step, const HeadTask& task) {
  return ulp(*step, std::max(middle_of(task) - 0.5, 0.5));
}

Places opposite_places(int copies, double fraction) {
  Places places;
  for (int copy = 0; copy < copies; ++copy) {
    const int positions = copy / 2;
    const double shift = positions + fraction;
    places.push_back({copy % 2 == 0 ? shift : -shift});
  }
  return places;
}

namespace {

// Evenly over `spacing`, and a fraction beyond; the last may be half a gap further, for where the
// spacing of the format changes.
Places even_places(int copies, double spacing, bool is_last_further, double fraction) {
  Places places;
  const double gap = spacing / copies;
  for (int copy = 0; copy < copies; ++copy) {
    places.push_back({(copy - (copies - 1) / 2.0) * gap + fraction});
  }
  if (is_last_further) places.back().shift += gap / 2;
  return places;
}

// That adds `level` to position `where`, and `slope` more for each further one.
Place passing(double level, double where, double slope) {
  return {(slope * where - level) / (1 + slope), 1 + slope};
}

// Four copies where the spacing becomes 4 at positions +-change: see places_of. Two of them pass -1
// at change, one upwards and one downwards, and two pass 1 at -change.
Places passing_places(double change, double slope, double later) {
  // Of the positions that matter, from 4 to 4, `change` is to be the only one at which neither is
  // below -1; `later`, a tie at the next one does no harm either.
  const double downwards = change + 1.5 + later, upwards = change - 1 - later / 2;
  return {passing(-1, downwards, -slope), passing(-1, upwards, slope),
          passing(1, -downwards, -slope), passing(1, -upwards, slope)};
}

void add_passing_places(const HeadTask& task, std::vector<Places>& all) {
  const double change = std::ldexp(1.0, std::ilogb(middle_of(task) - 0.5));
  for (const double added : {0.05, 0.1, 0.2, 0.3}) {  // at change
    for (const double later : {0, 2}) {
      all.push_back(passing_places(change, added / change, later));
    }
  }
}

}  // namespace

std::vector<Places> places_of(const HeadTask& task, int copies) {
  const double spacing = spacing_at_end(task.pipeline[StepName::storage], task);
  if (spacing <= 1) return {Places(static_cast<std::size_t>(copies), {0})};
  const Step& rotation = task.pipeline[StepName::rotation];
  std::vector<Places> all;
  // That the rotation tells from none at all positions.
  const double least = rotation ? ulp(*rotation, middle_of(task) + 1) : 0x1p-12;
  for (const double fraction : {0.5 - least, 0.25, 2 * least, least}) {
    all.push_back(even_places(copies, spacing, false, fraction));
    if (copies == 1) continue;
    all.push_back(opposite_places(copies, fraction));
    if (copies == 2) continue;
    all.push_back(even_places(copies, spacing, true, fraction));
    all.push_back(all.back());
    for (Place& place : all.back()) place.shift -= spacing / copies;
  }
  if (copies == 4 && spacing == 4) add_passing_places(task, all);
  return all;
}

}  // namespace ropelab
