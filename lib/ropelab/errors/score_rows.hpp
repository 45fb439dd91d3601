// The scores F(i,j) themselves, as numbers in rows: what a model adds to the scores of its content.
#pragma once

#include <cstddef>
#include <memory>

#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

// Queries first_query ... first_query+queries-1 with keys first_key ... first_key+keys-1, by their
// place in a table: 0 is its first position. Any query with any key, keys ahead included.
struct ScoreRange {
  std::size_t first_query, queries, first_key, keys;
};

// F of every query and key of one head: the products of a ScoreTable, added in their order and
// multiplied by a scale, as a pipeline's last two steps do it.
//
// F is bit for bit that of score_steps() and Accumulation (the bits of a NaN aside), whatever the
// instruction set. Vectors serve pipelines whose storage, accumulation and scaling have formats, at
// the speed of the memory written to where sums are float32; others, and fused accumulation with a
// scaling in float64 or with products below the least float32, are computed pair by pair, about a
// thousand times slower.
//
// Member functions may be called by several threads at once.
class ScoreRows {
 public:
  // Keeps of the table what it needs: 8 to 32 bytes a term and position. `scale` is what the sum is
  // multiplied by, 1/sqrt(head_dim). Throws std::invalid_argument for a table without terms, or
  // whose columns are not all of one length.
  ScoreRows(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table);
  ScoreRows(ScoreRows&&) noexcept;
  ScoreRows& operator=(ScoreRows&&) noexcept;
  ~ScoreRows();

  // How many positions there are.
  std::size_t size() const;

  // Sets out[(i - first_query) * stride + (j - first_key)] = F(i,j), logits, and nothing else; F is
  // rounded once where its format is wider than that of `out`. Throws std::invalid_argument unless
  // the block lies in the table and rows are at least `keys` apart.
  void fill(const ScoreRange& block, float* out, std::size_t stride) const;
  void fill(const ScoreRange& block, double* out, std::size_t stride) const;

  // The same, F so rounded being added to what is there.
  void add(const ScoreRange& block, float* out, std::size_t stride) const;
  void add(const ScoreRange& block, double* out, std::size_t stride) const;

 private:
  class Rows;
  class PlainRows;
  template <class Lane>
  class VectorRows;

  static std::unique_ptr<const Rows> make_rows(const Pipeline& pipeline, const ExactInput& scale,
                                               ScoreTable table);
  template <class Number>
  void run(const ScoreRange& block, Number* out, std::size_t stride, bool adds) const;

  std::unique_ptr<const Rows> rows_;
  std::size_t size_;
};

}  // namespace ropelab
