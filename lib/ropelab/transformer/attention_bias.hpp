// What a model adds to its attention scores before the softmax.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ropelab/checkpoint/checkpoint.hpp"

namespace ropelab {

// The scores q.k/sqrt(head_dim) that neighbouring queries of one head give to the keys from
// `first_key` on. Positions count from the start of the text, `first_position` of a run included.
template <class Scalar>
struct ScoreBlock {
  Scalar* scores;
  std::ptrdiff_t stride;  // from one query to the next
  int head;               // from 1
  long long first_query;  // position; at least first_key
  std::size_t queries;
  long long first_key;  // position

  // The score of the query and of each key it sees, the last of which is its own.
  std::span<Scalar> visible(std::size_t query) const {
    return {scores + static_cast<std::ptrdiff_t>(query) * stride,
            static_cast<std::size_t>(first_query - first_key) + query + 1};
  }
  long long position(std::size_t query) const {
    return first_query + static_cast<long long>(query);
  }
};

template <class Scalar>
class AttentionBias {
 public:
  virtual ~AttentionBias() = default;
  // Adds the bias, in Scalar, to the visible scores of every query; the others are not looked at
  // afterwards and may be changed. The same for every layer. Called from several threads
  // at once, inside tasks of TBB, and so must not wait for tasks of its own.
  virtual void add_to(const ScoreBlock<Scalar>& block) const = 0;
};

template <class Scalar>
class NoBias : public AttentionBias<Scalar> {
 public:
  void add_to(const ScoreBlock<Scalar>&) const override {}
};

// ALiBi as BLOOM's code in Hugging Face transformers has it: +m j, j the position of the key,
// which is -m (i - j) but for a constant of the query that the softmax does not see. m is the exact
// slope rounded to Scalar; m j and the sum are rounded. Positions beyond 2^24 are rounded in float.
template <class Scalar>
class AbsoluteAlibi : public AttentionBias<Scalar> {
 public:
  explicit AbsoluteAlibi(int heads);
  void add_to(const ScoreBlock<Scalar>& block) const override;

 private:
  std::vector<Scalar> slopes_;
};

// ALiBi as it is defined: -m (i - j). In float it rounds less than +m j, as near keys count most.
template <class Scalar>
class RelativeAlibi : public AttentionBias<Scalar> {
 public:
  explicit RelativeAlibi(int heads);
  void add_to(const ScoreBlock<Scalar>& block) const override;

 private:
  std::vector<Scalar> slopes_;
};

// T5's bias of a decoder: table[bucket(i - j)][head], one table for all layers.
// [T5] Raffel et al.: Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer, JMLR 2020 (arXiv 1910.10683), section 2.1 and its published code.
template <class Scalar>
class BucketBias : public AttentionBias<Scalar> {
 public:
  // `table` holds `buckets` rows of one number for each head.
  BucketBias(std::span<const Scalar> table, int buckets, int max_distance);
  void add_to(const ScoreBlock<Scalar>& block) const override;

 private:
  std::size_t distances_;         // the last of them stands for all beyond
  std::vector<Scalar> reversed_;  // [head][the furthest first, down to 0]
};

// The bucket of a distance n >= 0 [T5]: with e = buckets/2, n for n < e, otherwise
// e + floor(e' ln(n/e)/ln(max_distance/e)), e' = buckets - e, but at most buckets - 1. By whole
// numbers, so that no rounding can move a border. Throws std::invalid_argument unless buckets >= 2
// and max_distance > buckets/2.
int t5_bucket(long long distance, int buckets, int max_distance);

// What the model itself adds to its scores: AbsoluteAlibi for alibi, its table for t5, nothing for
// the other encodings.
template <class Scalar>
std::unique_ptr<AttentionBias<Scalar>> native_bias(const Checkpoint& checkpoint);

}  // namespace ropelab
