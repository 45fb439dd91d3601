#include "ropelab/transformer/attention_bias.hpp"

#include "catch.hpp"

namespace ropelab {
namespace {

// The bias of each query on each key it sees, from a block that starts at 0 scores.
template <class Scalar>
std::vector<std::vector<Scalar>> biases(const AttentionBias<Scalar>& bias, int head,
                                        long long first_query, std::size_t queries,
                                        long long first_key) {
  const std::size_t keys = static_cast<std::size_t>(first_query - first_key) + queries;
  std::vector<Scalar> scores(queries * keys);
  const ScoreBlock<Scalar> block{
      scores.data(), static_cast<std::ptrdiff_t>(keys), head, first_query, queries, first_key};
  bias.add_to(block);
  std::vector<std::vector<Scalar>> rows;
  for (std::size_t q = 0; q < queries; ++q) {
    rows.emplace_back(block.visible(q).begin(), block.visible(q).end());
  }
  return rows;
}

}  // namespace

TEST_CASE("ALiBi by key and by distance") {
  // Of six heads the sixth has the slope 2^-3, of four the first 2^-2.
  const auto absolute = biases(AbsoluteAlibi<float>(6), 6, 1000, 37, 990);
  const auto relative = biases(RelativeAlibi<double>(4), 1, 1000, 37, 990);
  REQUIRE(absolute.size() == 37);
  for (std::size_t q = 0; q < 37; ++q) {
    REQUIRE(absolute[q].size() == q + 11);
    for (std::size_t k = 0; k < absolute[q].size(); ++k) {
      REQUIRE(absolute[q][k] == static_cast<float>(990 + k) / 8);
      REQUIRE(relative[q][k] == -static_cast<double>(q + 10 - k) / 4);
    }
  }
}

TEST_CASE("T5's buckets of 32 and 128") {
  const int first_distances[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  int bucket = 0;
  for (int distance = 0; distance < 5000; ++distance) {
    while (bucket < 31 &&
           distance >= (bucket + 1 < 16 ? bucket + 1 : first_distances[bucket - 15])) {
      ++bucket;
    }
    REQUIRE(t5_bucket(distance, 32, 128) == bucket);
  }
}

TEST_CASE("T5's buckets where powers meet their border exactly") {
  // e = 2, ln(n/2)/ln(8) * 2: 16 is the border of nothing but the last.
  CHECK(t5_bucket(2, 4, 16) == 2);
  CHECK(t5_bucket(5, 4, 16) == 2);  // (5/2)^2 = 6.25 < 8
  CHECK(t5_bucket(6, 4, 16) == 3);  // 9 >= 8
  // e = 4: 4 ln(n/4)/ln(16) reaches 1, 2, 3 at exactly 8, 16, 32.
  CHECK(t5_bucket(7, 8, 64) == 4);
  CHECK(t5_bucket(8, 8, 64) == 5);
  CHECK(t5_bucket(15, 8, 64) == 5);
  CHECK(t5_bucket(16, 8, 64) == 6);
  CHECK(t5_bucket(31, 8, 64) == 6);
  CHECK(t5_bucket(32, 8, 64) == 7);
  CHECK(t5_bucket(1LL << 40, 8, 64) == 7);
  CHECK_THROWS_AS(t5_bucket(0, 8, 4), std::invalid_argument);
  CHECK_THROWS_AS(t5_bucket(0, 1, 4), std::invalid_argument);
}

TEST_CASE("a table by buckets") {
  std::vector<double> table;
  for (int n = 0; n < 32 * 3; ++n) table.push_back(n);  // [bucket][head]
  const BucketBias<double> bias(table, 32, 128);
  for (const int head : {1, 3}) {
    const auto rows = biases(bias, head, 200, 50, 5);
    for (std::size_t q = 0; q < rows.size(); ++q) {
      for (std::size_t k = 0; k < rows[q].size(); ++k) {
        const auto distance = static_cast<long long>(195 + q - k);
        REQUIRE(rows[q][k] == t5_bucket(distance, 32, 128) * 3 + head - 1);
      }
    }
  }
  CHECK(biases(bias, 2, 0, 1, 0)[0][0] == 1);
}

}  // namespace ropelab
