#include "ropelab/errors/arithmetic_choice.hpp"

#include <algorithm>
#include <cmath>

#include "ropelab/errors/lane_range.hpp"

namespace ropelab {
namespace {

template <class Lane>
class ArithmeticChoice {
 public:
  ArithmeticChoice(const ScoreSums& sums, const std::vector<ColumnRange>& query,
                   const std::vector<ColumnRange>& key)
      : sums_(sums), query_(query), key_(key) {}

  kernel::Arithmetic choose() const {
    const bool rounds_sum = sums_.accumulation.precision < std::numeric_limits<Lane>::digits;
    const bool rounds_scaled = sums_.scaling.precision < std::numeric_limits<Lane>::digits;
    if (!finite() || !in_range()) return kernel::Arithmetic::any;
    if (!rounds_sum && !rounds_scaled && scales_tables() && multiplies_exactly()) {
      return kernel::Arithmetic::exact_products;
    }
    if (sums_.fused) return kernel::Arithmetic::fused;
    if (!rounds_sum) {
      if (rounds_scaled) return kernel::Arithmetic::any;
      return scales_tables() ? kernel::Arithmetic::unscaled : kernel::Arithmetic::scaled;
    }
    if (!rounds_scaled || scales_exactly()) return kernel::Arithmetic::rounded;
    return sums_.convert ? kernel::Arithmetic::any : kernel::Arithmetic::rounded_scaled;
  }

 private:
  template <class Holds>
  bool all_terms(const Holds& holds) const {
    for (std::size_t n = 0; n < query_.size(); ++n) {
      if (!holds(query_[n], key_[n])) return false;
    }
    return true;
  }

  bool finite() const {
    return all_terms([](const ColumnRange& query, const ColumnRange& key) {
      return query.finite && key.finite;
    });
  }

  // No product, sum or score comes near the largest number of its format.
  bool in_range() const {
    double sum = 0;
    for (std::size_t n = 0; n < query_.size(); ++n) {
      sum += query_[n].magnitudes.greatest * key_[n].magnitudes.greatest;
    }
    // A product is rounded by half a last place, and a sum never by more than was added to it.
    sum *= 1 + std::ldexp(1.0, -sums_.accumulation.precision);
    return sum <= sums_.accumulation.largest / 2 && sum * sums_.scale <= sums_.scaling.largest / 2;
  }

  double quantum() const {
    double quantum = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < query_.size(); ++n) {
      quantum = std::min(
          quantum, product_quantum(sums_.accumulation, query_[n].magnitudes, key_[n].magnitudes));
    }
    return quantum;
  }

  bool scale_is_power() const { return kernel::quantum_of(sums_.scale) == sums_.scale; }

  bool scales_exactly() const {
    return scale_is_power() && !sums_.convert && quantum() * sums_.scale >= ulp(sums_.scaling, 0);
  }

  // Scaled components and their products stay normal numbers of the lane.
  bool scales_tables() const {
    constexpr double least = std::numeric_limits<Lane>::min();
    return scale_is_power() && sums_.scale <= 1 &&
           all_terms([&](const ColumnRange& query, const ColumnRange& key) {
             const double product = query.magnitudes.least * key.magnitudes.least;
             return query.magnitudes.least * sums_.scale >= least &&
                    product * sums_.scale >= 2 * least;
           });
  }

  // No product has more bits than the lane: two float16 make 22, two bfloat16 make 16.
  bool multiplies_exactly() const {
    return all_terms([](const ColumnRange& query, const ColumnRange& key) {
      return query.significand * key.significand <=
             std::ldexp(1.0, std::numeric_limits<Lane>::digits);
    });
  }

  const ScoreSums& sums_;
  const std::vector<ColumnRange>& query_;
  const std::vector<ColumnRange>& key_;
};

template <class Lane>
std::optional<kernel::Rounding<Lane>> narrower(const Format& format) {
  if (format.precision == std::numeric_limits<Lane>::digits) return std::nullopt;
  return kernel::rounding_to<Lane>(format);
}

}  // namespace

void Magnitudes::add(double x) {
  if (x == 0) return;
  least = std::min(least, std::abs(x));
  greatest = std::max(greatest, std::abs(x));
  quantum = std::min(quantum, kernel::quantum_of(x));
}

void Magnitudes::add(const Magnitudes& other) {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
  quantum = std::min(quantum, other.quantum);
}

ColumnRange::ColumnRange(const std::vector<double>& values) {
  for (const double x : values) {
    finite = finite && std::isfinite(x);
    magnitudes.add(x);
    if (x != 0) significand = std::max(significand, std::abs(x) / kernel::quantum_of(x));
  }
}

std::vector<double> rounded_column(const Format& format, const ComponentTable& column) {
  std::vector<double> rounded(column.high.size());
  std::transform(column.high.begin(), column.high.end(), rounded.begin(),
                 [&](double x) { return round_to(format, x); });
  return rounded;
}

double product_quantum(const Format& format, const Magnitudes& query, const Magnitudes& key) {
  const double product = query.least * key.least * (1 - 0x1p-50);
  if (!std::isfinite(product)) return std::numeric_limits<double>::infinity();
  return std::max(ulp(format, product), query.quantum * key.quantum);
}

ScoreSums score_sums(const Pipeline& pipeline, const ExactInput& scale) {
  const Format& accumulation = *pipeline[StepName::accumulation];
  const Format& scaling = *pipeline[StepName::scaling];
  return {accumulation, scaling, scale.rounded(scaling), must_convert(accumulation, scaling),
          pipeline.fused_accumulation};
}

template <class Lane>
kernel::Arithmetic choose_arithmetic(const ScoreSums& sums, const std::vector<ColumnRange>& query,
                                     const std::vector<ColumnRange>& key) {
  return ArithmeticChoice<Lane>(sums, query, key).choose();
}

template <class Lane>
kernel::Scoring<Lane> scoring_of(const ScoreSums& sums, kernel::Arithmetic arithmetic) {
  return {arithmetic,
          has_scaled_queries(arithmetic) ? Lane{1} : static_cast<Lane>(sums.scale),
          narrower<Lane>(sums.accumulation),
          narrower<Lane>(sums.scaling),
          sums.convert,
          sums.fused};
}

bool has_scaled_queries(kernel::Arithmetic arithmetic) {
  return arithmetic == kernel::Arithmetic::unscaled ||
         arithmetic == kernel::Arithmetic::exact_products;
}

template kernel::Arithmetic choose_arithmetic<float>(const ScoreSums&,
                                                     const std::vector<ColumnRange>&,
                                                     const std::vector<ColumnRange>&);
template kernel::Arithmetic choose_arithmetic<double>(const ScoreSums&,
                                                      const std::vector<ColumnRange>&,
                                                      const std::vector<ColumnRange>&);
template kernel::Scoring<float> scoring_of<float>(const ScoreSums&, kernel::Arithmetic);
template kernel::Scoring<double> scoring_of<double>(const ScoreSums&, kernel::Arithmetic);

}  // namespace ropelab
