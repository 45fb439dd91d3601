#include "ropelab/design/targets.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace ropelab {
namespace {

RelativeBias even(DistanceFunction function, bool bidirectional) {
  RelativeBias bias{std::move(function), {}, {}};
  if (bidirectional) bias.ahead = bias.behind;
  return bias;
}

// The same function, its values at distances below `distances` made once.
DistanceFunction kept(DistanceFunction function, std::size_t distances,
                      const Interruption& interruption) {
  auto values = std::make_shared<std::vector<DoubleDouble>>(distances);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, distances, 64), [&](const auto& range) {
    interruption.check();
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      (*values)[d] = function.quick(d);
    }
  });
  function.quick = [values](std::size_t d) { return values->at(d); };
  return function;
}

// Of a function that is known in Reals alone.
DistanceFunction kept(const std::function<Real(std::size_t)>& exact, std::size_t distances,
                      const Interruption& interruption) {
  const auto quick = [exact](std::size_t d) { return to_double_double(exact(d)); };
  DistanceFunction function = kept({exact, quick, {}}, distances, interruption);
  function.error = [kept_quick = function.quick](std::size_t d) {
    return 0x1p-106 * std::fabs(kept_quick(d).high);
  };
  return function;
}

// Of a number for each distance.
DistanceFunction listed(const std::vector<Rational>& numbers,
                        const Interruption& interruption = {}) {
  auto values = std::make_shared<std::vector<Real>>();
  for (const Rational& number : numbers) values->push_back(to_real(number));
  return kept([values](std::size_t d) -> Real { return values->at(d); }, values->size(),
              interruption);
}

// scale * sum cos(d theta).
DistanceFunction cosines(const std::vector<Algebraic>& thetas, const Algebraic& scale) {
  std::vector<RotatedPair> pairs;
  for (const Algebraic& theta : thetas) pairs.push_back({theta, {0, 1}, {0, 1}});
  return simulated_by(pairs, scale);
}

void check_kerple(const Real& r1, const Real& r2) {
  if (!(r1 > 0 && r2 > 0)) throw std::invalid_argument("r1 and r2 of a kerple must be above 0");
}

// Of one direction.
int buckets_of(const T5Buckets& buckets) {
  const int count = buckets.bidirectional ? buckets.count / 2 : buckets.count;
  if (count < 2 || count % 2 != 0 || (buckets.bidirectional && buckets.count % 2 != 0)) {
    throw std::invalid_argument(
        "each direction of T5's buckets needs an even number of them, at least 2");
  }
  if (buckets.max_distance <= count / 2) {
    throw std::invalid_argument("the largest distance of T5's buckets must be above half of them");
  }
  return count;
}

float to_float(const Real& x) { return static_cast<float>(round_to(float32_format(), x)); }

// Of a distance from n/2 on, of n = count buckets.
int logarithmic_bucket(int count, int max_distance, long long distance) {
  const int exact = count / 2;
  const float quotient = static_cast<float>(distance) / static_cast<float>(exact);
  const float logarithm = to_float(natural_logarithm(Real(quotient)));
  // The published code takes this logarithm in float64, and float32 arithmetic rounds it.
  const double range =
      to_double(natural_logarithm(Real(static_cast<double>(max_distance) / exact)));
  const float share = logarithm / static_cast<float>(range);
  const float place = share * static_cast<float>(count - exact);
  return exact + static_cast<int>(std::min(place, static_cast<float>(count)));
}

}  // namespace

RelativeBias alibi_bias(const Algebraic& slope, bool bidirectional) {
  RelativeBias bias = even(linear_bias(slope), bidirectional);
  if (!bidirectional) bias.slope = slope;
  return bias;
}

RelativeBias sinusoidal_bias(const FrequencyGrid& grid, bool bidirectional, std::size_t distances,
                             const Interruption& interruption) {
  std::vector<Algebraic> thetas;
  for (int pair = 0; pair < grid.pairs(); ++pair) thetas.push_back(grid.theta(pair));
  return even(kept(cosines(thetas, Algebraic()), distances, interruption), bidirectional);
}

RelativeBias sandwich_bias(int heads, int head, const Algebraic& base, int dimension,
                           bool bidirectional, std::size_t distances,
                           const Interruption& interruption) {
  if (head < 1 || head > heads) {
    throw std::invalid_argument("a head must be one of the heads, counted from 1");
  }
  const FrequencyGrid grid(base, dimension);
  std::vector<Algebraic> thetas;
  for (int r = 1; r < grid.pairs(); ++r) thetas.push_back(grid.theta(r));
  thetas.push_back(Algebraic() / base);  // r = D/2
  const Rational scale(heads, 8 * head);
  const auto function = shifted(cosines(thetas, Algebraic(scale)), to_real(-scale * grid.pairs()));
  return even(kept(function, distances, interruption), bidirectional);
}

RelativeBias kerple_log_bias(const Real& r1, const Real& r2, bool bidirectional,
                             std::size_t distances, const Interruption& interruption) {
  check_kerple(r1, r2);
  if (r2 < Real(0x1p-300)) {
    throw std::invalid_argument("r2 of kerple-log must be at least 2^-300");
  }
  const auto exact = [r1, r2](std::size_t d) -> Real {
    return d == 0 ? Real(0) : Real(-r1 * natural_logarithm(1 + r2 * Real(d)));
  };
  return even(kept(exact, distances, interruption), bidirectional);
}

RelativeBias kerple_power_bias(const Real& r1, const Real& r2, bool bidirectional,
                               std::size_t distances, const Interruption& interruption) {
  check_kerple(r1, r2);
  if (r2 > 2) throw std::invalid_argument("r2 of kerple-power must be at most 2");
  const auto exact = [r1, r2](std::size_t d) -> Real {
    return d == 0 ? Real(0) : Real(-r1 * power(Real(d), r2));
  };
  return even(kept(exact, distances, interruption), bidirectional);
}

int t5_bucket(const T5Buckets& buckets, long long distance) {
  const int count = buckets_of(buckets);
  if (distance < 0 && !buckets.bidirectional) return 0;
  const int first = distance < 0 ? count : 0;
  const long long size = std::llabs(distance);
  if (size < count / 2) return first + static_cast<int>(size);
  return first + std::min(logarithmic_bucket(count, buckets.max_distance, size), count - 1);
}

RelativeBias t5_bias(const T5Buckets& buckets, const std::vector<Rational>& values,
                     std::size_t distances, const Interruption& interruption) {
  buckets_of(buckets);
  if (values.size() != static_cast<std::size_t>(buckets.count)) {
    throw std::invalid_argument("T5's buckets need a value each");
  }
  const auto side = [&](long long sign) {
    std::vector<Rational> numbers;
    for (std::size_t d = 0; d < distances; ++d) {
      const int bucket = t5_bucket(buckets, sign * static_cast<long long>(d));
      numbers.push_back(values[static_cast<std::size_t>(bucket)]);
    }
    return listed(numbers, interruption);
  };
  RelativeBias bias{side(1), {}, {}};
  if (buckets.bidirectional) bias.ahead = side(-1);
  return bias;
}

RelativeBias table_bias(const std::vector<Rational>& behind, const std::vector<Rational>& ahead) {
  if (behind.empty()) throw std::invalid_argument("a table needs a number at distance 0");
  if (!ahead.empty() && ahead.front() != behind.front()) {
    throw std::invalid_argument("a table has two numbers at distance 0");
  }
  RelativeBias bias{listed(behind), {}, {}};
  if (!ahead.empty()) bias.ahead = listed(ahead);
  return bias;
}

}  // namespace ropelab
