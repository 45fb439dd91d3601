// Published claims about which base serves which context.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/claims/all_claims.hpp"
#include "app/claims/least_base_proof.hpp"
#include "ropelab/rope/cosine_sum.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

// Llama 2: dimension, training length, base.
constexpr int kDim = 128;
constexpr long long kTrained = 4096;
constexpr long long kBase = 10000;

// 2 ceil((D/2) log_base(L/2 pi)), as it is published.
Real published_formula() {
  const Real turns = Real(kTrained) / (2 * pi());
  return 2 * ceil(kDim / 2 * natural_logarithm(turns) / natural_logarithm(Real(kBase)));
}

// Dimensions whose pair turns all the way round within the training length.
int dimensions_that_turn() {
  const FrequencyGrid grid(Rational(kBase), kDim);
  int dimensions = 0;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    if (grid.theta(pair).to_real() * kTrained >= 2 * pi()) dimensions += 2;
  }
  return dimensions;
}

// The least base of a context as two sources give it.
struct PublishedBase {
  long long context;
  const char* men;  // Men et al. 2024
  const char* su;   // Su's recomputation
};

constexpr PublishedBase kPublished[] = {
    {1 << 10, "4.3e3", "4.3e3"}, {1 << 11, "1.6e4", "1.2e4"}, {1 << 12, "2.7e4", "2.7e4"},
    {1 << 13, "8.4e4", "8.4e4"}, {1 << 14, "3.1e5", "2.3e5"}, {1 << 15, "6.4e5", "6.3e5"},
    {1 << 16, "2.1e6", "2.1e6"}, {1 << 17, "7.8e6", "4.9e6"}, {1 << 18, "3.6e7", "2.4e7"},
    {1 << 19, "6.4e7", "5.8e7"}, {1 << 20, "5.1e8", "6.5e7"}};

LeastBaseProof kept_proof(long long context) {
  LeastBaseProof proof{kDim, context, {}, 0};
  for (const ProofRow& row : least_base_proof_rows()) {
    if (row.context > context) break;
    if (row.witness != 0) {
      proof.refuted.push_back({row.ratio, row.witness});
    } else {
      proof.serving = row.ratio;
    }
  }
  return proof;
}

// Throws std::runtime_error unless it holds.
LeastBaseProof checked_proof(long long context, const Interruption& interruption) {
  LeastBaseProof proof = kept_proof(context);
  if (const auto flaw = flaw_of(proof, interruption)) {
    throw std::runtime_error(
        fmt::format("experiments/least-base-proof.csv, context {}: {}", context, *flaw));
  }
  return proof;
}

// How far above the least base, at most, one is refuted again: looked for at ratios smaller by
// 2^-32, 2^-31, ... of themselves.
ClaimRow island_row(const LeastBaseProof& proof) {
  double step = 0x1p-32;
  std::vector<long long> negative;
  for (;; step *= 2) {
    const CosineSum sum(kDim, proof.serving * (1 - step));
    negative = sum.negative_distances(1, proof.context, 1);
    if (!negative.empty()) break;
  }
  return measured_row(
      {fmt::format("a base larger by this much is refuted again, relative, context {}",
                   proof.context),
       fmt::format("by d = {}: the bases that serve are no interval", negative.front())},
      power(Real(1 - step), Real(-kDim / 2)) - 1);
}

void add_least_base_rows(ClaimResult& result, const PublishedBase& published,
                         const LeastBaseProof& proof) {
  const BaseBracket base = bracket(proof);
  const long long last = proof.refuted.back().witness;
  const std::string note = fmt::format(
      "proved: this one, but for its last digits, serves; every smaller one lies in one of {} "
      "intervals, each with a distance that makes the sum negative, d = {} just below",
      proof.refuted.size(), last);
  const std::string quantity =
      fmt::format("least base for context {}, dimension 128", proof.context);
  result.rows.push_back(stated_row({quantity + " (Men et al.)", note}, published.men, base.high));
  result.rows.push_back(
      stated_row({quantity + " (Su's recomputation)", note}, published.su, base.high));
  result.rows.push_back(island_row(proof));
  result.curve->add_row({kDim, proof.context, base.low, base.high, last, proof.refuted.size(),
                         ExactNumber{published.men}, ExactNumber{published.su}});
}

}  // namespace

ClaimResult least_bases(const ClaimSettings& settings) {
  ClaimResult result;
  result.curve.emplace(std::vector<std::string>{"rope_dim", "context", "least_base_low",
                                                "least_base_high", "witness", "intervals",
                                                "men_2024", "su"});
  for (const PublishedBase& published : kPublished) {
    add_least_base_rows(result, published, checked_proof(published.context, settings.interruption));
  }
  return result;
}

ClaimResult critical_dimension(const ClaimSettings&) {
  return {{stated_row({"critical dimension of Llama 2", "2 ceil(64 log_10000(4096/2pi))"}, "92",
                      published_formula()),
           stated_row({"dimensions that turn all the way round within 4096 positions",
                       "counted over the grid: dimension 128, base 1e4"},
                      "92", dimensions_that_turn())},
          {}};
}

}  // namespace ropelab::app
