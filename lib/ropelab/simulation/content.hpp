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

// How many products of content come before product n of the pair, or of several pairs one after
// the other.
std::size_t content_before(PairPlace place, std::size_t head_dim, std::size_t product);

// Products of a sum in storage order: calls pair(0) ... pair(products - 1) for those of pairs,
// content(n) for the others.
template <class AddPair, class AddContent>
void in_storage_order(PairPlace place, std::size_t head_dim, const AddPair& pair,
                      const AddContent& content, std::size_t products = 2) {
  for (std::size_t n = 0; n <= head_dim; ++n) {
    for (std::size_t k = 0; k < products; ++k) {
      if (n == content_before(place, head_dim, k)) pair(k);
    }
    if (n < head_dim) content(n);
  }
}

// The sum of the products of rotated vectors and content, by the plain definition: all of them
// are rounded and added by the accumulation step, left to right. Vectors have size() and
// operator[]: Components, or rows of a ScoreTable.
template <class Exact, class Vector>
StepValue<Exact> sum_among_content(const Pipeline& pipeline, PairPlace place, const Vector& query,
                                   const Vector& key, const std::vector<double>& content_query,
                                   const std::vector<double>& content_key) {
  const bool exact = !pipeline[StepName::storage];
  const auto stored = [&](double x) {
    return exact ? StepValue<Exact>(exactly<Exact>(x)) : StepValue<Exact>(x);
  };
  Accumulation<Exact> accumulation(pipeline);
  in_storage_order(
      place, content_query.size(), [&](std::size_t n) { accumulation.add(query[n], key[n]); },
      [&](std::size_t n) { accumulation.add(stored(content_query[n]), stored(content_key[n])); },
      query.size());
  return accumulation.sum_so_far();
}

// F: that sum, scaled.
template <class Exact, class Vector>
StepValue<Exact> score_among_content(const Pipeline& pipeline, const ExactInput& scale,
                                     PairPlace place, const Vector& query, const Vector& key,
                                     const std::vector<double>& content_query,
                                     const std::vector<double>& content_key) {
  return step_product(
      pipeline[StepName::scaling],
      sum_among_content<Exact>(pipeline, place, query, key, content_query, content_key),
      rounded_scale<Exact>(pipeline, scale));
}

}  // namespace ropelab
