#include "ropelab/rope/least_base.hpp"

#include <cmath>
#include <string>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/cosine_sum.hpp"
#include "ropelab/table/csv_reader.hpp"

using namespace ropelab;

namespace {

Real exact_sum_of_cosines(int rope_dim, double ratio, long long distance) {
  Real sum = 0;
  for (int pair = 0; pair < rope_dim / 2; ++pair) {
    sum += cosine(power(Real(ratio), Real(pair)) * distance);
  }
  return sum;
}

LeastBaseProof proof_for(int rope_dim, long long context) {
  const auto proof = find_least_base(rope_dim, context);
  REQUIRE(proof);
  REQUIRE_FALSE(flaw_of(*proof));
  return *proof;
}

// A proof for 8 dimensions and context 32 that somebody has spoilt.
std::string flaw_after(void (*spoil)(LeastBaseProof&)) {
  LeastBaseProof proof = proof_for(8, 32);
  REQUIRE(proof.refuted.size() >= 3);
  spoil(proof);
  return flaw_of(proof).value_or("no flaw");
}

}  // namespace

TEST_CASE("a sum of cosines lies in its enclosure, whose sign is certain") {
  for (const int rope_dim : {2, 4, 128}) {
    for (const double ratio : {1.0, 0.97, 0.8774803897921569, 0.5, 1e-3, 1e-20}) {
      const CosineSum sum(rope_dim, ratio);
      for (const long long d :
           {0LL, 1LL, 2LL, 22LL, 355LL, 1009LL, 65535LL, 103993LL, (1LL << 32) - 1}) {
        const Enclosure f = sum.at(d);
        const Real exact = exact_sum_of_cosines(rope_dim, ratio, d);
        CAPTURE(rope_dim, ratio, d, f.value, f.error);
        CHECK(abs(exact - Real(f.value)) <= Real(f.error));
        CHECK(f.error < std::fabs(f.value) / 16);
      }
    }
  }
}

TEST_CASE("the distances with a negative sum are found in order, none left out") {
  const CosineSum sum(128, 0.86);
  std::vector<long long> negative;
  for (long long d = 1; d < 20000; ++d) {
    if (sum.at(d).value < 0) negative.push_back(d);
  }
  REQUIRE(negative.size() > 100);
  CHECK(sum.negative_distances(1, 20000, 100000) == negative);
  CHECK(sum.negative_distances(negative[3], 20000, 2) ==
        std::vector<long long>{negative[3], negative[4]});
  CHECK(sum.negative_distances(1, negative[0], 2).empty());
}

TEST_CASE("no second difference of the sum exceeds the bound on its curvature") {
  for (const int rope_dim : {2, 4, 10, 128}) {
    for (const double ratio : {0.01, 0.5, 0.9, 0.99}) {
      for (const long long d : {1LL, 30LL, 1000LL}) {
        const double step = 0x1p-40;
        const Real second = exact_sum_of_cosines(rope_dim, ratio - step, d) -
                            2 * exact_sum_of_cosines(rope_dim, ratio, d) +
                            exact_sum_of_cosines(rope_dim, ratio + step, d);
        CAPTURE(rope_dim, ratio, d);
        CHECK(abs(second) / (Real(step) * step) <= curvature_bound(rope_dim, d, ratio + step));
      }
    }
  }
}

TEST_CASE("the least base is that of a search by brute force") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/least_base.csv");
  REQUIRE(reference.records().size() > 10);
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    const int rope_dim = std::stoi(reference.at(n, "rope_dim"));
    const long long context = std::stoll(reference.at(n, "context"));
    const BaseBracket base = bracket(proof_for(rope_dim, context));
    const Rational expected = parse_rational(reference.at(n, "least_base"));
    CAPTURE(rope_dim, context, base.low, base.high);
    CHECK(to_rational(base.low) <= expected);
    CHECK(to_rational(base.high) >= expected);
    CHECK(base.high - base.low <= 1e-14 * base.low);
  }
}

TEST_CASE("with two pairs the least base has a closed form") {
  // cos 3 + cos 3t >= 0 ends at 3t = pi - 3, and cos 22 + cos 22t at 22t = 22 - 7 pi.
  const Real three = 3 / (pi() - 3), twenty_two = 22 / (22 - 7 * pi());
  for (const auto& [context, root] : {std::pair(4, three), std::pair(32, twenty_two)}) {
    const BaseBracket base = bracket(proof_for(4, context));
    CHECK(Real(base.low) <= root * root);
    CHECK(Real(base.high) >= root * root);
  }
}

TEST_CASE("two positions are served by every base, and more by none of a single pair") {
  for (const int rope_dim : {2, 64}) {
    for (const int context : {1, 2}) {
      const LeastBaseProof proof = proof_for(rope_dim, context);
      CHECK(proof.refuted.empty());
      CHECK(bracket(proof).low == 1);
      CHECK(bracket(proof).high == 1);
    }
  }
  CHECK_FALSE(find_least_base(2, 3));
}

TEST_CASE("a search that goes on from a shorter context ends at the same base") {
  const LeastBaseProof shorter = proof_for(128, 256);
  const auto longer = find_least_base(128, 512, &shorter);
  REQUIRE(longer);
  CHECK_FALSE(flaw_of(*longer));
  const BaseBracket from_shorter = bracket(*longer), anew = bracket(proof_for(128, 512));
  CHECK(from_shorter.low <= anew.high);
  CHECK(anew.low <= from_shorter.high);
  CHECK(bracket(shorter).high < anew.low);
}

TEST_CASE("a spoilt proof is refused, and the sentence says where") {
  using Catch::Matchers::StartsWith;
  CHECK(flaw_after([](LeastBaseProof&) {}) == "no flaw");
  // A gap: the next witness does not reach up to the one before the gap.
  CHECK_THAT(
      flaw_after([](LeastBaseProof& proof) { proof.refuted.erase(proof.refuted.begin() + 1); }),
      StartsWith("the sum at distance "));
  // Another witness.
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) { proof.refuted[1].witness = 1; }),
             StartsWith("the sum at distance 1 is not negative at every ratio from "));
  // More than its witness refutes, if only by a little.
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) {
               proof.refuted.back().ratio *= 1 - 1e-12;
               proof.serving = proof.refuted.back().ratio;
             }),
             StartsWith("the sum at distance 22 is not negative at every ratio from "));
  // A base that does not serve.
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) { proof.serving = proof.refuted.back().ratio; }),
             StartsWith("the sum at distance 22 is negative at the serving ratio "));
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) { proof.serving = 1; }),
             StartsWith("the serving ratio 1 is not between 0 and the last refuted one"));
  // A distance that the context does not have, and ratios out of order.
  CHECK(flaw_after([](LeastBaseProof& proof) { proof.context = 22; }) ==
        "the witness 22 is not a distance from 1 to 21");
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) { proof.refuted[1].ratio = 0.99; }),
             StartsWith("the ratio 0.99 is not between 0 and the one before it"));
  CHECK_THAT(flaw_after([](LeastBaseProof& proof) { proof.refuted[1].ratio = std::nan(""); }),
             StartsWith("the ratio nan is not between 0"));
}

TEST_CASE("what no search can be for is refused, and a search can be interrupted") {
  CHECK_THROWS_AS(find_least_base(7, 8), std::invalid_argument);
  CHECK_THROWS_AS(find_least_base(0, 8), std::invalid_argument);
  CHECK_THROWS_AS(find_least_base(8, 0), std::invalid_argument);
  CHECK_THROWS_AS(find_least_base(8, longest_searched_context + 1), std::invalid_argument);
  CHECK_THROWS_AS(CosineSum(8, 0), std::invalid_argument);
  CHECK_THROWS_AS(CosineSum(8, 1.5), std::invalid_argument);
  const std::atomic<bool> stop = true;
  CHECK_THROWS_AS(find_least_base(8, 64, nullptr, Interruption(stop)), Interrupted);
}
