#include "ropelab/comparison/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropelab {

double quantile(std::vector<double> values, double fraction) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (values.empty() || std::any_of(values.begin(), values.end(), is_nan)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double place = fraction * static_cast<double>(values.size() - 1);
  const double rest = place - std::floor(place);
  const auto lower = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), lower, values.end());
  if (rest == 0) return *lower;
  const double upper = *std::min_element(lower + 1, values.end());
  // Equal infinities have no difference.
  return *lower == upper ? upper : *lower + rest * (upper - *lower);
}

}  // namespace ropelab
