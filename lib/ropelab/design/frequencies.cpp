#include "ropelab/design/frequencies.hpp"

#include <algorithm>

namespace ropelab {

Frequencies slowest_first(const std::vector<Algebraic>& grid) {
  Frequencies frequencies;
  for (const Algebraic& theta : grid) frequencies.push_back({theta, theta.to_double()});
  std::stable_sort(frequencies.begin(), frequencies.end(),
                   [](const Frequency& a, const Frequency& b) { return a.theta < b.theta; });
  return frequencies;
}

}  // namespace ropelab
