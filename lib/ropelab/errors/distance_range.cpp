#include "ropelab/errors/distance_range.hpp"

#include <algorithm>

#include "ropelab/alibi/slope.hpp"

namespace ropelab {

std::vector<DistanceRange> doubling_distances(std::size_t context) {
  std::vector<DistanceRange> ranges{{0, 0}};
  for (std::size_t d = 1; d < context; d *= 2) {
    ranges.push_back({d, std::min(2 * d, context) - 1});
  }
  return ranges;
}

std::uint64_t pairs_at(DistanceRange range, std::size_t context) {
  const std::uint64_t longest = context - range.first, shortest = context - range.last;
  return (longest + shortest) * (longest - shortest + 1) / 2;
}

double visible_share(const Algebraic& slope, DistanceRange range, std::size_t context) {
  const std::size_t reach = visible_reach(slope, range.last);
  if (reach < range.first) return 0;
  return to_double(Rational(pairs_at({range.first, reach}, context), pairs_at(range, context)));
}

}  // namespace ropelab
