// The loops of a forward pass that are not products, by whatever vectors the processor has;
// internal to this room. Scalar is float or double. Sums are added in as many parts as a vector
// has lanes, so that their last bits depend on the instruction set.
#pragma once

#include <span>

namespace ropelab::vector_kernels {

// scores[k] += slope * (start + k), product and sum each rounded. start + k is exact up to
// 2^24 in float and 2^53 in double.
void add_line(std::span<float> scores, float slope, float start);
void add_line(std::span<double> scores, double slope, double start);

struct Exponentials {
  double greatest;  // score
  double sum;       // of the exponentials
};
// Replaces each score s by e^(s - greatest score), good to 2 ulp: softmax but for the division by
// the sum. A score of -infinity gives 0. As in a plain softmax, everything is NaN where a score
// is NaN or the greatest is infinite. At least one score.
Exponentials exponentiate(std::span<float> scores);
Exponentials exponentiate(std::span<double> scores);

// Sums over e = e^x, in double: of x e, where 0 * -infinity counts as 0, and of e^2.
struct Moments {
  double exponents = 0, squares = 0;
};
// x = scores - greatest.
Moments moments_of(std::span<const float> exponentials, std::span<const float> scores,
                   double greatest);
Moments moments_of(std::span<const double> exponentials, std::span<const double> scores,
                   double greatest);

// values[k] = g(values[k] + offsets[k]), g(x) = x/2 (1 + tanh(0.79788456 (x + 0.044715 x^3))):
// BLOOM's GELU, as x/(1 + e^(-2 ...)). Good to some ulp of the larger of x and 1.
void add_and_apply_gelu(std::span<float> values, std::span<const float> offsets);
void add_and_apply_gelu(std::span<double> values, std::span<const double> offsets);

// out = (in - mean)/sqrt(variance + epsilon) * weight + offset, the variance that of the
// population. All of one size; out may be in.
void layer_norm(std::span<const float> in, std::span<const float> weight,
                std::span<const float> offset, double epsilon, std::span<float> out);
void layer_norm(std::span<const double> in, std::span<const double> weight,
                std::span<const double> offset, double epsilon, std::span<double> out);

}  // namespace ropelab::vector_kernels
