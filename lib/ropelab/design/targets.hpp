// Relative biases that models add to their scores: what designs are to stand in for.
//
// Each is a function of the distance d = i - j from the query back to the key; where keys ahead
// of the query are seen as well (`bidirectional`, encoders), also of d < 0.
// [PSL] Press, Smith, Lewis: Train Short, Test Long (arXiv 2108.12409).
// [RSR] Raffel et al.: Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer (arXiv 1910.10683); Hugging Face transformers, models/t5/modeling_t5.py,
// T5Attention._relative_position_bucket.
// [VSP] Vaswani et al.: Attention Is All You Need (arXiv 1706.03762), section 3.5.
// [CFR] Chi, Fan, Ramadge, Rudnicky: KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation (arXiv 2205.09921), section 4.
// [CFS] Chi, Fan, Rudnicky, Ramadge: Dissecting Transformer Length Extrapolation via the Lens of
// Receptive Field Analysis (arXiv 2212.10356), section 5; NVIDIA NeMo,
// position_embedding/sandwich_relative_position_embedding.py.
#pragma once

#include <optional>
#include <vector>

#include "ropelab/errors/fitted_reference.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab {

// A relative bias, logits: `behind` is B(d) and `ahead` B(-d), for d >= 0.
struct RelativeBias {
  DistanceFunction behind;
  std::optional<DistanceFunction> ahead;  // where keys ahead are seen
  std::optional<Algebraic> slope;         // where B(d) = -slope d, and no keys ahead are seen
};

// -slope d [PSL], or -slope |d|.
RelativeBias alibi_bias(const Algebraic& slope, bool bidirectional);

// The following keep their double-double values at distances below `distances`, and take no others.
// They throw Interrupted.

// sum_r cos(d theta_r) over the grid's frequencies: the dot product of two sinusoidal embeddings
// of d positions apart [VSP].
RelativeBias sinusoidal_bias(const FrequencyGrid& grid, bool bidirectional, std::size_t distances,
                             const Interruption& interruption = {});

// (sum_(r=1)^(D/2) cos(d base^(-2r/D)) - D/2) / (8 head/heads) [CFS], D being `dimension`: even, at
// least 2. (r counts from 1, as in the equation and in NeMo's code; the embeddings of [VSP], and
// sinusoidal_bias, count from 0.) Throws std::invalid_argument for another dimension, a base that
// is not above 0, and unless 1 <= head <= heads.
RelativeBias sandwich_bias(int heads, int head, const Algebraic& base, int dimension,
                           bool bidirectional, std::size_t distances,
                           const Interruption& interruption = {});

// -r1 log(1 + r2 |d|) and -r1 |d|^r2 [CFR]. Throw std::invalid_argument unless r1, r2 > 0, for the
// logarithm also r2 >= 2^-300, and for the power r2 <= 2, beyond which it is no kernel of theirs.
RelativeBias kerple_log_bias(const Real& r1, const Real& r2, bool bidirectional,
                             std::size_t distances, const Interruption& interruption = {});
RelativeBias kerple_power_bias(const Real& r1, const Real& r2, bool bidirectional,
                               std::size_t distances, const Interruption& interruption = {});

// T5's buckets: how many, of both directions where keys ahead are seen, and the distance from
// which on all keys share the last one.
struct T5Buckets {
  int count = 32;
  int max_distance = 128;
  bool bidirectional = false;
};

// The bucket of a key at i - j = distance [RSR], 0 ... count-1; without keys ahead every negative
// distance is in bucket 0. With n the buckets of one direction, the first n/2 hold one distance
// each, and bucket n/2 + floor(log(d/(n/2)) / log(max_distance/(n/2)) (n - n/2)) the others, but
// none beyond n-1; keys ahead have n added. As the published code does, the quotient, the
// logarithm, the division and the product are rounded to float32 one after the other; here each is
// rounded correctly. (This matters where the exact value is a whole number: with the defaults and
// keys ahead, at |d| = 64 the quotient log(8)/log(16) decides whether that is bucket 13 or 14.)
// Throws std::invalid_argument unless one direction has at least 2 buckets and an even number of
// them, and max_distance is above half of it.
int t5_bucket(const T5Buckets& buckets, long long distance);

// The learned value of each key's bucket. Throws as t5_bucket, and unless there is one value for
// each bucket.
RelativeBias t5_bias(const T5Buckets& buckets, const std::vector<Rational>& values,
                     std::size_t distances, const Interruption& interruption = {});

// B(0), B(1), ..., and B(0), B(-1), ... of keys ahead, if there are any. Throws
// std::invalid_argument where one of them is empty, or both begin with different numbers.
RelativeBias table_bias(const std::vector<Rational>& behind, const std::vector<Rational>& ahead);

}  // namespace ropelab
