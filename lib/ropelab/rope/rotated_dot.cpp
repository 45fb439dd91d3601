#include "ropelab/rope/rotated_dot.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "ropelab/exact/fixed_point.hpp"

namespace ropelab {
namespace {

// cosine cos(d theta) + sine sin(d theta): what the pairs of one theta add to the sum.
struct Harmonic {
  Algebraic theta;
  Rational cosine;
  Rational sine;
};

// How close to the exact value ExactDot is, relative to it.
constexpr int stated_bits = 400;

void check(const FrequencyGrid& grid, const std::vector<Rational>& q,
           const std::vector<Rational>& k, long long i, long long j) {
  const auto components = static_cast<std::size_t>(grid.rope_dim());
  for (const auto& [name, size] : {std::pair("q", q.size()), std::pair("k", k.size())}) {
    if (size != components) {
      throw std::invalid_argument(std::string(name) + " has " + std::to_string(size) +
                                  " components; rope_dim asks for " + std::to_string(components));
    }
  }
  constexpr long long farthest = 1LL << 53;
  for (const auto& [name, position] : {std::pair("i", i), std::pair("j", j)}) {
    if (position < -farthest || position > farthest) {
      throw std::invalid_argument(std::string(name) + " is " + std::to_string(position) +
                                  "; positions go up to 2^53 in magnitude");
    }
  }
}

// One harmonic for each distinct theta. A scaled grid may hold equal ones anywhere; they have equal
// doubles.
std::vector<Harmonic> harmonics(const FrequencyGrid& grid, const std::vector<Rational>& q,
                                const std::vector<Rational>& k, Layout layout,
                                const Interruption& interruption) {
  std::vector<Harmonic> all;
  std::multimap<double, std::size_t> places;
  const auto harmonic_of = [&](const Algebraic& theta) -> Harmonic& {
    const double rounded = theta.to_double();
    const auto [first, last] = places.equal_range(rounded);
    for (auto place = first; place != last; ++place) {
      if (all[place->second].theta == theta) return all[place->second];
    }
    places.emplace(rounded, all.size());
    return all.emplace_back(Harmonic{theta, 0, 0});
  };
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    interruption.check();
    const auto [first, second] = pair_components(layout, grid.rope_dim(), pair);
    const Rational& q0 = q[static_cast<std::size_t>(first)];
    const Rational& q1 = q[static_cast<std::size_t>(second)];
    const Rational& k0 = k[static_cast<std::size_t>(first)];
    const Rational& k1 = k[static_cast<std::size_t>(second)];
    Harmonic& harmonic = harmonic_of(grid.theta(pair));
    harmonic.cosine += q0 * k0 + q1 * k1;
    harmonic.sine += q0 * k1 - q1 * k0;
  }
  return all;
}

ExactDot settled(Rational value) {
  Real real = to_real(value);
  return {std::move(value), std::move(real)};
}

Rational sum_of_cosines(const std::vector<Harmonic>& all) {
  Rational sum = 0;
  for (const Harmonic& harmonic : all) sum += harmonic.cosine;
  return sum;
}

bool vanishes(const Harmonic& harmonic) { return harmonic.cosine == 0 && harmonic.sine == 0; }

struct Estimate {
  Real sum;
  Real error;
};

// The sum in Real. An angle x is good to 2^-498 relative, cos and sin to 2^-480 relative (2^-480
// |x| absolute beyond 2^32), so that with the roundings of the sum a harmonic's error is below
// 2^-478 (|cosine| max(1, |x|) + |sine| |x|).
std::optional<Estimate> estimate(const std::vector<Harmonic>& all, long long d,
                                 const Interruption& interruption) {
  Estimate result{0, 0};
  for (const Harmonic& harmonic : all) {
    interruption.check();
    const Real angle = harmonic.theta.to_real() * d;
    const Real size = abs(angle);
    if (size > largest_angle()) return std::nullopt;
    const Real a = to_real(harmonic.cosine);
    const Real b = to_real(harmonic.sine);
    result.sum += a * cosine(angle) + b * sine(angle);
    result.error += ldexp(abs(a) * std::max(Real(1), size) + abs(b) * size, -478);
  }
  return result;
}

// Brings the coefficients to integers: the common denominator that they are divided by.
Integer common_denominator(const std::vector<Harmonic>& all, const Interruption& interruption) {
  Integer common = 1;
  for (const Harmonic& harmonic : all) {
    interruption.check();
    common = lcm(common, Integer(denominator(harmonic.cosine)));
    common = lcm(common, Integer(denominator(harmonic.sine)));
  }
  return common;
}

// The sum in as many bits as it takes; it is not 0.
Real escalate(const std::vector<Harmonic>& all, long long d, const Interruption& interruption) {
  const Integer common = common_denominator(all, interruption);
  for (unsigned bits = 1024;; bits *= 2) {
    Integer sum = 0;
    Integer error = 0;
    for (const Harmonic& harmonic : all) {
      interruption.check();
      const Integer a = numerator(Rational(harmonic.cosine * common));
      const Integer b = numerator(Rational(harmonic.sine * common));
      const FixedPointTurn turn = fixed_point_turn(harmonic.theta, d, bits);
      sum += a * turn.cosine + b * turn.sine;
      error += abs(a) + abs(b);
    }
    if ((abs(sum) >> (stated_bits + 2)) > error) return to_real(Rational(sum, common << bits));
  }
}

}  // namespace

std::string_view layout_name(Layout layout) {
  return layout == Layout::interleaved ? "interleaved" : "half";
}

Layout find_layout(std::string_view name) {
  for (const Layout layout : {Layout::interleaved, Layout::half}) {
    if (layout_name(layout) == name) return layout;
  }
  throw std::invalid_argument("'" + std::string(name) +
                              "' is no layout; there are interleaved and half");
}

std::pair<int, int> pair_components(Layout layout, int rope_dim, int pair) {
  if (layout == Layout::interleaved) return {2 * pair, 2 * pair + 1};
  return {pair, pair + rope_dim / 2};
}

std::string ExactDot::to_decimal(int digits) const {
  return rational ? ropelab::to_decimal(*rational, digits) : ropelab::to_decimal(value, digits);
}

ExactDot exact_rotated_dot(const FrequencyGrid& grid, const std::vector<Rational>& q,
                           const std::vector<Rational>& k, long long i, long long j, Layout layout,
                           const Interruption& interruption) {
  check(grid, q, k, i, j);
  const long long d = i - j;
  std::vector<Harmonic> all = harmonics(grid, q, k, layout, interruption);
  if (d == 0) return settled(sum_of_cosines(all));
  all.erase(std::remove_if(all.begin(), all.end(), vanishes), all.end());
  if (all.empty()) return settled(0);
  const std::optional<Estimate> quick = estimate(all, d, interruption);
  if (quick && quick->error < ldexp(Real(abs(quick->sum)), -stated_bits - 1)) {
    return {std::nullopt, quick->sum};
  }
  return {std::nullopt, escalate(all, d, interruption)};
}

}  // namespace ropelab
