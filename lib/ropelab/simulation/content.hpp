// Content: in a real head the pair's two products are added among the products of the ordinary,
// unrotated components, in one accumulator. Here those components are random.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ropelab/simulation/score.hpp"

namespace ropelab {

// Where the pair's products stand in the sum. `halves`: as in a half-split layout of head_dim + 2
// components, in which the two components of the last pair end the first and the second half.
enum class PairPlace { first, last, halves };

inline constexpr std::array<std::string_view, 3> pair_place_names = {"first", "last", "halves"};

struct Content {
  std::uint64_t seed;
  PairPlace place;

  friend bool operator==(const Content&, const Content&) = default;
};

enum class Role { query, key };

// No component is larger.
inline constexpr double largest_content = 6.25;

// The ordinary components of the query or key at a position, as `storage` keeps them: random
// numbers of mean 0 and variance 1, as good as normal but never beyond 6, rounded once. Where
// storage has at most 24 bits they are multiples of 2^-20, else of 2^-48, so that scores of
// content can be added up exactly. A component depends on seed, role, position, its number and
// the format alone.
std::vector<double> content_vector(std::uint64_t seed, Role role, long long position,
                                   std::size_t head_dim, const Step& storage);

// The multiple of which all are, before storage rounds to a coarser one: 2^-20 or 2^-48.
double content_quantum(const Step& storage);

// How many products of content come before either product of the pair.
std::array<std::size_t, 2> content_before_pair(PairPlace place, std::size_t head_dim);

// Products of a sum in storage order: calls pair(0) and pair(1) for the pair's, content(n) for
// the others.
template <class AddPair, class AddContent>
void in_storage_order(PairPlace place, std::size_t head_dim, const AddPair& pair,
                      const AddContent& content) {
  const auto before = content_before_pair(place, head_dim);
  for (std::size_t n = 0; n <= head_dim; ++n) {
    if (n == before[0]) pair(0);
    if (n == before[1]) pair(1);
    if (n < head_dim) content(n);
  }
}

// The sum of the products of rotated vectors and content, by the plain definition: all head_dim + 2
// are rounded and added by the accumulation step, left to right.
template <class Exact>
StepValue<Exact> sum_among_content(const Pipeline& pipeline, PairPlace place,
                                   const Components<Exact>& query, const Components<Exact>& key,
                                   const std::vector<double>& content_query,
                                   const std::vector<double>& content_key) {
  const bool exact = !pipeline[StepName::storage];
  const auto stored = [&](double x) {
    return exact ? StepValue<Exact>(exactly<Exact>(x)) : StepValue<Exact>(x);
  };
  Accumulation<Exact> accumulation(pipeline);
  in_storage_order(
      place, content_query.size(),
      [&](int component) {
        accumulation.add(component == 0 ? query.first : query.second,
                         component == 0 ? key.first : key.second);
      },
      [&](std::size_t n) { accumulation.add(stored(content_query[n]), stored(content_key[n])); });
  return accumulation.sum_so_far();
}

// F: that sum, scaled.
template <class Exact>
StepValue<Exact> score_among_content(const Pipeline& pipeline, const ExactInput& scale,
                                     PairPlace place, const Components<Exact>& query,
                                     const Components<Exact>& key,
                                     const std::vector<double>& content_query,
                                     const std::vector<double>& content_key) {
  return step_product(
      pipeline[StepName::scaling],
      sum_among_content<Exact>(pipeline, place, query, key, content_query, content_key),
      rounded_scale<Exact>(pipeline, scale));
}

}  // namespace ropelab
