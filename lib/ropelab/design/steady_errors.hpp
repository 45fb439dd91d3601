// Largest errors of pairs whose large components hardly change, as the storage keeps them; internal
// to this room.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "ropelab/design/head_design.hpp"
#include "ropelab/formats/rounder.hpp"

namespace ropelab {

// A pair that turns by less than 1/2 rad from an origin to either end of the context. A fixed part
// is turned to the origin: x positions from there, at the angle y = theta x, its large component is
// `along` cos y - `across` sin y, and its small one `along` sin y + `across` cos y; the small one
// of the key with the other sign.
struct SteadyPair {
  struct Part {
    double along, across;
    friend bool operator==(const Part&, const Part&) = default;
  };
  enum Side { of_query, of_key };

  double theta;
  std::array<Part, 2> parts;
  friend bool operator==(const SteadyPair&, const SteadyPair&) = default;
};
using SteadyPairs = std::vector<SteadyPair>;

// Turned by an angle of less than 1/2 rad.
SteadyPair::Part turned(const SteadyPair::Part& part, double angle);

// Where positions are counted from: for single 0, as its parts stay on their axes, else the middle.
double origin_of(const HeadTask& task, Method method);
bool is_slow(const HeadTask& task, double theta, double origin);
// It must be slow.
SteadyPair steady_pair(const RotatedPair& pair, double origin);
// Rounded as the rotation keeps fixed parts, and of an exact frequency, which theta is a double of.
RotatedPair rotated_pair(const HeadTask& task, const SteadyPair& pair, double origin,
                         const Algebraic& frequency);

// The largest error of pairs, all causal pairs of positions being counted and the offset being 0
// or, where it is free, the best, in O(context) time; that others have more is found in less. Where
// the storage keeps the large component of the query as one number c at some positions, and that of
// the key as C at others, their scores are the sum over the pairs of C times what it keeps of the
// query's small component and c times that of the key's: so the error is a function of the query's
// position and one of the key's. Positions are cut into at most 24 pieces over which that is so.
//
// All steps but the storage are taken to be exact; the result is in products, that is before the
// scaling.
class SteadyErrors {
 public:
  // The storage must have a format. The task must outlive it.
  SteadyErrors(const HeadTask& task, SteadyPairs pairs, double origin, bool has_free_offset);

  // Those it has, and their error: infinite where large components change too often or overflow.
  const SteadyPairs& pairs() const { return pairs_; }
  double value() const { return value_; }

  // Takes as many others instead, if their error is at most this. Whether it did.
  bool take(const SteadyPairs& pairs, double most);

  // About how many products of components have been looked at so far.
  double products() const { return products_; }

 private:
  using Columns = std::array<std::vector<double>, 2>;  // by side and position
  // What the storage keeps of the small components of each pair at some positions, in order.
  struct Smalls {
    std::vector<std::size_t> positions;
    std::vector<Columns> smalls{};
  };
  using Run = std::pair<std::size_t, std::size_t>;    // among these: the first, and the end
  using Larges = std::vector<std::array<double, 2>>;  // of each pair: of query and key
  struct Piece {
    std::size_t begin;  // it ends where the next one begins
    Larges larges;
  };
  using Pieces = std::vector<Piece>;
  struct Extent;
  struct Errors;

  double at(std::size_t position) const { return static_cast<double>(position) - origin_; }
  // What the storage keeps of a component x positions from the origin.
  double small(const SteadyPair& pair, SteadyPair::Side side, double x) const;
  double large(const SteadyPair& pair, SteadyPair::Side side, double x) const;
  Columns smalls_at(const std::vector<std::size_t>& positions, const SteadyPair& pair) const;
  void add_changes(const SteadyPair& pair, SteadyPair::Side side, std::size_t first,
                   std::size_t last, std::vector<std::size_t>& changes) const;
  // Empty where there are too many.
  Pieces pieces_of(const SteadyPairs& pairs) const;
  // The part of the error that is of these positions, the other side having these large components.
  std::vector<double> errors_of_side(const Smalls& smalls, SteadyPair::Side side, const Run& run,
                                     const Larges& larges) const;
  // Up to where the error is above `most`.
  Errors errors_of(const Smalls& smalls, const Pieces& pieces, double most) const;
  // Whether a few positions tell that the error of these is above `most`.
  bool is_refused(const SteadyPairs& pairs, const Pieces& pieces, double most) const;
  void look_first_at(std::size_t position);

  const HeadTask& task_;
  Rounder storage_;
  double origin_, step_;
  bool has_free_offset_;
  SteadyPairs pairs_;
  Smalls all_;                   // of these, at all positions
  std::vector<Columns> others_;  // of those that were not taken
  double value_ = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> telling_;  // positions that others are refused by, in order,
  std::vector<std::size_t> seen_;     // and when they last were
  std::size_t now_ = 0;
  double products_ = 0;
};

}  // namespace ropelab
