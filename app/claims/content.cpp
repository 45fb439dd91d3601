// The claim that the construction needs the ordinary dimensions unrotated.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/exact/double_double.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

// Every number in these matrices is a whole one (see the scales below) and every sum of products
// stays below 2^53: with |component| <= 378 it is at most 32 * 2 * 378^2 * (2 + 1) * 2^28. So
// products of matrices are exact in whatever order they are summed.
using Matrix = Eigen::MatrixXd;

constexpr int kDimensions = 64;
constexpr std::array<const char*, 5> kContentBases = {"1e4", "1e5", "5e5", "1e6", "1e7"};
constexpr int kSamples = 4096;
constexpr int kTurnBits = 28;      // cosines and sines are rounded to 2^-28
constexpr int kComponentBits = 6;  // components are multiples of 2^-6

// As good as normal, without any logarithm: twelve numbers of 0 ... 63 add up to mean 378 and
// variance 4095, so that a component has the variance 4095/4096.
double draw_component(boost::random::mt19937_64& random) {
  int sum = -378;
  for (int n = 0; n < 12; ++n) sum += static_cast<int>(random() >> 58);
  return sum;
}

Matrix draw_vectors(boost::random::mt19937_64& random) {
  Matrix vectors(kSamples, kDimensions);
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int n = 0; n < kDimensions; ++n) vectors(sample, n) = draw_component(random);
  }
  return vectors;
}

// What a query and a key contribute to the score, pair by pair: even * cos(d theta) +
// odd * sin(d theta).
struct Contents {
  Matrix even, odd;
};

Contents draw_contents(std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  const Matrix q = draw_vectors(random), k = draw_vectors(random);
  const auto firsts = Eigen::seqN(0, kDimensions / 2, 2),
             seconds = Eigen::seqN(1, kDimensions / 2, 2);
  const Matrix q0 = q(Eigen::all, firsts), q1 = q(Eigen::all, seconds);
  const Matrix k0 = k(Eigen::all, firsts), k1 = k(Eigen::all, seconds);
  return {q0.cwiseProduct(k0) + q1.cwiseProduct(k1), q0.cwiseProduct(k1) - q1.cwiseProduct(k0)};
}

// What turning by a distance does to them: cos(d theta) - 1 and sin(d theta), one pair a row.
struct Turn {
  Eigen::VectorXd even, odd;
  Real square = 0;       // expected of the change, in logits squared
  Real correlation = 0;  // expected of the turned score with the score before
};

Turn turn_by(const FrequencyGrid& grid, long long distance) {
  const auto whole = [](const Real& x) { return to_double(floor(ldexp(x, kTurnBits) + 0.5)); };
  Turn turn{Eigen::VectorXd(grid.pairs()), Eigen::VectorXd(grid.pairs())};
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const Real angle = grid.theta(pair).to_real() * distance;
    turn.even(pair) = whole(cosine(angle) - 1);
    turn.odd(pair) = whole(sine(angle));
    // Two products of unit variance each, times (cos - 1)^2 + sin^2 = 2 (1 - cos).
    turn.square += 4 * (1 - cosine(angle)) / kDimensions;
    turn.correlation += cosine(angle) / grid.pairs();
  }
  return turn;
}

struct Change {
  const char* base;
  long long distance;
  Real rms, expected_rms, largest;  // logits
  Real correlation;

  // The magnitude of the bias that one of 16 heads has there.
  Real bias(int head) const { return alibi_slope(16, head).to_real() * distance; }
};

// The sum of exact squares, in the order of the samples.
Real root_mean_square(const Eigen::VectorXd& scores) {
  DoubleDouble sum;
  for (Eigen::Index n = 0; n < scores.size(); ++n) {
    sum = sum + exact_product(scores(n), scores(n));
  }
  return sqrt(to_real(sum) / static_cast<long long>(scores.size()));
}

// From whole numbers to logits: the scales of both vectors, and 1/sqrt(64).
Real in_logits(const Real& x, int turn_bits) {
  return ldexp(x, -turn_bits - 2 * kComponentBits - 3);
}

Change change_at(const Contents& contents, const char* base, long long distance) {
  const FrequencyGrid grid(parse_positive(base), kDimensions);
  const Turn turn = turn_by(grid, distance);
  const Eigen::VectorXd scores = contents.even * turn.even + contents.odd * turn.odd;
  return {base,
          distance,
          in_logits(root_mean_square(scores), kTurnBits),
          sqrt(turn.square),
          in_logits(scores.cwiseAbs().maxCoeff(), kTurnBits),
          turn.correlation};
}

Table change_table(const std::vector<Change>& changes) {
  Table table({"base", "distance", "change_rms", "change_rms_expected", "change_max",
               "correlation_expected", "bias_head_1", "bias_head_16"});
  for (const Change& change : changes) {
    table.add_row({parse_positive(change.base).to_double(), change.distance, to_double(change.rms),
                   to_double(change.expected_rms), to_double(change.largest),
                   to_double(change.correlation), to_double(-change.bias(1)),
                   to_double(-change.bias(16))});
  }
  return table;
}

ClaimRow change_row(const Change& change) {
  return measured_row(
      {fmt::format("rms change of the content score at d = {}, logits", change.distance),
       fmt::format("{:.3g} times the bias there in head 1 of 16, {:.3g} times that in head 16; the "
                   "largest of {} samples is {:.3g} logits",
                   to_double(change.rms / change.bias(1)), to_double(change.rms / change.bias(16)),
                   kSamples, to_double(change.largest))},
      change.rms);
}

// 1, 2, 4 ... and the last distance that head 1 of 16 sees and the last of context 65536.
std::vector<long long> distances() {
  std::vector<long long> all{static_cast<long long>(visible_reach(alibi_slope(16, 1))), 65535};
  for (long long d = 1; d < 65536; d *= 2) all.push_back(d);
  std::sort(all.begin(), all.end());
  return all;
}

bool in_claims_table(long long d) { return d == 1 || d == 15 || d == 1024 || d == 65535; }

}  // namespace

ClaimResult all_rotate(const ClaimSettings& settings) {
  const Contents contents = draw_contents(settings.seed);
  const Real unrotated = in_logits(root_mean_square(contents.even.rowwise().sum()), 0);
  ClaimResult result{{measured_row({"rms of the content score, nothing rotated, logits",
                                    "q and k random of unit variance, head_dim 64"},
                                   unrotated)},
                     {}};
  std::vector<Change> changes;
  for (const char* base : kContentBases) {
    for (const long long d : distances()) {
      settings.interruption.check();
      changes.push_back(change_at(contents, base, d));
      if (base == kContentBases.front() && in_claims_table(d)) {
        result.rows.push_back(change_row(changes.back()));
      }
    }
    if (base == kContentBases.front()) {
      result.rows.push_back(
          measured_row({"rms change at d = 65535 over the rms of the content score",
                        "about sqrt(2): nothing of the content is left; base 1e4, dimension 64"},
                       changes.back().rms / unrotated));
    }
  }
  result.curve = change_table(changes);
  return result;
}

}  // namespace ropelab::app
