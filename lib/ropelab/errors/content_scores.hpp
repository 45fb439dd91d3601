// Scores among content, one pair at a time, by the plain definition, and what they are judged by.
#pragma once

#include "ropelab/simulation/content.hpp"
#include "ropelab/simulation/score_table.hpp"

namespace ropelab {

// The exact score of content as it is stored, C(i,j) = sum q k / sqrt(head_dim): high + low.
struct ContentScore {
  double high, low;
};

class ContentScores {
 public:
  ContentScores(const Pipeline& pipeline, const Construction& construction,
                long long first_position, std::size_t context, const Content& content);
  // Of any products, without content; `scale` is what their sum is multiplied by.
  ContentScores(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table);

  std::size_t size() const { return table_.size(); }
  std::size_t head_dim() const { return head_dim_; }
  const Pipeline& pipeline() const { return pipeline_; }
  const ExactInput& scale() const { return scale_; }
  DoubleDouble exact_scale() const { return exact_scale_; }
  const ScoreTable& table() const { return table_; }
  PairPlace place() const { return content_.place; }
  // The scores if each key's pair stood one position nearer to the query, and its content where
  // it is: score(i, j) is then of the pair of j+1 and the content of j. Not for the last j.
  ContentScores with_keys_moved() const;
  // Content at position first_position + n.
  std::vector<double> content(Role role, std::size_t n) const;

  // What F(i, j) is before it is scaled.
  StepValue<DoubleDouble> sum(std::size_t i, std::size_t j) const;
  // F(i, j).
  DoubleDouble score(std::size_t i, std::size_t j) const;
  // C(i, j), within content_error().
  ContentScore content_score(std::size_t i, std::size_t j) const;
  double content_error() const;
  Real exact_content_score(std::size_t i, std::size_t j) const;
  // Whether sums of products of content are exact in one double, in any order.
  bool content_is_narrow() const;

 private:
  Pipeline pipeline_;
  ExactInput scale_;
  DoubleDouble exact_scale_;
  long long first_position_;
  std::size_t head_dim_;
  Content content_;
  ScoreTable table_;
};

// score - C - center, for finite scores: good to 2^-50 relative, but for the error of C.
double deviation(DoubleDouble score, ContentScore content, DoubleDouble center);

}  // namespace ropelab
