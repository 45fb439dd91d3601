// Causal attention of all heads of one layer, by blocks of queries.
#pragma once

#include <vector>

#include "ropelab/exact/interruption.hpp"
#include "ropelab/transformer/attention_bias.hpp"
#include "ropelab/transformer/matrix.hpp"

namespace ropelab {

// Sums over queries of what the attention weights a_j of one query on its n visible keys are like.
// Those at position 0, which see one key, count as well.
struct HeadStatistics {
  double entropy = 0;   // -sum a_j ln a_j, nats; 0 ln 0 = 0
  double greatest = 0;  // the largest a_j
  double variance = 0;  // 1/n sum (a_j - 1/n)^2, of the population of the visible keys
  long long queries = 0;

  HeadStatistics& operator+=(const HeadStatistics& other);
  double mean_entropy() const { return entropy / static_cast<double>(queries); }
  double mean_greatest() const { return greatest / static_cast<double>(queries); }
  double mean_variance() const { return variance / static_cast<double>(queries); }
};

// Queries, and the keys and values they see. Head h, from 0, has its head_dim columns of the
// queries at h * query_step, those of the keys and values at h * key_step.
template <class Scalar>
struct HeadsInput {
  ConstMatrixView<Scalar> queries, keys, values;
  Eigen::Index query_step, key_step;
  int heads;
  Eigen::Index head_dim;
  long long first_key;  // position; the last query is at the position of the last key
};

// out (a row for each query, head after head) = the means of the values by the weights
// softmax(q.k/sqrt(head_dim) + bias) of the keys up to the query's own. The work goes to the
// threads of the caller's TBB arena, without a trace in the figures; each thread holds the scores
// of 128 queries of one head.
// Adds to `statistics`, one for each head, unless it is null. Throws Interrupted, some blocks being
// done.
template <class Scalar>
void attend(const HeadsInput<Scalar>& input, const AttentionBias<Scalar>& bias,
            MatrixView<Scalar> out, HeadStatistics* statistics,
            const Interruption& interruption = {});

}  // namespace ropelab
