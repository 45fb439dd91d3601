// Whether two models differ on the same text, judged over its windows.
// [C] Cochran: Sampling Techniques, 3rd edition, 1977, chapter 6 (ratio estimates).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace ropelab {

// In one window of a text: the mean over its predictions of how much the second model's loss
// exceeds the first's, nats.
struct WindowDifference {
  std::size_t predictions;  // 1 or more
  double mean;
};

struct PairedDifference {
  double mean;  // over all predictions, nats
  // Empty for fewer than two windows.
  std::optional<double> standard_error;
  std::optional<double> ci_low, ci_high;  // 95 % confidence interval of the mean
  std::optional<double> p_value;          // of no difference, two-sided
};
// Student's t test of the paired differences d(k) of n windows, with n-1 degrees of freedom, the
// windows taken as a sample of independent ones: predictions inside a window are not.
//
// Where all windows hold equally many predictions it is the textbook's, standard error
// sqrt(sum (d(k) - d)^2 / (n (n-1))). Otherwise windows weigh by their predictions w(k), and
// the standard error is that of a ratio [C], sqrt(n/(n-1) sum w(k)^2 (d(k) - d)^2) / sum w(k).
// Where the standard error is 0, p is 1 if the difference is 0 as well, and else 0. Where a
// difference is not finite, whatever needs it is NaN. Of no windows, the mean is NaN.
PairedDifference paired_difference(std::span<const WindowDifference> windows);

}  // namespace ropelab
