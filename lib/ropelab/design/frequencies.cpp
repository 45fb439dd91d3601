#include "ropelab/design/frequencies.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {

Frequencies slowest_first(const std::vector<Algebraic>& grid) {
  Frequencies frequencies;
  for (const Algebraic& theta : grid) frequencies.push_back({theta, theta.to_double()});
  std::stable_sort(frequencies.begin(), frequencies.end(),
                   [](const Frequency& a, const Frequency& b) { return a.theta < b.theta; });
  return frequencies;
}

Frequencies turning_at_most(double phase, const HeadTask& task, Frequencies frequencies) {
  std::erase_if(frequencies, [&](const Frequency& frequency) {
    return frequency.theta * static_cast<double>(task.window) > phase;
  });
  return frequencies;
}

Frequencies first_of(Frequencies frequencies, std::size_t most) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, frequencies.size()));
  frequencies.erase(frequencies.begin() + count, frequencies.end());
  return frequencies;
}

Frequencies steady_ones(const HeadTask& task, const Frequencies& frequencies) {
  const int precision = task.pipeline[StepName::storage]->precision;
  return turning_at_most(std::exp2(1 - precision / 2.0), task, frequencies);
}

}  // namespace ropelab
