#include "ropelab/errors/weights.hpp"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace ropelab {
std::vector<DoubleDouble> softmax(const std::vector<DoubleDouble>& scores) {
  const DoubleDouble greatest = *std::max_element(scores.begin(), scores.end());
  std::vector<DoubleDouble> weights(scores.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, scores.size(), 1024),
                    [&](const auto& range) {
                      for (std::size_t n = range.begin(); n != range.end(); ++n) {
                        // Far below is no weight; that far, the difference may not exist.
                        const bool is_far = scores[n].high - greatest.high < -1000;
                        if (!is_far) weights[n] = exponential(scores[n] - greatest);
                      }
                    });
  DoubleDouble sum;
  for (const DoubleDouble weight : weights) sum = sum + weight;
  for (DoubleDouble& weight : weights) {
    if (weight.high != 0) weight = weight / sum;
  }
  return weights;
}

double total_variation(const std::vector<DoubleDouble>& a, const std::vector<DoubleDouble>& b) {
  DoubleDouble sum;
  for (std::size_t n = 0; n < a.size(); ++n) sum = sum + absolute(a[n] - b[n]);
  return sum.high / 2;
}

}  // namespace ropelab
