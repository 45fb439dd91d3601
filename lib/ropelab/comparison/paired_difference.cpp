#include "ropelab/comparison/paired_difference.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "ropelab/comparison/compensated_sum.hpp"

namespace ropelab {
namespace {

constexpr double outside = 0.05;  // the share of cases that a confidence interval misses

// Summed as deviations from the first, so that equal differences have exactly this mean.
double mean_of(std::span<const WindowDifference> windows) {
  CompensatedSum deviations, predictions;
  for (const auto& [count, mean] : windows) {
    deviations.add(static_cast<double>(count) * (mean - windows[0].mean));
    predictions.add(static_cast<double>(count));
  }
  return windows[0].mean + deviations.value() / predictions.value();
}

double standard_error_of(std::span<const WindowDifference> windows, double mean) {
  CompensatedSum squares, predictions;
  for (const WindowDifference& window : windows) {
    const double weight = static_cast<double>(window.predictions);
    const double deviation = weight * (window.mean - mean);
    squares.add(deviation * deviation);
    predictions.add(weight);
  }
  const double n = static_cast<double>(windows.size());
  return std::sqrt(n / (n - 1) * squares.value()) / predictions.value();
}

double two_sided_p(const boost::math::students_t& student, double mean, double standard_error) {
  if (std::isnan(mean) || std::isnan(standard_error)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (standard_error == 0) return mean == 0 ? 1 : 0;
  const double t = std::abs(mean / standard_error);
  return std::isfinite(t) ? 2 * cdf(complement(student, t)) : 0;
}

}  // namespace

PairedDifference paired_difference(std::span<const WindowDifference> windows) {
  if (windows.empty()) return {std::numeric_limits<double>::quiet_NaN(), {}, {}, {}, {}};
  const double mean = mean_of(windows);
  if (windows.size() == 1) return {mean, {}, {}, {}, {}};
  const double standard_error = standard_error_of(windows, mean);
  const boost::math::students_t student(static_cast<double>(windows.size() - 1));
  const double reach = standard_error * quantile(complement(student, outside / 2));
  return {mean, standard_error, mean - reach, mean + reach,
          two_sided_p(student, mean, standard_error)};
}

}  // namespace ropelab
