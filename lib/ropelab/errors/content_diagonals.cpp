#include "ropelab/errors/content_diagonals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/distance_range.hpp"
#include "ropelab/errors/lane_range.hpp"

namespace ropelab {
namespace {

using content_kernel::Adding;
using content_kernel::tile_diagonals;
using content_kernel::tile_queries;

void add(const kernel::Share& share, kernel::Share& total) {
  total.sum += share.sum;
  total.sum_of_squares += share.sum_of_squares;
  total.lost += share.lost;
  total.not_finite += share.not_finite;
  total.least = std::min(total.least, share.least);
  total.greatest = std::max(total.greatest, share.greatest);
}

// The pairs of a diagonal with queries begin ... end-1, by the plain definition.
kernel::Share plain_share(const ContentScores& scores, std::size_t distance, DoubleDouble center,
                          std::size_t begin, std::size_t end) {
  kernel::Share share;
  std::array<double, content_kernel::lanes> sum{}, squares{};
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t j = i - distance, lane = i % content_kernel::lanes;
    const DoubleDouble f = scores.score(i, j);
    if (distance > 0 && !(f < scores.score(i, j + 1))) ++share.lost;
    if (!std::isfinite(f.high)) {
      ++share.not_finite;
      continue;
    }
    const double here = deviation(f, scores.content_score(i, j), center);
    share.least = std::min(share.least, here);
    share.greatest = std::max(share.greatest, here);
    sum[lane] += here;
    squares[lane] += here * here;
  }
  share.sum = std::accumulate(sum.begin(), sum.end(), 0.0);
  share.sum_of_squares = std::accumulate(squares.begin(), squares.end(), 0.0);
  return share;
}

// For arithmetic that no vector kernel knows.
class PlainTiles : public ContentTiles {
 public:
  PlainTiles(const ContentScores& scores, const Interruption& interruption)
      : scores_(scores), interruption_(interruption) {}

  Shares shares(const Tile& tile, const DoubleDouble* centers, Room&) const override {
    Shares shares;
    const std::size_t end = std::min(tile.begin + tile_queries, scores_.size());
    for (std::size_t n = 0; n < tile_diagonals && tile.first + n < end; ++n) {
      interruption_.check();
      const std::size_t d = tile.first + n;
      shares[n] = plain_share(scores_, d, centers[n], std::max(tile.begin, d), end);
    }
    return shares;
  }

  const double* scores(const Tile&, Room&) const override {
    interruption_.check();
    return nullptr;
  }

  Room room() const override { return Room(1); }  // not used, but none can be empty

 private:
  const ContentScores& scores_;
  const Interruption& interruption_;
};

// Numbers of all positions, to be read from one tile before the first to one beyond the last.
template <class T>
class Padded {
 public:
  explicit Padded(std::size_t size) : numbers_(size + 2 * tile_queries) {}
  T* data() { return numbers_.data() + tile_queries; }
  const T* data() const { return numbers_.data() + tile_queries; }

 private:
  std::vector<T> numbers_;
};

// A column of the pair as the accumulation takes it.
Padded<double> operand_column(const Format& accumulation, const ComponentTable& column) {
  Padded<double> operands(column.high.size());
  std::transform(column.high.begin(), column.high.end(), operands.data(),
                 [&](double x) { return round_to(accumulation, x); });
  return operands;
}

// What is stored at every position, component by component.
template <class Stored>
class Columns {
 public:
  explicit Columns(const ContentScores& scores)
      : pair_query_(operand_columns(scores, scores.table().query)),
        pair_key_(operand_columns(scores, scores.table().key)),
        query_(scores.head_dim(), Padded<Stored>(scores.size())),
        key_(scores.head_dim(), Padded<Stored>(scores.size())) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, scores.size(), 256),
                      [&](const auto& range) {
                        for (std::size_t n = range.begin(); n != range.end(); ++n) {
                          set(scores.content(Role::query, n), n, query_);
                          set(scores.content(Role::key, n), n, key_);
                        }
                      });
  }

  // In storage order, at this query and this key, which may be up to a tile outside the table.
  std::vector<content_kernel::Term<Stored>> terms_at(PairPlace place, std::ptrdiff_t query,
                                                     std::ptrdiff_t key) const {
    std::vector<content_kernel::Term<Stored>> terms;
    in_storage_order(
        place, query_.size(),
        [&](std::size_t n) {
          terms.push_back(
              {pair_query_[n].data() + query, pair_key_[n].data() + key, nullptr, nullptr});
        },
        [&](std::size_t n) {
          terms.push_back({nullptr, nullptr, query_[n].data() + query, key_[n].data() + key});
        },
        pair_query_.size());
    return terms;
  }

 private:
  static std::vector<Padded<double>> operand_columns(const ContentScores& scores,
                                                     const std::vector<ComponentTable>& columns) {
    std::vector<Padded<double>> operands;
    for (const ComponentTable& column : columns) {
      operands.push_back(operand_column(*scores.pipeline()[StepName::accumulation], column));
    }
    return operands;
  }

  static void set(const std::vector<double>& components, std::size_t position,
                  std::vector<Padded<Stored>>& columns) {
    for (std::size_t n = 0; n < components.size(); ++n) {
      columns[n].data()[position] = static_cast<Stored>(components[n]);
    }
  }

  std::vector<Padded<double>> pair_query_, pair_key_;
  std::vector<Padded<Stored>> query_, key_;
};

double greatest_finite_or_infinite(const ComponentTable& column) {
  double greatest = 0;
  for (const double x : column.high) {
    greatest = std::isfinite(x) ? std::max(greatest, std::abs(x)) : HUGE_VAL;
  }
  return greatest;
}

// Whether no product and no sum comes near the largest number of the accumulation.
bool stays_in_range(const ContentScores& scores) {
  double pairs = 0;
  for (std::size_t n = 0; n < scores.table().terms(); ++n) {
    pairs += greatest_finite_or_infinite(scores.table().query[n]) *
             greatest_finite_or_infinite(scores.table().key[n]);
  }
  const double content = static_cast<double>(scores.head_dim()) * largest_content * largest_content;
  return pairs + content <= scores.pipeline()[StepName::accumulation]->largest / 4;
}

Adding choose_adding(const ContentScores& scores) {
  if (scores.pipeline().fused_accumulation) return Adding::fused;
  const int precision = scores.pipeline()[StepName::accumulation]->precision;
  if (precision >= widest_in_float) return Adding::as_lanes;
  return stays_in_range(scores) ? Adding::in_range : Adding::any;
}

content_kernel::ContentSums content_sums(const ContentScores& scores) {
  if (scores.head_dim() == 0) return content_kernel::ContentSums::none;
  return scores.content_is_narrow() ? content_kernel::ContentSums::narrow
                                    : content_kernel::ContentSums::wide;
}

content_kernel::Arithmetic arithmetic_of(const ContentScores& scores) {
  const Pipeline& pipeline = scores.pipeline();
  const Format& storage = *pipeline[StepName::storage];
  const Format& accumulation = *pipeline[StepName::accumulation];
  const Format& scaling = *pipeline[StepName::scaling];
  content_kernel::Arithmetic arithmetic{};
  arithmetic.single = accumulation.precision <= widest_in_float;
  arithmetic.adding = choose_adding(scores);
  if (accumulation.precision < widest_in_float) {
    arithmetic.accumulation = kernel::rounding_to<float>(accumulation);
  }
  if (must_convert(storage, accumulation)) {
    arithmetic.operand = kernel::rounding_to<double>(accumulation);
  }
  arithmetic.scale = scores.scale().rounded(scaling);
  if (scaling.precision <= widest_in_float) {
    arithmetic.scaling = kernel::rounding_to<double>(scaling);
  }
  arithmetic.convert = must_convert(accumulation, scaling);
  arithmetic.content = content_sums(scores);
  arithmetic.exact_scale = scores.exact_scale();
  return arithmetic;
}

template <class Stored>
class VectorTiles : public ContentTiles {
 public:
  VectorTiles(const ContentScores& scores, const Interruption& interruption)
      : scores_(scores),
        interruption_(interruption),
        columns_(scores),
        arithmetic_(arithmetic_of(scores)) {}

  Shares shares(const Tile& tile, const DoubleDouble* centers, Room& room) const override {
    interruption_.check();
    const auto query = static_cast<std::ptrdiff_t>(tile.begin);
    const auto key = query - static_cast<std::ptrdiff_t>(tile.first + tile_diagonals - 1);
    Shares shares;
    content_kernel::run_tile(arithmetic_, columns_.terms_at(scores_.place(), query, key),
                             {tile.first, tile.begin, scores_.size()}, centers, room,
                             shares.data());
    return shares;
  }

  const double* scores(const Tile& tile, Room& room) const override {
    constexpr std::array<DoubleDouble, tile_diagonals> centers{};
    shares(tile, centers.data(), room);
    return room.scores.get() + tile_queries;  // beyond those on the diagonal before the first
  }

  Room room() const override { return Room(scores_.table().terms() + scores_.head_dim()); }

 private:
  const ContentScores& scores_;
  const Interruption& interruption_;
  Columns<Stored> columns_;
  content_kernel::Arithmetic arithmetic_;
};

// Calls measure(first) for each block of diagonals.
template <class MeasureBlock>
void for_blocks(std::size_t size, const MeasureBlock& measure) {
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, (size + tile_diagonals - 1) / tile_diagonals, 1),
      [&](const auto& range) {
        for (std::size_t b = range.begin(); b != range.end(); ++b) measure(b * tile_diagonals);
      },
      tbb::simple_partitioner());
}

bool has_vectors(const ContentScores& scores) {
  const Pipeline& pipeline = scores.pipeline();
  const Step& accumulation = pipeline[StepName::accumulation];
  if (!accumulation || !pipeline[StepName::scaling] || !pipeline[StepName::storage]) return false;
  return accumulation->precision >= widest_in_float || fits_float(*accumulation, scores.table());
}

}  // namespace

std::unique_ptr<const ContentTiles> content_tiles(const ContentScores& scores,
                                                  const Interruption& interruption) {
  if (!has_vectors(scores)) return std::make_unique<PlainTiles>(scores, interruption);
  if (scores.pipeline()[StepName::storage]->precision <= widest_in_float) {
    return std::make_unique<VectorTiles<float>>(scores, interruption);
  }
  return std::make_unique<VectorTiles<double>>(scores, interruption);
}

std::vector<kernel::Share> measure_deviations(const ContentScores& scores,
                                              std::vector<DoubleDouble> centers,
                                              const Interruption& interruption) {
  const std::size_t size = scores.size(), distances = centers.size();
  const auto tiles = content_tiles(scores, interruption);
  std::vector<kernel::Share> shares(distances);
  PartsDone pairs_done(interruption, pairs_at({0, distances - 1}, size));
  // A tile reads the centres of all its diagonals.
  centers.resize((distances + tile_diagonals - 1) / tile_diagonals * tile_diagonals);
  for_blocks(distances, [&](std::size_t first) {
    const std::size_t last = std::min(first + tile_diagonals, distances) - 1;
    ContentTiles::Room room = tiles->room();
    for (std::size_t begin = first; begin < size; begin += tile_queries) {
      const auto of_tile = tiles->shares({first, begin}, centers.data() + first, room);
      const std::size_t end = std::min(begin + tile_queries, size);
      std::uint64_t pairs = 0;
      for (std::size_t d = first; d <= std::min(last, end - 1); ++d) {
        add(of_tile[d - first], shares[d]);
        pairs += end - std::max(begin, d);
      }
      pairs_done.add(pairs);
    }
  });
  return shares;
}

}  // namespace ropelab
