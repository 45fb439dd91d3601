#include "ropelab/transformer/attention_bias.hpp"

#include <algorithm>
#include <stdexcept>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/transformer/vector_kernels.hpp"

namespace ropelab {
namespace {

template <class Scalar>
std::vector<Scalar> slopes_of(int heads) {
  std::vector<Scalar> slopes;
  for (int head = 1; head <= heads; ++head) {
    slopes.push_back(static_cast<Scalar>(alibi_slope(heads, head).to_double()));
  }
  return slopes;
}

Integer power(const Integer& base, int exponent) {
  Integer product = 1;
  for (int k = 0; k < exponent; ++k) product *= base;
  return product;
}

}  // namespace

template <class Scalar>
AbsoluteAlibi<Scalar>::AbsoluteAlibi(int heads) : slopes_(slopes_of<Scalar>(heads)) {}

template <class Scalar>
void AbsoluteAlibi<Scalar>::add_to(const ScoreBlock<Scalar>& block) const {
  const Scalar slope = slopes_[static_cast<std::size_t>(block.head - 1)];
  for (std::size_t q = 0; q < block.queries; ++q) {
    vector_kernels::add_line(block.visible(q), slope, static_cast<Scalar>(block.first_key));
  }
}

template <class Scalar>
RelativeAlibi<Scalar>::RelativeAlibi(int heads) : slopes_(slopes_of<Scalar>(heads)) {}

template <class Scalar>
void RelativeAlibi<Scalar>::add_to(const ScoreBlock<Scalar>& block) const {
  const Scalar slope = slopes_[static_cast<std::size_t>(block.head - 1)];
  for (std::size_t q = 0; q < block.queries; ++q) {
    const long long furthest = block.position(q) - block.first_key;
    vector_kernels::add_line(block.visible(q), slope, -static_cast<Scalar>(furthest));
  }
}

template <class Scalar>
BucketBias<Scalar>::BucketBias(std::span<const Scalar> table, int buckets, int max_distance) {
  // The logarithm reaches the last bucket at max_distance, if not before.
  std::vector<std::size_t> bucket;
  for (int distance = 0; bucket.empty() || bucket.back() + 1 < static_cast<std::size_t>(buckets);
       ++distance) {
    bucket.push_back(static_cast<std::size_t>(t5_bucket(distance, buckets, max_distance)));
  }
  distances_ = bucket.size();
  const std::size_t heads = table.size() / static_cast<std::size_t>(buckets);
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t k = 0; k < distances_; ++k) {
      reversed_.push_back(table[bucket[distances_ - 1 - k] * heads + head]);
    }
  }
}

template <class Scalar>
void BucketBias<Scalar>::add_to(const ScoreBlock<Scalar>& block) const {
  const auto end = reversed_.begin() + block.head * static_cast<std::ptrdiff_t>(distances_);
  const Scalar furthest = *(end - static_cast<std::ptrdiff_t>(distances_));
  for (std::size_t q = 0; q < block.queries; ++q) {
    const std::span<Scalar> scores = block.visible(q);
    const std::size_t near = std::min(distances_, scores.size());
    const std::span<Scalar> far_scores = scores.first(scores.size() - near);
    const std::span<Scalar> near_scores = scores.last(near);
    for (Scalar& score : far_scores) score += furthest;
    std::transform(near_scores.begin(), near_scores.end(), end - static_cast<std::ptrdiff_t>(near),
                   near_scores.begin(), [](Scalar score, Scalar bias) { return score + bias; });
  }
}

int t5_bucket(long long distance, int buckets, int max_distance) {
  const int exact = buckets / 2, wide = buckets - exact;
  if (buckets < 2 || max_distance <= exact) {
    throw std::invalid_argument(
        "T5's buckets must be at least 2, and the greatest distance more than half of them");
  }
  if (distance < exact) return static_cast<int>(distance);
  if (distance >= max_distance) return buckets - 1;
  // floor(wide ln(n/exact)/ln(max/exact)) >= k as soon as (n/exact)^wide >= (max/exact)^k.
  const Integer reached = power(distance, wide);
  int k = 0;
  while (exact + k < buckets - 1 &&
         reached * power(exact, k + 1) >= power(max_distance, k + 1) * power(exact, wide)) {
    ++k;
  }
  return exact + k;
}

template <class Scalar>
std::unique_ptr<AttentionBias<Scalar>> native_bias(const Checkpoint& checkpoint) {
  const BloomConfig& config = checkpoint.config();
  if (config.encoding == PositionEncoding::alibi) {
    return std::make_unique<AbsoluteAlibi<Scalar>>(static_cast<int>(config.heads));
  }
  if (config.encoding == PositionEncoding::t5) {
    const Tensor& tensor = checkpoint.tensor("relative_attention_bias.weight");
    std::vector<Scalar> table(tensor.count());
    widen<Scalar>(tensor, std::span<Scalar>(table));
    return std::make_unique<BucketBias<Scalar>>(table, config.t5_buckets, config.t5_max_distance);
  }
  return std::make_unique<NoBias<Scalar>>();
}

template class AbsoluteAlibi<float>;
template class AbsoluteAlibi<double>;
template class RelativeAlibi<float>;
template class RelativeAlibi<double>;
template class BucketBias<float>;
template class BucketBias<double>;
template std::unique_ptr<AttentionBias<float>> native_bias(const Checkpoint&);
template std::unique_ptr<AttentionBias<double>> native_bias(const Checkpoint&);

}  // namespace ropelab
