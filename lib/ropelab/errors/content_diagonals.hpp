// The all-pairs measurement among content: deviations of F - C from S, gathered by distance;
// internal to this room.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ropelab/errors/content_kernel.hpp"
#include "ropelab/errors/content_scores.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab {

// The causal pairs in tiles: the queries begin ... begin+63 on the diagonals first ... first+63,
// as far as there are such pairs; first and begin are multiples of 64, first <= begin.
struct Tile {
  std::size_t first, begin;
};

class ContentTiles {
 public:
  using Shares = std::array<kernel::Share, content_kernel::tile_diagonals>;
  // What one thread at a time works in.
  using Room = content_kernel::Room;

  virtual ~ContentTiles() = default;
  virtual Room room() const = 0;
  // Of each diagonal of the tile, about these centres. Throws Interrupted.
  virtual Shares shares(const Tile& tile, const DoubleDouble* centers, Room& room) const = 0;
  // F(begin + x, begin + x - first - n) at [64 n + x], in the room; anything where there is no
  // such pair. Null where scores do not come by the tile. Throws Interrupted.
  virtual const double* scores(const Tile& tile, Room& room) const = 0;
};

// By the vector kernels, where they know the arithmetic. The scores and the interruption must
// outlive the tiles.
std::unique_ptr<const ContentTiles> content_tiles(const ContentScores& scores,
                                                  const Interruption& interruption);

// For each distance d = 0 ... centers.size()-1, over the pairs (i, i-d): the moments and extremes
// of deviation(F, C, centers[d]) where F is finite, how many are not, and at how many keys the
// order of neighbours is lost in F.
//
// Scores are bit for bit those of score_among_content(). Moments are sums of doubles in a fixed
// order (content_kernel.hpp), so the result does not depend on threads, instruction set or
// compiler. Time O(size distances head_dim), memory O(size head_dim). Throws Interrupted, and
// tells the interruption the share of pairs done.
std::vector<kernel::Share> measure_deviations(const ContentScores& scores,
                                              std::vector<DoubleDouble> centers,
                                              const Interruption& interruption = {});

}  // namespace ropelab
