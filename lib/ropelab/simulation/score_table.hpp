// The components whose products make a score: those of several rotated pairs, or factors that
// are not rotated at all.
#pragma once

#include <vector>

#include "ropelab/simulation/rotated_table.hpp"

namespace ropelab {

// What `storage` keeps of query and key at a run of positions, one column for each product, in
// the order in which the products are added.
struct ScoreTable {
  std::vector<ComponentTable> query, key;

  std::size_t terms() const { return query.size(); }
  std::size_t size() const { return query.front().high.size(); }

  // The components at one position.
  class Row {
   public:
    Row(const std::vector<ComponentTable>& columns, std::size_t n) : columns_(columns), n_(n) {}
    std::size_t size() const { return columns_.size(); }
    StepValue<DoubleDouble> operator[](std::size_t term) const { return columns_[term][n_]; }

   private:
    const std::vector<ComponentTable>& columns_;
    std::size_t n_;
  };
  Row query_row(std::size_t n) const { return {query, n}; }
  Row key_row(std::size_t n) const { return {key, n}; }
};

// The two products of every pair, pair by pair. Throws std::invalid_argument for no pairs, else
// as rotated_table.
ScoreTable score_table(const Pipeline& pipeline, const std::vector<RotatedPair>& pairs,
                       long long first_position, std::size_t count);
// Of the construction itself.
ScoreTable score_table(RotatedTable table);

// ALiBi in factors [FB]: -factor (i - j) = (-x(i)) 1 + 1 x(j) with x(p) = factor p, no rotation.
// x is rounded once to `storage`, what is left of it again, and so on: to the sum of `terms`
// numbers, each with a product of its own, the largest first. The ones are 2^unit_exponent, and x
// is divided by that, to stay in range. Only the steps from storage on take part. Storage must
// have a format, or terms be 1; throws std::invalid_argument otherwise.
// [FB] Wu et al.: FlashBias: Fast Computation of Attention with Bias (arXiv 2505.12044).
ScoreTable factor_table(const Pipeline& pipeline, const Algebraic& factor, int terms,
                        int unit_exponent, long long first_position, std::size_t count);

}  // namespace ropelab
