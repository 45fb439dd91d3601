#include "ropelab/errors/diagonals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <hwy/aligned_allocator.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/arithmetic_choice.hpp"
#include "ropelab/errors/distance_range.hpp"
#include "ropelab/errors/kernel.hpp"
#include "ropelab/errors/lane_range.hpp"

namespace ropelab {
namespace {

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

// A score of the diagonal, of the largest position if it is finite: its last place is coarse, so
// that the deviations from it are small multiples of one number.
DoubleDouble choose_center(const PlainScore& score, std::size_t distance, std::size_t last,
                           const std::vector<DoubleDouble>& simulated) {
  for (const std::size_t i : {last, distance}) {
    const DoubleDouble center = score(i, i - distance);
    if (std::isfinite(center.high)) return center;
  }
  return simulated[distance];
}

// Calls visit(begin, end) for the stretches of the diagonals from `first` (a multiple of the
// block) on: up to the end of the block's triangle, then whole ones, then what is left.
template <class Lane, class Visit>
void for_stretches(std::size_t first, std::size_t size, const Visit& visit) {
  const std::size_t triangle = std::min(first + kernel::block, size);
  const std::size_t whole = std::max(triangle, size / kernel::padding * kernel::padding);
  visit(first, triangle);
  for (std::size_t begin = triangle; begin < whole; begin += kernel::longest_stretch<Lane>) {
    visit(begin, std::min(begin + kernel::longest_stretch<Lane>, whole));
  }
  if (whole < size) visit(whole, size);
}

void add(const kernel::Share& share, std::size_t pairs, Diagonal& diagonal) {
  diagonal.pairs += pairs;
  diagonal.finite += pairs - share.not_finite;
  diagonal.sum += share.sum;
  diagonal.sum_of_squares += share.sum_of_squares;
  diagonal.order_lost += share.lost;
  if (share.least < diagonal.least.high) diagonal.least = {share.least, 0};
  if (share.greatest > diagonal.greatest.high) diagonal.greatest = {share.greatest, 0};
}

// The measurement of one diagonal by the plain definition: for arithmetic that no vector
// kernel knows.
class PlainDiagonal {
 public:
  PlainDiagonal(const PlainScore& score, std::size_t distance, Diagonal& diagonal)
      : score_(score), distance_(distance), diagonal_(diagonal) {}

  void measure(std::size_t size) {
    for_stretches<double>(
        distance_ / kernel::block * kernel::block, size,
        [&](std::size_t begin, std::size_t end) { add_stretch(std::max(begin, distance_), end); });
  }

 private:
  void add_stretch(std::size_t begin, std::size_t end) {
    std::array<double, kernel::lanes> sum{}, squares{};
    for (std::size_t i = begin; i < end; ++i) {
      ++diagonal_.pairs;
      const DoubleDouble f = score_(i, i - distance_);
      if (distance_ > 0 && !(f < score_(i, i - distance_ + 1))) ++diagonal_.order_lost;
      if (!std::isfinite(f.high)) continue;
      ++diagonal_.finite;
      if (f < diagonal_.least) diagonal_.least = f;
      if (diagonal_.greatest < f) diagonal_.greatest = f;
      const double deviation = (f - diagonal_.center).high;
      sum[i % kernel::lanes] += deviation;
      squares[i % kernel::lanes] += deviation * deviation;
    }
    diagonal_.sum += std::accumulate(sum.begin(), sum.end(), 0.0);
    diagonal_.sum_of_squares += std::accumulate(squares.begin(), squares.end(), 0.0);
  }

  const PlainScore& score_;
  std::size_t distance_;
  Diagonal& diagonal_;
};

// Magnitudes over any run of positions of a column.
class MagnitudesInRuns {
 public:
  MagnitudesInRuns() = default;
  explicit MagnitudesInRuns(const std::vector<double>& values)
      : blocks_((values.size() + kernel::block - 1) / kernel::block) {
    for (std::size_t n = 0; n < values.size(); ++n) blocks_[n / kernel::block].add(values[n]);
  }

  // Of the blocks that hold begin ... end-1.
  Magnitudes operator()(std::size_t begin, std::size_t end) const {
    Magnitudes magnitudes;
    for (std::size_t b = begin / kernel::block; b <= (end - 1) / kernel::block; ++b) {
      magnitudes.add(blocks_[b]);
    }
    return magnitudes;
  }

 private:
  std::vector<Magnitudes> blocks_;
};

// A column of a table as lanes of one type, aligned, with room to read beyond either end.
template <class Lane>
class PaddedColumn {
 public:
  PaddedColumn() = default;
  explicit PaddedColumn(const std::vector<double>& values)
      : lanes_(hwy::AllocateAligned<Lane>(values.size() + 2 * kernel::padding)) {
    std::fill_n(lanes_.get(), values.size() + 2 * kernel::padding, Lane{0});
    std::transform(values.begin(), values.end(), lanes_.get() + kernel::padding,
                   [](double x) { return static_cast<Lane>(x); });
  }
  const Lane* data() const { return lanes_.get() + kernel::padding; }

 private:
  hwy::AlignedFreeUniquePtr<Lane[]> lanes_;
};

// The four columns as the accumulation takes them.
struct Columns {
  std::vector<double> query_first, query_second, key_first, key_second;

  Columns(const Format& accumulation, const RotatedTable& table)
      : query_first(rounded_column(accumulation, table.query_first)),
        query_second(rounded_column(accumulation, table.query_second)),
        key_first(rounded_column(accumulation, table.key_first)),
        key_second(rounded_column(accumulation, table.key_second)) {}

  void multiply_query(double factor) {
    for (double& x : query_first) x *= factor;
    for (double& x : query_second) x *= factor;
  }
};

template <class Lane>
class VectorMeasurement {
 public:
  VectorMeasurement(const Pipeline& pipeline, const ExactInput& scale, const RotatedTable& table)
      : accumulation_(*pipeline[StepName::accumulation]) {
    Columns columns(accumulation_, table);
    const ScoreSums sums = score_sums(pipeline, scale);
    kernel::Scoring<Lane>& scoring = tables_;
    scoring = scoring_of<Lane>(
        sums, choose_arithmetic<Lane>(
                  sums, {ColumnRange(columns.query_first), ColumnRange(columns.query_second)},
                  {ColumnRange(columns.key_first), ColumnRange(columns.key_second)}));
    if (has_scaled_queries(scoring.arithmetic)) columns.multiply_query(sums.scale);
    tables_.size = table.size();
    tables_.score_format = sums.scaling;
    tables_.never_finite = !has_finite(table.query_first);
    set_columns(columns);
  }

  // Diagonals first ... last-1, whose centres are set.
  void measure(std::size_t first, std::size_t last, Diagonal* diagonals) const {
    std::array<double, kernel::block> center{};  // a stretch takes a whole block of them
    std::transform(diagonals + first, diagonals + last, center.begin(),
                   [](const Diagonal& diagonal) { return diagonal.center.high; });
    const kernel::Centers centers = kernel::centers_at(center);
    for_stretches<Lane>(first, tables_.size, [&](std::size_t begin, std::size_t end) {
      measure_stretch(first, last, begin, end, centers, diagonals);
    });
  }

 private:
  void set_columns(const Columns& columns) {
    query_first_ = PaddedColumn<Lane>(columns.query_first);
    query_second_ = PaddedColumn<Lane>(columns.query_second);
    key_first_ = PaddedColumn<Lane>(columns.key_first);
    key_second_ = PaddedColumn<Lane>(columns.key_second);
    tables_.query_first = query_first_.data();
    tables_.query_second = query_second_.data();
    tables_.key_first = key_first_.data();
    tables_.key_second = key_second_.data();
    first_ = {MagnitudesInRuns(columns.query_first), MagnitudesInRuns(columns.key_first)};
    second_ = {MagnitudesInRuns(columns.query_second), MagnitudesInRuns(columns.key_second)};
  }

  void measure_stretch(std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                       const kernel::Centers& centers, Diagonal* diagonals) const {
    std::array<kernel::Share, kernel::block> shares;
    if (begin >= first + kernel::block && end % kernel::padding == 0) {
      kernel::run_stretch(tables_, stretch(first, begin, end), centers, shares.data());
    } else {
      for (std::size_t d = first; d < last; ++d) {
        shares[d - first] =
            kernel::run_diagonal(tables_, d, std::max(begin, d), end, centers.center[d - first]);
      }
    }
    for (std::size_t d = first; d < last; ++d) {
      add(shares[d - first], end - std::max(begin, d), diagonals[d]);
    }
  }

  kernel::Stretch stretch(std::size_t first, std::size_t begin, std::size_t end) const {
    const std::size_t key_begin = begin - first - kernel::block + 1, key_end = end - first;
    const Magnitudes first_query = first_.query(begin, end);
    const Magnitudes first_key = first_.key(key_begin, key_end);
    const Magnitudes second_query = second_.query(begin, end);
    const Magnitudes second_key = second_.key(key_begin, key_end);
    kernel::Stretch stretch{first, begin, end};
    stretch.first_quantum = product_quantum(accumulation_, first_query, first_key);
    stretch.first_greatest = first_query.greatest * first_key.greatest;
    stretch.second_quantum = tables_.fused
                                 ? second_query.quantum * second_key.quantum
                                 : product_quantum(accumulation_, second_query, second_key);
    const auto scale = static_cast<double>(tables_.scale);
    if (kernel::quantum_of(scale) == scale) {
      stretch.quantum = scale * std::min(stretch.first_quantum, stretch.second_quantum);
    }
    return stretch;
  }

  static bool has_finite(const ComponentTable& column) {
    return std::any_of(column.high.begin(), column.high.end(),
                       [](double x) { return std::isfinite(x); });
  }

  Format accumulation_;
  PaddedColumn<Lane> query_first_, query_second_, key_first_, key_second_;
  struct {
    MagnitudesInRuns query, key;
  } first_, second_;
  kernel::Tables<Lane> tables_{};
};

enum class Lanes { none, single, wide };

Lanes choose_lanes(const Pipeline& pipeline, const RotatedTable& table) {
  const Step& accumulation = pipeline[StepName::accumulation];
  const Step& scaling = pipeline[StepName::scaling];
  if (!accumulation || !scaling || !pipeline[StepName::storage]) return Lanes::none;
  // Fused operations round to float32 in its own lanes only.
  if (pipeline.fused_accumulation && scaling->precision > widest_in_float) return Lanes::none;
  for (const Format& format : {*accumulation, *scaling}) {
    if (format.precision > widest_in_float) return Lanes::wide;
    if (format.precision < widest_in_float && !fits_float(format, table)) return Lanes::wide;
  }
  return Lanes::single;
}

// Calls measure(first, last) for each block of the first `size` diagonals of a context.
template <class MeasureBlock>
void for_blocks(std::size_t size, std::size_t context, const Interruption& interruption,
                const MeasureBlock& measure) {
  const std::size_t blocks = (size + kernel::block - 1) / kernel::block;
  PartsDone pairs_done(interruption, pairs_at({0, size - 1}, context));
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, blocks, 1),
      [&](const auto& range) {
        for (std::size_t b = range.begin(); b != range.end(); ++b) {
          interruption.check();
          const std::size_t first = b * kernel::block, last = std::min(first + kernel::block, size);
          measure(first, last);
          pairs_done.add(pairs_at({first, last - 1}, context));
        }
      },
      tbb::simple_partitioner());
}

template <class Lane>
void measure_vectors(const VectorMeasurement<Lane>& measurement, std::size_t context,
                     const Interruption& interruption, std::vector<Diagonal>& diagonals) {
  for_blocks(diagonals.size(), context, interruption, [&](std::size_t first, std::size_t last) {
    measurement.measure(first, last, diagonals.data());
  });
}

}  // namespace

std::vector<Diagonal> measure_diagonals(const Pipeline& pipeline, const ExactInput& scale,
                                        const RotatedTable& table,
                                        const std::vector<DoubleDouble>& simulated,
                                        const Interruption& interruption) {
  std::vector<Diagonal> diagonals(std::min(table.size(), simulated.size()));
  const PlainScore score(pipeline, scale, table);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, diagonals.size(), 1024),
                    [&](const auto& range) {
                      for (std::size_t d = range.begin(); d != range.end(); ++d) {
                        diagonals[d].center = choose_center(score, d, table.size() - 1, simulated);
                      }
                    });
  switch (choose_lanes(pipeline, table)) {
    case Lanes::single:
      measure_vectors(VectorMeasurement<float>(pipeline, scale, table), table.size(), interruption,
                      diagonals);
      break;
    case Lanes::wide:
      measure_vectors(VectorMeasurement<double>(pipeline, scale, table), table.size(), interruption,
                      diagonals);
      break;
    case Lanes::none:
      const auto measure_plain = [&](std::size_t first, std::size_t last) {
        for (std::size_t d = first; d < last; ++d) {
          PlainDiagonal(score, d, diagonals[d]).measure(table.size());
        }
      };
      for_blocks(diagonals.size(), table.size(), interruption, measure_plain);
  }
  return diagonals;
}

InstructionSet find_instruction_set(std::string_view name) {
  constexpr std::array<std::string_view, 5> names = {"scalar", "sse4", "avx2", "avx512", "best"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<InstructionSet>(found - names.begin());
  throw std::invalid_argument(
      fmt::format("'{}' is no instruction set; there are scalar, sse4, avx2, avx512, best", name));
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
