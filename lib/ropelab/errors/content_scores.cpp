#include "ropelab/errors/content_scores.hpp"

#include <algorithm>
#include <utility>

#include "ropelab/errors/pair_errors.hpp"

namespace ropelab {
namespace {

void move_by_one(std::vector<double>& column) {
  if (!column.empty()) std::rotate(column.begin(), column.begin() + 1, column.end());
}

}  // namespace

ContentScores::ContentScores(const Pipeline& pipeline, const Construction& construction,
                             long long first_position, std::size_t context, const Content& content)
    : pipeline_(pipeline),
      scale_(score_scale(construction)),
      exact_scale_(to_double_double(scale_.algebraic().to_real())),
      first_position_(first_position),
      head_dim_(static_cast<std::size_t>(construction.head_dim)),
      content_(content),
      table_(score_table(rotated_table(pipeline, construction, first_position, context))) {}

ContentScores::ContentScores(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table)
    : pipeline_(pipeline),
      scale_(scale),
      exact_scale_(to_double_double(scale.to_real())),
      first_position_(0),
      head_dim_(0),
      content_{0, PairPlace::first},
      table_(std::move(table)) {}

ContentScores ContentScores::with_keys_moved() const {
  ContentScores moved = *this;
  for (ComponentTable& column : moved.table_.key) {
    move_by_one(column.high);
    move_by_one(column.low);
  }
  return moved;
}

std::vector<double> ContentScores::content(Role role, std::size_t n) const {
  return content_vector(content_.seed, role, first_position_ + static_cast<long long>(n), head_dim_,
                        pipeline_[StepName::storage]);
}

StepValue<DoubleDouble> ContentScores::sum(std::size_t i, std::size_t j) const {
  return sum_among_content<DoubleDouble>(pipeline_, content_.place, table_.query_row(i),
                                         table_.key_row(j), content(Role::query, i),
                                         content(Role::key, j));
}

DoubleDouble ContentScores::score(std::size_t i, std::size_t j) const {
  const auto value = score_among_content<DoubleDouble>(
      pipeline_, scale_, content_.place, table_.query_row(i), table_.key_row(j),
      content(Role::query, i), content(Role::key, j));
  if (const double* rounded = std::get_if<double>(&value)) return {*rounded, 0};
  return std::get<DoubleDouble>(value);
}

// Ogita, Rump, Oishi: Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005), algorithm 5.3.
ContentScore ContentScores::content_score(std::size_t i, std::size_t j) const {
  const auto q = content(Role::query, i), k = content(Role::key, j);
  double high = 0, low = 0;
  for (std::size_t n = 0; n < head_dim_; ++n) {
    const DoubleDouble product = exact_product(q[n], k[n]);
    const DoubleDouble sum = exact_sum(high, product.high);
    high = sum.high;
    low += sum.low + product.low;
  }
  const DoubleDouble scaled = exact_product(high, exact_scale_.high);
  return {scaled.high, scaled.low + (high * exact_scale_.low + low * exact_scale_.high)};
}

// Proposition 5.5 there: n^2 u^2 sum |q k| and more; the scale adds a few u^2.
double ContentScores::content_error() const {
  const double terms = static_cast<double>(head_dim_) + 2;
  return terms * terms * 0x1p-104 * terms * largest_content * largest_content * exact_scale_.high;
}

Real ContentScores::exact_content_score(std::size_t i, std::size_t j) const {
  const auto q = content(Role::query, i), k = content(Role::key, j);
  Real sum = 0;  // no bit is lost: products are multiples of 2^-96 at the least
  for (std::size_t n = 0; n < head_dim_; ++n) sum += Real(q[n]) * Real(k[n]);
  return sum * scale_.algebraic().to_real();
}

bool ContentScores::content_is_narrow() const {
  const double quantum = content_quantum(pipeline_[StepName::storage]);
  return static_cast<double>(head_dim_) * largest_content * largest_content <=
         0x1p53 * quantum * quantum;
}

double deviation(DoubleDouble score, ContentScore content, DoubleDouble center) {
  const DoubleDouble difference = exact_sum(score.high, -content.high);
  return (difference.high - center.high) +
         (((difference.low - content.low) - center.low) + score.low);
}

}  // namespace ropelab
