// Quantiles of a sample.
// [HF] Hyndman, Fan: Sample quantiles in statistical packages, The American Statistician 50 (1996).
#pragma once

#include <vector>

namespace ropelab {

// The quantile of `fraction`, in [0, 1], of x(0) <= ... <= x(n-1): x(k) + g (x(k+1) - x(k)) where
// fraction * (n-1) = k + g, k a whole number and g in [0, 1). That is definition 7 of [HF], the one
// of NumPy, R and llama.cpp. NaN if a value is, or if there is none.
double quantile(std::vector<double> values, double fraction);

}  // namespace ropelab
