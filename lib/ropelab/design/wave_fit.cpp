#include "ropelab/design/wave_fit.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/exact/double_double.hpp"

namespace ropelab {
namespace {

// The waves of one theta come one after the other.
class WavesAt {
 public:
  explicit WavesAt(double distance) : distance_(distance) {}

  double operator()(const Wave& wave) {
    if (wave.kind == Wave::Kind::constant) return 1;
    if (wave.theta != theta_) {
      theta_ = wave.theta;
      turn_ = sine_cosine(exact_product(wave.theta, distance_));
    }
    return wave.kind == Wave::Kind::sine ? turn_.sine.high : turn_.cosine.high;
  }

 private:
  double distance_, theta_ = 0;
  SineCosine turn_{{0, 0}, {1, 0}, 0};
};

}  // namespace

WaveFit::WaveFit(const std::vector<double>& distances, Eigen::VectorXd target,
                 const std::vector<Wave>& waves)
    : waves_(waves),
      target_(std::move(target)),
      functions_(target_.size(), static_cast<Eigen::Index>(waves.size())) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, distances.size(), 256),
                    [&](const auto& range) {
                      for (std::size_t n = range.begin(); n != range.end(); ++n) {
                        WavesAt value(distances[n]);
                        for (std::size_t k = 0; k < waves.size(); ++k) {
                          functions_(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(k)) =
                              value(waves[k]);
                        }
                      }
                    });
}

MinimaxFit WaveFit::fit(const Interruption& interruption) const {
  std::vector<Eigen::Index> all(waves_.size());
  std::iota(all.begin(), all.end(), 0);
  return fit_of(all, target_, {}, interruption);
}

std::vector<double> WaveFit::rounded_fit(const std::function<double(double)>& rounded,
                                         const Interruption& interruption) const {
  std::vector<double> result(waves_.size());
  std::vector<Eigen::Index> left(waves_.size()), rows;
  std::iota(left.begin(), left.end(), 0);
  Eigen::VectorXd target = target_;
  while (!left.empty()) {
    MinimaxFit fit = fit_of(left, target, rows, interruption);
    const std::size_t n = largest_of(left, fit.coefficients);
    const double value = fit.coefficients[static_cast<Eigen::Index>(n)];
    const Eigen::Index wave = left[n];
    const bool is_constant = waves_[static_cast<std::size_t>(wave)].kind == Wave::Kind::constant;
    const double fixed = is_constant ? value : rounded(value);
    result[static_cast<std::size_t>(wave)] = fixed;
    target -= fixed * functions_.col(wave);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(n));
    rows = std::move(fit.rows);
  }
  return result;
}

MinimaxFit WaveFit::fit_of(const std::vector<Eigen::Index>& chosen, const Eigen::VectorXd& target,
                           const std::vector<Eigen::Index>& first_rows,
                           const Interruption& interruption) const {
  std::vector<double> prices;
  for (const Eigen::Index k : chosen) prices.push_back(waves_[static_cast<std::size_t>(k)].price);
  const Eigen::MatrixXd functions = functions_(Eigen::all, chosen);
  return fit_minimax({functions, target, prices, first_rows}, interruption);
}

// The constant comes last.
std::size_t WaveFit::largest_of(const std::vector<Eigen::Index>& left,
                                const Eigen::VectorXd& coefficients) const {
  const auto size = [&](std::size_t n) {
    return waves_[static_cast<std::size_t>(left[n])].kind == Wave::Kind::constant
               ? -1.0
               : std::fabs(coefficients[static_cast<Eigen::Index>(n)]);
  };
  std::size_t largest = 0;
  for (std::size_t n = 1; n < left.size(); ++n) {
    if (size(n) > size(largest)) largest = n;
  }
  return largest;
}

}  // namespace ropelab
