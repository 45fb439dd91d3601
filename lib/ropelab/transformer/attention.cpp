#include "ropelab/transformer/attention.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

#include "ropelab/transformer/products.hpp"
#include "ropelab/transformer/vector_kernels.hpp"

namespace ropelab {
namespace {

constexpr Eigen::Index queries_at_a_time = 128;

template <class Scalar>
struct Room {
  std::vector<Scalar> scores;
  std::vector<Scalar> row;  // of scores, kept for statistics
};

// One head and a block of its queries.
template <class Scalar>
class Block {
 public:
  Block(const HeadsInput<Scalar>& input, int head, Eigen::Index first_query, Room<Scalar>& room)
      : input_(input),
        head_(head),
        first_(first_query),
        queries_(std::min(queries_at_a_time, input.queries.rows() - first_query)),
        keys_(input.keys.rows() - input.queries.rows() + first_query + queries_),
        room_(room) {
    room.scores.resize(std::max(room.scores.size(), static_cast<std::size_t>(queries_ * keys_)));
  }

  void attend(const AttentionBias<Scalar>& bias, MatrixView<Scalar> out,
              HeadStatistics* statistics) {
    MappedMatrix<Scalar> scores(room_.scores.data(), queries_, keys_, Eigen::OuterStride<>(keys_));
    const auto scale = static_cast<Scalar>(1 / std::sqrt(static_cast<double>(input_.head_dim)));
    const ConstMatrixView<Scalar> queries =
        input_.queries.block(first_, head_ * input_.query_step, queries_, input_.head_dim);
    multiply_by_transposed<Scalar>(scale, queries, of_head(input_.keys), scores);
    const ScoreBlock<Scalar> block = score_block();
    bias.add_to(block);
    MatrixView<Scalar> means =
        out.block(first_, head_ * input_.head_dim, queries_, input_.head_dim);
    Eigen::Array<Scalar, Eigen::Dynamic, 1> sums(queries_);
    for (Eigen::Index q = 0; q < queries_; ++q) {
      sums[q] = static_cast<Scalar>(exponentiate(block, static_cast<std::size_t>(q), statistics));
      scores.row(q).tail(queries_ - 1 - q).setZero();
    }
    multiply<Scalar>(scores, of_head(input_.values), means);
    for (Eigen::Index q = 0; q < queries_; ++q) means.row(q) *= 1 / sums[q];
  }

 private:
  ConstMatrixView<Scalar> of_head(const ConstMatrixView<Scalar>& keys) const {
    return keys.block(0, head_ * input_.key_step, keys_, input_.head_dim);
  }

  ScoreBlock<Scalar> score_block() const {
    const long long first_query = input_.first_key + (keys_ - queries_);
    return {room_.scores.data(),
            keys_,
            static_cast<int>(head_) + 1,
            first_query,
            static_cast<std::size_t>(queries_),
            input_.first_key};
  }

  // The sum of the exponentials that replace the visible scores.
  double exponentiate(const ScoreBlock<Scalar>& block, std::size_t query,
                      HeadStatistics* statistics) {
    const std::span<Scalar> scores = block.visible(query);
    if (statistics == nullptr) return vector_kernels::exponentiate(scores).sum;
    room_.row.assign(scores.begin(), scores.end());
    const auto [greatest, sum] = vector_kernels::exponentiate(scores);
    const vector_kernels::Moments moments = vector_kernels::moments_of(
        std::span<const Scalar>(scores), std::span<const Scalar>(room_.row), greatest);
    const double mean = 1 / static_cast<double>(scores.size());
    // Of weights e/sum, e = e^x: -ln = ln(sum) - x, and the largest e is 1.
    *statistics += {std::log(sum) - moments.exponents / sum, 1 / sum,
                    std::max(moments.squares / (sum * sum) * mean - mean * mean, 0.0), 1};
    return sum;
  }

  const HeadsInput<Scalar>& input_;
  Eigen::Index head_, first_, queries_, keys_;
  Room<Scalar>& room_;
};

}  // namespace

HeadStatistics& HeadStatistics::operator+=(const HeadStatistics& other) {
  entropy += other.entropy;
  greatest += other.greatest;
  variance += other.variance;
  queries += other.queries;
  return *this;
}

template <class Scalar>
void attend(const HeadsInput<Scalar>& input, const AttentionBias<Scalar>& bias,
            MatrixView<Scalar> out, HeadStatistics* statistics, const Interruption& interruption) {
  const Eigen::Index heads = input.heads;
  const Eigen::Index blocks = (input.queries.rows() + queries_at_a_time - 1) / queries_at_a_time;
  std::vector<HeadStatistics> shares(static_cast<std::size_t>(heads * blocks));
  const auto attend_to = [&](Eigen::Index n) {
    interruption.check();
    // The longest rows first, so that no thread is left with one of them at the end.
    const Eigen::Index block = blocks - 1 - n / heads;
    thread_local Room<Scalar> room;
    HeadStatistics* share = &shares[static_cast<std::size_t>(n)];
    Block<Scalar>(input, static_cast<int>(n % heads), block * queries_at_a_time, room)
        .attend(bias, out, statistics == nullptr ? nullptr : share);
  };
  tbb::parallel_for(
      tbb::blocked_range<Eigen::Index>(0, heads * blocks, 1),
      [&](const tbb::blocked_range<Eigen::Index>& range) {
        for (Eigen::Index n = range.begin(); n != range.end(); ++n) attend_to(n);
      },
      tbb::simple_partitioner());
  if (statistics == nullptr) return;
  for (std::size_t n = 0; n < shares.size(); ++n) {
    statistics[n % static_cast<std::size_t>(heads)] += shares[n];
  }
}

template void attend(const HeadsInput<float>&, const AttentionBias<float>&, MatrixView<float>,
                     HeadStatistics*, const Interruption&);
template void attend(const HeadsInput<double>&, const AttentionBias<double>&, MatrixView<double>,
                     HeadStatistics*, const Interruption&);

}  // namespace ropelab
