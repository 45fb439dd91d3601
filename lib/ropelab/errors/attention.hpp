// Attention weights under ALiBi's bias and under what stands in for it, content scores being the
// same: measured query by query.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "ropelab/errors/reference.hpp"
#include "ropelab/simulation/content.hpp"

namespace ropelab {

// What is added to the scores of content C(i, j).
enum class AddedBias {
  exact,       // B(d), nothing rounded
  native,      // -m d in the dtype
  native_key,  // m j in the dtype, j being the key's position: the same weights, if it were exact
  pair         // the rotated pair, in the pipeline
};
inline constexpr std::array<std::string_view, 4> added_bias_names = {"exact", "native",
                                                                     "native-key", "pair"};

// Where native bias is added: to scores that have been divided by sqrt(head_dim), or before.
enum class NativeAddition { after_scaling, before_scaling };

// C(i, j) of row i of the context, for each key j = 0 ... i: finite, scaled scores.
using ContentRow = std::function<std::vector<double>(std::size_t row)>;

struct AttentionInputs {
  const DistanceReference& reference;  // of the construction and the context
  Pipeline pipeline;
  Format dtype;
  NativeAddition addition;
  long long first_position;
  // Scores, or components whose products are scores.
  std::variant<ContentRow, Content> content;
};

// Means over queries, but for the largest change. What they are of one query is defined in
// attention_statistics.hpp; changes are against AddedBias::exact, KL(exact || this).
struct AttentionFigures {
  double total_variation, divergence;
  double largest_change;  // of any weight of any query
  double entropy, greatest, variance, half_distance;
};

// For each of these biases, the figures over these rows of the context (at least one, below
// reference.context()); nothing where a score is not finite. Weights are those of softmax(),
// which adds no error of the dtype's.
//
// In the dtype T native scores are T(C + T(b)), b being the bias: the sum is rounded once, as by a
// matrix product that starts from the bias (BLOOM's baddbmm) and is exact otherwise. Before
// scaling, with s = 1/sqrt(h), they are T(T(C/s + T(b)) T(s)).
//
// A score of the pair is made by the accumulation step: of C/s, rounded by it where C is given as
// a score, and of the products of content where that is given by components, with the two products
// of the pair added; then it is scaled. Where no step rounds it is S + C. Given by components, C is
// the exact score of those that `storage` keeps, under every bias.
//
// O(context) memory for each thread. About half a microsecond for each bias and key, and several
// more with components. Figures do not depend on threads. Throws Interrupted.
std::vector<std::optional<AttentionFigures>> measure_attention(
    const AttentionInputs& inputs, const std::vector<AddedBias>& biases,
    const std::vector<std::size_t>& rows, const Interruption& interruption = {});

// Rows of a context, in order: all of them if there are no more than `count`, else one drawn from
// each of `count` parts as equal as they can be, and of the last part the last. The same seed gives
// the same rows everywhere. Neither number is 0, the context at most 2^32.
std::vector<std::size_t> sample_rows(std::size_t context, std::size_t count, std::uint64_t seed);

// Scores drawn at random: sigma times numbers of mean 0 and variance 1, as good as normal, each of
// which depends on seed, row and key alone. sigma is at least 0 and at most 1e9.
ContentRow random_content(double sigma, std::uint64_t seed);

}  // namespace ropelab
