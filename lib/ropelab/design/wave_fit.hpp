// Fits of a function of distance by cosines and sines of given frequencies.
#pragma once

#include <functional>
#include <vector>

#include "ropelab/design/minimax.hpp"

namespace ropelab {

// A function of distance d: cos or sin of theta d, or 1, and what a unit of its coefficient adds to
// the objective of a fit, at least 0.
struct Wave {
  enum class Kind { cosine, sine, constant };
  Kind kind;
  double theta = 0;  // rad per position
  double price = 0;
};

// The best sum of some waves, in the largest error at some distances and the price of coefficients.
class WaveFit {
 public:
  // distances: whole numbers, of either sign; target: one number for each. Waves are good to 2^-50
  // absolute while theta distance stays below 2^40.
  WaveFit(const std::vector<double>& distances, Eigen::VectorXd target,
          const std::vector<Wave>& waves);

  // By fit_minimax, and as it throws. Coefficients are in the order of the waves.
  MinimaxFit fit(const Interruption& interruption = {}) const;

  // The same with one coefficient after the other, the largest first, fixed at what `rounded`
  // makes of it, and the rest fitted again; the constant comes last and is not rounded.
  std::vector<double> rounded_fit(const std::function<double(double)>& rounded,
                                  const Interruption& interruption = {}) const;

 private:
  MinimaxFit fit_of(const std::vector<Eigen::Index>& chosen, const Eigen::VectorXd& target,
                    const std::vector<Eigen::Index>& first_rows,
                    const Interruption& interruption) const;
  std::size_t largest_of(const std::vector<Eigen::Index>& left,
                         const Eigen::VectorXd& coefficients) const;

  std::vector<Wave> waves_;
  Eigen::VectorXd target_;
  Eigen::MatrixXd functions_;
};

}  // namespace ropelab
