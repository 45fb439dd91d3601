#include "ropelab/errors/diagonals.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/kernel.hpp"

namespace ropelab {
namespace {

constexpr int widest_in_float = 24;

DoubleDouble as_double_double(const StepValue<DoubleDouble>& value) {
  if (const double* rounded = std::get_if<double>(&value)) return {*rounded, 0};
  return std::get<DoubleDouble>(value);
}

// One score by the plain definition.
class PlainScore {
 public:
  PlainScore(const Pipeline& pipeline, const ExactInput& scale, const RotatedTable& table)
      : pipeline_(pipeline), scale_(scale), table_(table) {}

  DoubleDouble operator()(std::size_t i, std::size_t j) const {
    return as_double_double(
        score_steps<DoubleDouble>(pipeline_, scale_, table_.query(i), table_.key(j)).scaled);
  }

 private:
  const Pipeline& pipeline_;
  const ExactInput& scale_;
  const RotatedTable& table_;
};

// Adds the lanes in their order.
double total(const std::array<double, kernel::lanes>& sums) {
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

DoubleDouble choose_center(const PlainScore& score, std::size_t distance,
                           const std::vector<DoubleDouble>& simulated) {
  const DoubleDouble first = score(distance, 0);
  return std::isfinite(first.high) ? first : simulated[distance];
}

// The measurement of a block of diagonals by the plain definition: for arithmetic that no
// vector kernel knows.
void measure_plainly(const PlainScore& score, std::size_t size, std::size_t distance,
                     DoubleDouble center, Diagonal& diagonal) {
  std::array<double, kernel::lanes> sum{}, squares{};
  diagonal.pairs = size - distance;
  diagonal.center = center;
  bool any = false;
  for (std::size_t i = distance; i < size; ++i) {
    const DoubleDouble f = score(i, i - distance);
    if (distance > 0 && !(f < score(i, i - distance + 1))) ++diagonal.order_lost;
    if (!std::isfinite(f.high)) continue;
    if (!any || f < diagonal.least) diagonal.least = f;
    if (!any || diagonal.greatest < f) diagonal.greatest = f;
    any = true;
    ++diagonal.finite;
    const double deviation = (f - center).high;
    sum[i % kernel::lanes] += deviation;
    squares[i % kernel::lanes] += deviation * deviation;
  }
  diagonal.sum = total(sum);
  diagonal.sum_of_squares = total(squares);
}

// A column of a table as lanes of one type, with room to read `lanes` beyond either end.
template <class Lane>
class PaddedColumn {
 public:
  PaddedColumn(const std::vector<double>& values, const Format& format)
      : lanes_(values.size() + 2 * kernel::lanes) {
    std::transform(values.begin(), values.end(), lanes_.begin() + kernel::lanes,
                   [&](double x) { return static_cast<Lane>(round_to(format, x)); });
  }
  const Lane* data() const { return lanes_.data() + kernel::lanes; }

 private:
  std::vector<Lane> lanes_;
};

template <class Lane>
class VectorMeasurement {
 public:
  VectorMeasurement(const Pipeline& pipeline, const ExactInput& scale, const RotatedTable& table)
      : accumulation_(*pipeline[StepName::accumulation]),
        scaling_(*pipeline[StepName::scaling]),
        never_finite_(!has_finite(table.query_first)),
        query_first_(table.query_first.high, accumulation_),
        query_second_(table.query_second.high, accumulation_),
        key_first_(table.key_first.high, accumulation_),
        key_second_(table.key_second.high, accumulation_) {
    tables_.query_first = query_first_.data();
    tables_.query_second = query_second_.data();
    tables_.key_first = key_first_.data();
    tables_.key_second = key_second_.data();
    tables_.size = table.size();
    tables_.scale = static_cast<Lane>(scale.rounded(scaling_));
    tables_.accumulation = narrower(accumulation_);
    tables_.scaling = narrower(scaling_);
    tables_.convert = accumulation_.precision > scaling_.precision ||
                      accumulation_.min_exponent < scaling_.min_exponent ||
                      accumulation_.largest > scaling_.largest;
  }

  // Diagonals first ... last-1, whose centres are set.
  void measure(std::size_t first, std::size_t last, Diagonal* diagonals) const {
    if (never_finite_ || !run(first, last, false, diagonals)) run(first, last, true, diagonals);
  }

 private:
  using Accumulator = kernel::Accumulator<Lane>;

  static std::optional<kernel::Rounding<Lane>> narrower(const Format& format) {
    if (format.precision == std::numeric_limits<Lane>::digits) return std::nullopt;
    return kernel::rounding_to<Lane>(format);
  }

  // Whether all scores were finite, or were checked.
  bool run(std::size_t first, std::size_t last, bool checked, Diagonal* diagonals) const {
    std::array<Accumulator, kernel::block> accumulators;
    for (std::size_t d = first; d < last; ++d) {
      accumulators[d - first].center = diagonals[d].center.high;
    }
    for (std::size_t begin = first / kernel::lanes * kernel::lanes; begin < tables_.size;
         begin += kernel::tile) {
      kernel::run_tile(tables_, first, last, begin, std::min(begin + kernel::tile, tables_.size),
                       checked, accumulators.data());
    }
    bool finite = true;
    for (std::size_t d = first; d < last; ++d) {
      gather(accumulators[d - first], diagonals[d], tables_.size - d);
      finite = finite && std::isfinite(diagonals[d].sum_of_squares);
    }
    return finite || checked;
  }

  static void gather(const Accumulator& accumulator, Diagonal& diagonal, std::uint64_t pairs) {
    const auto count = [](const auto& counts) {
      std::uint64_t sum = 0;
      for (const auto lane : counts) sum += static_cast<std::uint64_t>(lane);
      return sum;
    };
    diagonal.pairs = pairs;
    diagonal.finite = pairs - count(accumulator.not_finite);
    diagonal.center.low = 0;
    diagonal.sum = total(accumulator.sum);
    diagonal.sum_of_squares = total(accumulator.sum_of_squares);
    diagonal.least = {*std::min_element(accumulator.least.begin(), accumulator.least.end()), 0};
    diagonal.greatest = {
        *std::max_element(accumulator.greatest.begin(), accumulator.greatest.end()), 0};
    diagonal.order_lost = count(accumulator.lost);
  }

  static bool has_finite(const ComponentTable& column) {
    return std::any_of(column.high.begin(), column.high.end(),
                       [](double x) { return std::isfinite(x); });
  }

  Format accumulation_, scaling_;
  // Such tables (N overflowed) need not be tried without checks first.
  bool never_finite_;
  PaddedColumn<Lane> query_first_, query_second_, key_first_, key_second_;
  kernel::Tables<Lane> tables_{};
};

enum class Lanes { none, single, wide };

// Of the finite numbers of two columns, zeros aside; 1 and 0 where there are none.
struct Magnitudes {
  double least = 1, greatest = 0;
};

Magnitudes magnitudes_of(const ComponentTable& first, const ComponentTable& second) {
  Magnitudes magnitudes;
  for (const ComponentTable* column : {&first, &second}) {
    for (const double x : column->high) {
      const double size = std::abs(x);
      if (size > 0) magnitudes.least = std::min(magnitudes.least, size);
      if (std::isfinite(size)) magnitudes.greatest = std::max(magnitudes.greatest, size);
    }
  }
  return magnitudes;
}

// bfloat16 has float32's exponents, so its products may leave float32's range at the low end
// and the rounding of kernel.cpp at the high end; such tables, far from any in use, take the
// wide lanes.
bool fits_float(const Format& format, const RotatedTable& table) {
  if (format.min_exponent > -100) return true;
  const Magnitudes query = magnitudes_of(table.query_first, table.query_second);
  const Magnitudes key = magnitudes_of(table.key_first, table.key_second);
  return query.least * key.least > 0x1p-60 && query.greatest * key.greatest < 0x1p90;
}

Lanes choose_lanes(const Pipeline& pipeline, const RotatedTable& table) {
  const Step& accumulation = pipeline[StepName::accumulation];
  const Step& scaling = pipeline[StepName::scaling];
  if (!accumulation || !scaling || !pipeline[StepName::storage] || pipeline.fused_accumulation) {
    return Lanes::none;
  }
  for (const Format& format : {*accumulation, *scaling}) {
    if (format.precision > widest_in_float) return Lanes::wide;
    if (format.precision < widest_in_float && !fits_float(format, table)) return Lanes::wide;
  }
  return Lanes::single;
}

template <class MeasureBlock>
void for_blocks(std::size_t size, const Interruption& interruption, const MeasureBlock& measure) {
  const std::size_t blocks = (size + kernel::block - 1) / kernel::block;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, blocks, 1),
      [&](const auto& range) {
        for (std::size_t b = range.begin(); b != range.end(); ++b) {
          interruption.check();
          measure(b * kernel::block, std::min((b + 1) * kernel::block, size));
        }
      },
      tbb::simple_partitioner());
}

template <class Lane>
void measure_vectors(const VectorMeasurement<Lane>& measurement, const Interruption& interruption,
                     std::vector<Diagonal>& diagonals) {
  for_blocks(diagonals.size(), interruption, [&](std::size_t first, std::size_t last) {
    measurement.measure(first, last, diagonals.data());
  });
}

}  // namespace

std::vector<Diagonal> measure_diagonals(const Pipeline& pipeline, const ExactInput& scale,
                                        const RotatedTable& table,
                                        const std::vector<DoubleDouble>& simulated,
                                        const Interruption& interruption) {
  std::vector<Diagonal> diagonals(table.size());
  const PlainScore score(pipeline, scale, table);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, table.size(), 1024), [&](const auto& range) {
    for (std::size_t d = range.begin(); d != range.end(); ++d) {
      diagonals[d].center = choose_center(score, d, simulated);
    }
  });
  switch (choose_lanes(pipeline, table)) {
    case Lanes::single:
      measure_vectors(VectorMeasurement<float>(pipeline, scale, table), interruption, diagonals);
      break;
    case Lanes::wide:
      measure_vectors(VectorMeasurement<double>(pipeline, scale, table), interruption, diagonals);
      break;
    case Lanes::none:
      for_blocks(diagonals.size(), interruption, [&](std::size_t first, std::size_t last) {
        for (std::size_t d = first; d < last; ++d) {
          measure_plainly(score, table.size(), d, diagonals[d].center, diagonals[d]);
        }
      });
  }
  return diagonals;
}

void use_instruction_set(InstructionSet set) { kernel::restrict_targets(set); }

std::string instruction_set_in_use() { return kernel::target_name(); }

DoubleDouble score_at(const Pipeline& pipeline, const ExactInput& scale, const RotatedTable& table,
                      std::size_t i, std::size_t j) {
  return PlainScore(pipeline, scale, table)(i, j);
}

std::size_t first_query_with(const Pipeline& pipeline, const ExactInput& scale,
                             const RotatedTable& table, std::size_t distance, DoubleDouble score) {
  const PlainScore plain(pipeline, scale, table);
  for (std::size_t i = distance; i < table.size(); ++i) {
    if (plain(i, i - distance) == score) return i;
  }
  throw std::logic_error("no pair of this diagonal has the score that was measured there");
}

}  // namespace ropelab
