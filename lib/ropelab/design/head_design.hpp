// Designs: the fixed vectors of one head that stand in for its bias, and what they are worth.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ropelab/design/method.hpp"
#include "ropelab/design/targets.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

// What one head asks for.
struct HeadTask {
  DistanceFunction bias;           // B(d), logits
  std::optional<Algebraic> slope;  // where B(d) = -slope d
  std::size_t visible;             // the last distance whose weight counts
  long long head_dim;              // the dimension whose square root divides the scores
  std::size_t context;             // positions 0 ... context-1
  std::size_t window;              // a query sees keys at distances below it; at most the context
  Pipeline pipeline;
  bool errors_in_slopes = false;            // measured errors are told in slopes, not logits
  std::optional<DistanceFunction> ahead{};  // B(-d), where keys ahead are seen as well
  std::size_t visible_ahead = 0;            // the last such d whose weight counts
  bool is_even = false;                     // whether B(-d) = B(d)
};

// Of any bias. The last visible distance of a side is the last one whose weight is at least 2^-16
// of that at distance 0, or 0. O(window) time.
HeadTask task_of_bias(const RelativeBias& bias, long long head_dim, std::size_t context,
                      std::size_t window, const Pipeline& pipeline);

// ALiBi: slope in logits per position that the scaled score is to lose.
HeadTask alibi_task(const Algebraic& slope, long long head_dim, std::size_t context,
                    std::size_t window, const Pipeline& pipeline);

// sqrt(head_dim) * slope, what a dot product is to lose per position, for a task that has a slope;
// 1/sqrt(head_dim).
Algebraic step_per_position(const HeadTask& task);
Algebraic scale_of(const HeadTask& task);

// The design of one head. A score is what the pipeline makes of the products of the rotated
// pairs, in their order; of `factor_terms` unrotated ones (factor_table); or of the bias alone.
struct HeadDesign {
  Method method = Method::single;
  std::vector<RotatedPair> pairs{};
  int factor_terms = 0;
  int unit_exponent = 0;
  double offset = 0;  // a constant, logits, that the scores have too much: softmax does not see it
};

// How well a design does, over all pairs of positions within the window, the offset being
// subtracted: the causal ones, and where keys ahead are seen those with j > i too. Their scores are
// those of the causal pairs (j, i) with query and key in exchanged roles, and so they are measured.
// Of both, the larger maximum counts (on a tie, the causal one), and squares are weighted by pairs,
// the diagonal counting once. order_lost and the last query's weights are as they are without keys
// ahead: it has none. In the task's unit.
struct DesignErrors {
  FittedTruncation truncation;
  Measurement measurement;
  double exact_weights_total_variation;  // between the last query's weights under B and under S
};

// Measured by the kernels: O(context window) time, O(context) memory. Throws Interrupted.
DesignErrors measure(const HeadTask& task, const HeadDesign& design,
                     const Interruption& interruption = {});

// What a design is judged by.
enum class Objective { truncation, total, visible, weights };
inline constexpr std::array<std::string_view, 4> objective_names = {"truncation", "total",
                                                                    "visible", "weights"};
// In their unit (weights: total variation); empty where some score is not finite.
std::optional<double> objective_of(const DesignErrors& errors, Objective objective);

// Whether heads are compared by such objectives in slopes: largest errors of heads that have one.
bool compares_slopes(const HeadTask& task, Objective objective);
// An objective in logits (weights: total variation) in what heads are compared by, and the one that
// was measured; empty where some score is not finite.
double comparable(const HeadTask& task, Objective objective, double value);
std::optional<double> comparable_objective(const HeadTask& task, const DesignErrors& errors,
                                           Objective objective);

// Pairs that stand for all: so many, drawn by the seed.
struct Sample {
  std::uint64_t pairs, seed;
};
// The same, in logits, of a sample, roughly, for searches: to 1e-9 of the largest score. Something
// above `enough` instead, where it is. With the design's offset, or, where may_have_offset says so,
// with the best one for this sample.
std::optional<double> rough_objective(const HeadTask& task, const HeadDesign& design,
                                      Objective objective, const Sample& sample, double enough,
                                      const Interruption& interruption = {});

// Whether the offset of such a design is free: of multi-pair and grid for a slope, and an objective
// that is a largest error of computed scores, where these are rounded and those of no more than
// 2^28 pairs tell it. (Other biases have the one of their fit.)
bool may_have_offset(const HeadTask& task, Method method, Objective objective);

// The design with the offset that leaves the smallest objective: the middle between the least and
// the greatest error of all pairs. Unchanged where its offset is not free, another would gain less
// than a thousandth, or a score is not finite. O(context window) time, on all threads.
HeadDesign with_best_offset(const HeadTask& task, HeadDesign design, Objective objective,
                            const Interruption& interruption = {});

}  // namespace ropelab
