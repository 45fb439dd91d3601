#include "ropelab/errors/content_limits.hpp"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "ropelab/errors/content_diagonals.hpp"
#include "ropelab/errors/error_measures.hpp"

namespace ropelab {
namespace {

using content_kernel::tile_diagonals;
using content_kernel::tile_queries;

// Which diagonals of a tile may have a pair that is looked for.
using InDoubt = std::bitset<tile_diagonals>;

// A pair to look for, by doubt(tile), which may err on the side of doubt, and has(i, j), for
// d = i - j in first_distance ... distances-1.
template <class Doubt, class Has>
class RowSearch {
 public:
  RowSearch(std::size_t first_distance, std::size_t distances, const Doubt& doubt, const Has& has)
      : first_distance_(first_distance), distances_(distances), doubt_(doubt), has_(has) {}

  std::optional<std::size_t> run(std::size_t begin, std::size_t end) const {
    for (std::size_t tile = begin / tile_queries * tile_queries; tile < end; tile += tile_queries) {
      const std::size_t last = std::min(tile + tile_queries, end);
      const std::size_t row = first_row(tile, std::max(tile, begin), last);
      if (row < last) return row;
    }
    return std::nullopt;
  }

 private:
  // Among begin ... end-1, which lie in one row of tiles; `end` if there is none.
  std::size_t first_row(std::size_t tile, std::size_t begin, std::size_t end) const {
    std::atomic<std::size_t> best{end};
    const std::size_t blocks = (std::min(distances_, end) + tile_diagonals - 1) / tile_diagonals;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, blocks), [&](const auto& range) {
      for (std::size_t b = range.begin(); b != range.end(); ++b) {
        look_at({b * tile_diagonals, tile}, begin, best);
      }
    });
    return best;
  }

  void look_at(const Tile& tile, std::size_t begin, std::atomic<std::size_t>& best) const {
    const InDoubt doubtful = doubt_(tile);
    for (std::size_t n = 0; n < tile_diagonals; ++n) {
      const std::size_t d = tile.first + n;
      if (!doubtful[n] || d < first_distance_ || d >= distances_) continue;
      for (std::size_t i = std::max(begin, d); i < best; ++i) {
        if (has_(i, i - d)) lower(best, i);
      }
    }
  }

  static void lower(std::atomic<std::size_t>& best, std::size_t row) {
    std::size_t known = best;
    while (row < known && !best.compare_exchange_weak(known, row)) {
    }
  }

  std::size_t first_distance_, distances_;
  const Doubt& doubt_;
  const Has& has_;
};

// Scores with their tiles, and a room for each thread.
class Tiled {
 public:
  Tiled(const ContentScores& scores, const Interruption& interruption)
      : tiles_(content_tiles(scores, interruption)),
        rooms_([tiles = tiles_.get()] { return tiles->room(); }) {}

  ContentTiles::Shares shares(const Tile& tile, const DoubleDouble* centers) {
    return tiles_->shares(tile, centers, rooms_.local());
  }
  const double* scores(const Tile& tile) { return tiles_->scores(tile, rooms_.local()); }

 private:
  std::unique_ptr<const ContentTiles> tiles_;
  tbb::enumerable_thread_specific<ContentTiles::Room> rooms_;
};

// Total errors, held to a tolerance.
class Held {
 public:
  Held(const Real& tolerance, const ContentScores& scores, const DistanceReference& reference)
      : tolerance_(tolerance),
        quick_tolerance_(to_double(tolerance)),
        scores_(scores),
        reference_(reference),
        centers_(reference.simulated()) {
    centers_.resize((reference.context() + tile_diagonals - 1) / tile_diagonals * tile_diagonals);
  }

  const DoubleDouble* centers(const Tile& tile) const { return centers_.data() + tile.first; }

  InDoubt doubt(const Tile& tile, const ContentTiles::Shares& shares) const {
    InDoubt doubtful;
    for (std::size_t n = 0; n < tile_diagonals && tile.first + n < reference_.context(); ++n) {
      const double least = shares[n].least, greatest = shares[n].greatest;
      const bool any_finite = least <= greatest;
      doubtful[n] =
          shares[n].not_finite > 0 || (any_finite && !(surely_within(tile.first + n, least) &&
                                                       surely_within(tile.first + n, greatest)));
    }
    return doubtful;
  }

  bool is_beyond(std::size_t i, std::size_t j) const {
    const DoubleDouble f = scores_.score(i, j);
    if (!std::isfinite(f.high)) return true;
    if (surely_within(i - j, deviation(f, scores_.content_score(i, j), centers_[i - j]))) {
      return false;
    }
    return abs(to_real(f) - scores_.exact_content_score(i, j) - reference_.exact_bias(i - j)) >
           tolerance_;
  }

 private:
  // Of F - C - S, of which a double is good to 2^-50 relative but for the errors of C and S.
  bool surely_within(std::size_t distance, double deviation) const {
    const double truncation = reference_.truncation()[distance].high;
    const double size = std::abs(deviation) + std::abs(truncation);
    const double slack = (size + quick_tolerance_) * 0x1p-48 +
                         reference_.simulated_error(distance) + scores_.content_error() + 0x1p-1070;
    return std::abs(deviation + truncation) + slack < quick_tolerance_;
  }

  const Real& tolerance_;
  double quick_tolerance_;
  const ContentScores& scores_;
  const DistanceReference& reference_;
  std::vector<DoubleDouble> centers_;
};

constexpr std::array<DoubleDouble, tile_diagonals> no_centers{};

}  // namespace

std::optional<std::size_t> first_row_not_finite(const ContentScores& scores, std::size_t begin,
                                                std::size_t end, const Interruption& interruption) {
  Tiled tiled(scores, interruption);
  const auto doubt = [&](const Tile& tile) {
    const auto shares = tiled.shares(tile, no_centers.data());
    InDoubt doubtful;
    for (std::size_t n = 0; n < tile_diagonals; ++n) doubtful[n] = shares[n].not_finite > 0;
    return doubtful;
  };
  const auto has = [&](std::size_t i, std::size_t j) {
    return !std::isfinite(scores.score(i, j).high);
  };
  return RowSearch(0, scores.size(), doubt, has).run(begin, end);
}

std::optional<std::size_t> first_row_merged(const ContentScores& scores, std::size_t end,
                                            const Interruption& interruption) {
  const ContentScores moved = scores.with_keys_moved();
  Tiled tiled(scores, interruption), tiled_moved(moved, interruption);
  const auto doubt = [&](const Tile& tile) {
    const double* here = tiled.scores(tile);
    const double* there = tiled_moved.scores(tile);
    if (here == nullptr || there == nullptr) return InDoubt().set();
    const std::size_t last = std::min(tile.begin + tile_queries, scores.size());
    InDoubt doubtful;
    for (std::size_t n = 0; n < tile_diagonals; ++n, here += tile_queries, there += tile_queries) {
      for (std::size_t i = std::max(tile.begin, tile.first + n); i < last; ++i) {
        if (here[i - tile.begin] == there[i - tile.begin]) doubtful.set(n);
      }
    }
    return doubtful;
  };
  const auto has = [&](std::size_t i, std::size_t j) {
    return scores.score(i, j) == moved.score(i, j);
  };
  return RowSearch(1, scores.size(), doubt, has).run(0, end);
}

std::optional<std::size_t> first_row_beyond(const Real& tolerance, const ContentScores& scores,
                                            const DistanceReference& reference, std::size_t begin,
                                            const Interruption& interruption) {
  const Held held(tolerance, scores, reference);
  Tiled tiled(scores, interruption);
  const auto doubt = [&](const Tile& tile) {
    return held.doubt(tile, tiled.shares(tile, held.centers(tile)));
  };
  const auto has = [&](std::size_t i, std::size_t j) { return held.is_beyond(i, j); };
  return RowSearch(0, reference.context(), doubt, has).run(begin, scores.size());
}

}  // namespace ropelab
