// Sums of many doubles.
// [N] Neumaier: Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54
// (1974): algorithm 4.
#pragma once

#include <cmath>

namespace ropelab {

// The sum of what was added, in the order of adding: for n terms off by at most
// 2^-53 |sum| + n^2 2^-105 (sum of |terms|) [N]. Terms that are not finite give what IEEE 754's
// plain sum gives.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = high_ + term;
    low_ += std::abs(high_) >= std::abs(term) ? (high_ - sum) + term : (term - sum) + high_;
    high_ = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.high_);
    if (std::isfinite(other.high_)) low_ += other.low_;
  }

  double value() const { return std::isfinite(high_) ? high_ + low_ : high_; }
  // ln of the sum, for positive terms: also of a sum that exceeds 1 by less than a double can.
  double logarithm() const { return std::log(high_) + std::log1p(low_ / high_); }

 private:
  double high_ = 0, low_ = 0;
};

}  // namespace ropelab
