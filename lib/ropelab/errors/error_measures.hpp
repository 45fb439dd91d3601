// The largest error and the rms error of scores that are known by distance; internal to this
// room. Double-doubles do the work as long as a bound on their errors says that they may, and
// reals where they may not.
#pragma once

#include <optional>
#include <vector>

#include "ropelab/errors/reference.hpp"

namespace ropelab {

// What the scores are compared with: S(d) or B(d).
enum class Against { simulated, bias };

class Target {
 public:
  Target(const BiasReference& reference, Against against)
      : reference_(reference), against_(against) {}

  DoubleDouble quick(std::size_t distance) const;
  double quick_error(std::size_t distance) const;  // a bound on |quick - exact|
  Real exact(std::size_t distance) const;
  const ErrorUnit& unit() const { return reference_.error_unit(); }

 private:
  const BiasReference& reference_;
  Against against_;
};

struct DistanceScore {
  std::size_t distance;
  DoubleDouble score;  // finite
};

// The largest |score - target|, in logits, and which of the scores share it.
struct LargestAmong {
  Real error;
  std::vector<std::size_t> places;
};
// Empty where there are no scores.
std::optional<LargestAmong> largest_among(const std::vector<DistanceScore>& scores,
                                          const Target& target);
// Its error in the reference's unit, correctly rounded.
std::optional<double> largest_error(const std::vector<DistanceScore>& scores, const Target& target);

// Scores F at one distance, by their moments about a centre.
struct Moments {
  std::size_t distance;
  double count;           // how many, or the weight of one
  DoubleDouble center;    // finite
  double sum;             // of F - center, in units of 2^exponent
  double sum_of_squares;  // of (F - center)^2, in units of 2^(2 exponent)
  int exponent;
};

// Whether squares of deviations up to `deviation` add up to a sound double.
bool squares_are_sound(double deviation);
// A power of two of about the size of x, short of the ends of the range: a unit where they do not.
int unit_exponent(double x);

// The root of the mean (F - target)^2, in the reference's unit; empty where the counts add up to 0.
// Good to 1e-12 relative, if the moments are, for any magnitude of the errors.
std::optional<double> root_mean_square(const std::vector<Moments>& moments, const Target& target);

}  // namespace ropelab
