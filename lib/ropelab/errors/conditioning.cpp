#include "ropelab/errors/conditioning.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/exact/double_double.hpp"

namespace ropelab {
namespace {

double sine_magnitude(const DoubleDouble& theta, const Real& exact_theta, long long multiple) {
  // Sums of positions may have a bit more than a double holds.
  const double high = static_cast<double>(multiple);
  const double low = static_cast<double>(multiple - static_cast<long long>(high));
  const DoubleDouble angle = low == 0 ? theta * high : theta * DoubleDouble{high, low};
  const double sine_value = angle.high <= 0x1p40 ? sine_cosine(angle).sine.high
                                                 : to_double(sine(exact_theta * Real(multiple)));
  return std::abs(sine_value);
}

// For one distance, the sums s = i + j of its pairs are s = d + 2j, from d + 2*first to
// 2*last - d: as d falls the range grows at both ends, so the greatest |sin(s theta)| of each
// parity is kept while d goes down.
struct Candidate {
  double numerator = 0;  // |sin(s theta)|
  long long sum = 0;
};

class Search {
 public:
  Search(const Algebraic& theta, long long first, std::size_t context,
         const Interruption& interruption)
      : exact_theta_(theta.to_real()),
        theta_(to_double_double(exact_theta_)),
        first_(first),
        last_(first + static_cast<long long>(context) - 1),
        sines_(2 * context - 1) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, sines_.size(), 256), [&](const auto& range) {
          interruption.check();
          for (std::size_t n = range.begin(); n != range.end(); ++n) {
            sines_[n] =
                sine_magnitude(theta_, exact_theta_, 2 * first_ + static_cast<long long>(n));
          }
        });
  }

  LargestKappa run(const Algebraic& theta) {
    const auto distances = static_cast<std::size_t>(last_ - first_);
    std::vector<double> quick(distances + 1);
    std::vector<long long> sums(distances + 1);
    double greatest = 1;
    for (std::size_t d = distances; d >= 1; --d) {
      const auto distance = static_cast<long long>(d);
      Candidate& candidate = candidates_[d % 2];
      consider(candidate, 2 * first_ + distance);
      consider(candidate, 2 * last_ - distance);
      const double denominator = sine_magnitude(theta_, exact_theta_, distance);
      quick[d] = std::max(1.0, candidate.numerator / denominator);
      sums[d] = candidate.sum;
      greatest = std::max(greatest, quick[d]);
    }
    // Doubles only choose what is worth computing exactly.
    LargestKappa best{0, 0, 0};
    for (std::size_t d = 1; d <= distances; ++d) {
      if (quick[d] >= greatest * (1 - 0x1p-40)) {
        improve(best, theta, static_cast<long long>(d), sums[d]);
      }
    }
    return best;
  }

 private:
  void consider(Candidate& candidate, long long sum) {
    const double value = sines_[static_cast<std::size_t>(sum - 2 * first_)];
    if (value > candidate.numerator || (value == candidate.numerator && sum < candidate.sum)) {
      candidate = {value, sum};
    }
  }

  void improve(LargestKappa& best, const Algebraic& theta, long long d, long long sum) const {
    long long i = (sum + d) / 2, j = (sum - d) / 2;
    Real value = kappa(theta, i, j);
    if (value == 1) {
      // Every pair of the distance has kappa 1 then, the first among them.
      i = first_ + d;
      j = first_;
    }
    const bool earlier = i < best.i || (i == best.i && j < best.j);
    if (value > best.value || (value == best.value && earlier)) best = {std::move(value), i, j};
  }

  Real exact_theta_;
  DoubleDouble theta_;
  long long first_, last_;
  std::vector<double> sines_;
  Candidate candidates_[2];
};

}  // namespace

Real kappa(const Algebraic& theta, long long i, long long j) {
  const Real angle = theta.to_real();
  const Real of_sum = abs(sine(angle * Real(i + j)));
  const Real of_difference = abs(sine(angle * Real(i > j ? i - j : j - i)));
  return of_sum > of_difference ? Real(of_sum / of_difference) : Real(1);
}

std::optional<LargestKappa> largest_kappa(const Algebraic& theta, long long first,
                                          std::size_t context, const Interruption& interruption) {
  if (context == 1) return std::nullopt;
  const long long last = first + static_cast<long long>(context) - 1;
  if (theta.to_real() * Real(2 * last) <= pi() / 2) {
    // sin((i+j)theta) grows with the sum and sin(d theta) with d: the last two neighbours.
    return LargestKappa{kappa(theta, last, last - 1), last, last - 1};
  }
  return Search(theta, first, context, interruption).run(theta);
}

}  // namespace ropelab
