#include "ropelab/errors/score_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <hwy/aligned_allocator.h>

#include "ropelab/errors/arithmetic_choice.hpp"
#include "ropelab/errors/lane_range.hpp"
#include "ropelab/errors/score_rows_kernel.hpp"

namespace ropelab {
namespace {

// Where the scores of a block go.
template <class Number>
struct ScoreTarget {
  Number* out;
  std::size_t stride;
  bool adds;
};

template <class Number>
void put(Number score, bool adds, Number& to) {
  to = adds ? to + score : score;
}

template <class Number>
Number rounded_once(const StepValue<DoubleDouble>& value) {
  if (const double* rounded = std::get_if<double>(&value)) return static_cast<Number>(*rounded);
  const DoubleDouble exact = std::get<DoubleDouble>(value);
  const Format& format = std::is_same_v<Number, float> ? float32_format() : float64_format();
  return static_cast<Number>(round_to(format, exact.high, exact.low));
}

}  // namespace

class ScoreRows::Rows {
 public:
  virtual ~Rows() = default;
  virtual void run(const ScoreRange& block, const ScoreTarget<float>& target) const = 0;
  virtual void run(const ScoreRange& block, const ScoreTarget<double>& target) const = 0;
};

// By the plain definition.
class ScoreRows::PlainRows : public Rows {
 public:
  PlainRows(const Pipeline& pipeline, const ExactInput& scale, ScoreTable table)
      : pipeline_(pipeline),
        scale_(rounded_scale<DoubleDouble>(pipeline, scale)),
        table_(std::move(table)) {}

  void run(const ScoreRange& block, const ScoreTarget<float>& target) const override {
    run_plainly(block, target);
  }
  void run(const ScoreRange& block, const ScoreTarget<double>& target) const override {
    run_plainly(block, target);
  }

 private:
  template <class Number>
  void run_plainly(const ScoreRange& block, const ScoreTarget<Number>& target) const {
    for (std::size_t i = 0; i < block.queries; ++i) {
      for (std::size_t j = 0; j < block.keys; ++j) {
        put(rounded_once<Number>(score(block.first_query + i, block.first_key + j)), target.adds,
            target.out[i * target.stride + j]);
      }
    }
  }

  StepValue<DoubleDouble> score(std::size_t i, std::size_t j) const {
    const ScoreTable::Row query = table_.query_row(i), key = table_.key_row(j);
    Accumulation<DoubleDouble> accumulation(pipeline_);
    for (std::size_t term = 0; term < query.size(); ++term) {
      accumulation.add(query[term], key[term]);
    }
    return step_product(pipeline_[StepName::scaling], accumulation.sum_so_far(), scale_);
  }

  Pipeline pipeline_;
  StepValue<DoubleDouble> scale_;
  ScoreTable table_;
};

// By the vector kernels.
template <class Lane>
class ScoreRows::VectorRows : public Rows {
 public:
  VectorRows(const ScoreSums& sums, const ScoreTable& table)
      : terms_(table.terms()),
        key_stride_(table.size() + kernel::padding),
        queries_(hwy::AllocateAligned<Lane>(terms_ * table.size())),
        keys_(hwy::AllocateAligned<Lane>(terms_ * key_stride_)) {
    std::vector<std::vector<double>> query, key;
    for (const ComponentTable& column : table.query) {
      query.push_back(rounded_column(sums.accumulation, column));
    }
    for (const ComponentTable& column : table.key) {
      key.push_back(rounded_column(sums.accumulation, column));
    }
    kernel::Arithmetic arithmetic =
        choose_arithmetic<Lane>(sums, {query.begin(), query.end()}, {key.begin(), key.end()});
    // The same but for the sign of zero.
    if (sums.fused && arithmetic == kernel::Arithmetic::exact_products) {
      arithmetic = kernel::Arithmetic::fused;
    }
    scoring_ = scoring_of<Lane>(sums, arithmetic);
    set_queries(query, has_scaled_queries(arithmetic) ? sums.scale : 1);
    set_keys(key);
  }

  void run(const ScoreRange& block, const ScoreTarget<float>& target) const override {
    run_in_lanes(block, target);
  }
  void run(const ScoreRange& block, const ScoreTarget<double>& target) const override {
    run_in_lanes(block, target);
  }

 private:
  // Keys whose scores are turned from lanes into other numbers at a time.
  static constexpr std::size_t kChunk = 1024;

  void set_queries(const std::vector<std::vector<double>>& columns, double factor) {
    for (std::size_t term = 0; term < terms_; ++term) {
      for (std::size_t n = 0; n < columns[term].size(); ++n) {
        queries_[n * terms_ + term] = static_cast<Lane>(columns[term][n] * factor);
      }
    }
  }

  void set_keys(const std::vector<std::vector<double>>& columns) {
    std::fill_n(keys_.get(), terms_ * key_stride_, Lane{0});
    for (std::size_t term = 0; term < terms_; ++term) {
      std::transform(columns[term].begin(), columns[term].end(), keys_.get() + term * key_stride_,
                     [](double x) { return static_cast<Lane>(x); });
    }
  }

  rows_kernel::Operands<Lane> operands_at(std::size_t query, std::size_t key) const {
    return {scoring_, terms_, queries_.get() + query * terms_, keys_.get() + key, key_stride_};
  }

  template <class Number>
  void run_in_lanes(const ScoreRange& block, const ScoreTarget<Number>& target) const {
    if constexpr (std::is_same_v<Number, Lane>) {
      rows_kernel::run_block(operands_at(block.first_query, block.first_key),
                             {block.queries, block.keys, target.out, target.stride, target.adds});
    } else {
      for (std::size_t i = 0; i < block.queries; ++i) {
        for (std::size_t j = 0; j < block.keys; j += kChunk) {
          convert_chunk(operands_at(block.first_query + i, block.first_key + j),
                        std::min(kChunk, block.keys - j), target.adds,
                        target.out + i * target.stride + j);
        }
      }
    }
  }

  template <class Number>
  static void convert_chunk(const rows_kernel::Operands<Lane>& operands, std::size_t keys,
                            bool adds, Number* out) {
    std::array<Lane, kChunk> scores;
    rows_kernel::run_block(operands, {1, keys, scores.data(), kChunk, false});
    for (std::size_t j = 0; j < keys; ++j) put(static_cast<Number>(scores[j]), adds, out[j]);
  }

  std::size_t terms_, key_stride_;
  hwy::AlignedFreeUniquePtr<Lane[]> queries_, keys_;
  kernel::Scoring<Lane> scoring_;
};

namespace {

enum class Lanes { none, single, wide };

// The smallest magnitude of a product that is not 0, as far as it is known before pairs are looked
// at: all are multiples of it.
double quantum_of_products(const ScoreTable& table, const Format& accumulation) {
  double quantum = HUGE_VAL;
  for (std::size_t term = 0; term < table.terms(); ++term) {
    const ColumnRange query(rounded_column(accumulation, table.query[term]));
    const ColumnRange key(rounded_column(accumulation, table.key[term]));
    quantum = std::min(quantum, query.magnitudes.quantum * key.magnitudes.quantum);
  }
  return quantum;
}

// Fused operations round to float32 in its own lanes only. Where they cannot underflow, the sign of
// a sum that is zero is known: it is exact.
bool fuses_in_lanes(const Format& accumulation, const Format& scaling, const ScoreTable& table) {
  return accumulation == float32_format() && scaling.precision <= widest_in_float &&
         quantum_of_products(table, accumulation) >= ulp(accumulation, 0);
}

Lanes choose_lanes(const Pipeline& pipeline, const ScoreTable& table) {
  const Step& accumulation = pipeline[StepName::accumulation];
  const Step& scaling = pipeline[StepName::scaling];
  if (!accumulation || !scaling || !pipeline[StepName::storage]) return Lanes::none;
  if (pipeline.fused_accumulation && !fuses_in_lanes(*accumulation, *scaling, table)) {
    return Lanes::none;
  }
  for (const Format& format : {*accumulation, *scaling}) {
    if (format.precision > widest_in_float) return Lanes::wide;
    if (format.precision < widest_in_float && !fits_float(format, table)) return Lanes::wide;
  }
  return Lanes::single;
}

void require_columns(const ScoreTable& table) {
  if (table.query.empty() || table.query.size() != table.key.size()) {
    throw std::invalid_argument("scores need a table with as many key columns as query columns");
  }
  for (const auto* columns : {&table.query, &table.key}) {
    for (const ComponentTable& column : *columns) {
      if (column.high.size() != table.size()) {
        throw std::invalid_argument("scores need a table whose columns are of one length");
      }
    }
  }
}

void require_within(const ScoreRange& block, std::size_t size, std::size_t stride) {
  const auto fits = [size](std::size_t first, std::size_t count) {
    return first <= size && count <= size - first;
  };
  if (!fits(block.first_query, block.queries) || !fits(block.first_key, block.keys)) {
    throw std::invalid_argument(
        fmt::format("{} queries from {} and {} keys from {} do not lie within {} positions",
                    block.queries, block.first_query, block.keys, block.first_key, size));
  }
  if (block.queries > 1 && stride < block.keys) {
    throw std::invalid_argument(
        fmt::format("rows {} apart cannot hold {} keys each", stride, block.keys));
  }
}

}  // namespace

std::unique_ptr<const ScoreRows::Rows> ScoreRows::make_rows(const Pipeline& pipeline,
                                                            const ExactInput& scale,
                                                            ScoreTable table) {
  require_columns(table);
  switch (choose_lanes(pipeline, table)) {
    case Lanes::single:
      return std::make_unique<VectorRows<float>>(score_sums(pipeline, scale), table);
    case Lanes::wide:
      return std::make_unique<VectorRows<double>>(score_sums(pipeline, scale), table);
    case Lanes::none:
      break;
  }
  return std::make_unique<PlainRows>(pipeline, scale, std::move(table));
}

ScoreRows::ScoreRows(const Pipeline& pipeline, const Algebraic& scale, ScoreTable table)
    : size_(table.query.empty() ? 0 : table.size()) {
  rows_ = make_rows(pipeline, ExactInput(scale), std::move(table));
}

ScoreRows::ScoreRows(ScoreRows&&) noexcept = default;
ScoreRows& ScoreRows::operator=(ScoreRows&&) noexcept = default;
ScoreRows::~ScoreRows() = default;

std::size_t ScoreRows::size() const { return size_; }

template <class Number>
void ScoreRows::run(const ScoreRange& block, Number* out, std::size_t stride, bool adds) const {
  require_within(block, size_, stride);
  rows_->run(block, ScoreTarget<Number>{out, stride, adds});
}

void ScoreRows::fill(const ScoreRange& block, float* out, std::size_t stride) const {
  run(block, out, stride, false);
}
void ScoreRows::fill(const ScoreRange& block, double* out, std::size_t stride) const {
  run(block, out, stride, false);
}
void ScoreRows::add(const ScoreRange& block, float* out, std::size_t stride) const {
  run(block, out, stride, true);
}
void ScoreRows::add(const ScoreRange& block, double* out, std::size_t stride) const {
  run(block, out, stride, true);
}

}  // namespace ropelab
