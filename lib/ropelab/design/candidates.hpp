// Designs to choose from; internal to this room.
#pragma once

#include <limits>
#include <map>

#include "ropelab/design/search.hpp"

namespace ropelab {

// Designs of the heads of a group, of which the best is wanted.
class Candidates {
 public:
  // The three must outlive it.
  Candidates(const std::vector<HeadTask>& group, const SearchOptions& options,
             const Interruption& interruption)
      : group_(group), options_(options), interruption_(interruption) {}

  // A design of the first head: those of the others have its frequencies and key parts, and its
  // query parts by the ratio of the slopes. Passes over it where a number is not finite, or such a
  // score is in the sample.
  void add(const HeadDesign& design);
  // The best of the best few of each number of pairs, measured over all pairs with the best offset
  // that they may have; one for each head. So no candidate is lost because there are others of more
  // pairs. Empty where there is none.
  std::vector<Found> best();

 private:
  struct Ranked {
    double value;  // of the worst head
    std::vector<HeadDesign> designs;
  };
  // With its pairs the other way round, in which their products are added; not yet compared.
  static Ranked reversed(Ranked candidate);
  // The objective of the worst head, one design for each, by a sample of this size and by what
  // Ranked compares; something above `enough` where it is. Empty where some number is not finite.
  std::optional<double> sampled(const std::vector<HeadDesign>& designs, std::uint64_t size,
                                double enough) const;
  // A candidate of as many pairs with more than this is no finalist.
  double enough(const HeadDesign& design) const;
  // Compares those that wait for it, on all threads.
  void compare();
  // Empty where it is no candidate: its value is above `most`, or some number is not finite.
  std::optional<Ranked> ranked(const HeadDesign& design, double most) const;
  void insert(Ranked candidate);
  bool is_free(const HeadDesign& design) const;  // its offset
  // Puts those that may be below `least`, also with their pairs the other way round, in order by a
  // larger sample.
  void rank_finalists(std::vector<Ranked>& ranked, double least) const;
  // Whether some queries tell that a head has more than this.
  bool is_beaten_by_rows(const std::vector<HeadDesign>& designs, double least) const;
  struct Best {
    double value = std::numeric_limits<double>::infinity();
    std::vector<Found> found{};
  };
  // Over all pairs; what is better takes the place of the best.
  void measure(const std::vector<HeadDesign>& designs, Best& best) const;
  void measure_finalists(const std::vector<Ranked>& ranked, Best& best) const;
  // The best, and others with small values.
  std::vector<HeadDesign> to_polish(const Best& best) const;
  void polish(Best& best) const;
  // How many products a measurement over all pairs takes, of all heads.
  double products_measured(const HeadDesign& design) const;
  std::vector<HeadDesign> for_group(const HeadDesign& design) const;
  // An objective of a head in logits, in what heads are compared by: slopes, where they have one.
  double comparable(const HeadTask& task, double objective) const;
  bool compares_slopes(const HeadTask& task) const;
  std::optional<double> worst(const std::vector<Found>& found) const;

  const std::vector<HeadTask>& group_;
  const SearchOptions& options_;
  const Interruption& interruption_;
  std::map<std::size_t, std::vector<Ranked>> ranked_;  // by pairs: the best few, in order
  std::vector<HeadDesign> known_;                      // all that were added,
  std::size_t compared_ = 0;                           // and how many of them were compared
};

// x as the rotation step keeps a fixed component.
double rounded_component(const HeadTask& task, double x);

// The power of two for the key that leaves query and key about the same size.
int even_exponent(double amplitude);

// amplitude * (cosine cos + sine sin), as a query part against the key part (0, 2^exponent).
RotatedPair pair_of(const Algebraic& theta, double cosine, double sine, int exponent);

// The same design with the fixed parts turned back by the phase of the middle of the context, and
// rounded again: position p has the angle (p - middle - shift) theta, with a shift for each pair,
// or none. What that adds at distance 0 goes into the offset.
HeadDesign centred(const HeadTask& task, const HeadDesign& design,
                   const std::vector<double>& shifts = {});

// The same design with the query part turned back by a quarter of the window more, and the key part
// by as much less: the scores lose half of the bias of the furthest key, which goes into the
// offset.
HeadDesign moved_apart(const HeadTask& task, const HeadDesign& design);

// Pairs of single: see DesignSearch::best.
std::vector<HeadDesign> single_designs(const HeadTask& task);
// Pairs of dyadic, of at most so many digits; the last pair may have all that is left of N for its
// amplitude instead: rounding costs only what is in proportion to that.
enum class LastPair { digit, rest };
struct Digits {
  LastPair last = LastPair::digit;
  int bits = 1;     // significant bits of a digit
  int octaves = 1;  // from one theta to the next
};
std::vector<HeadDesign> dyadic_designs(const HeadTask& task, int most_pairs,
                                       const Digits& wanted = {});

// Pairs whose small components are a small odd number and a power of two times the position, and so
// exact in a storage that holds the positions, of a rotation in more precision; their large ones
// hardly change. With theta = u 2^c/s, the query part -2^-a s and the key part 2^(a-c) s such a
// pair takes u s away for each position. Each pair has as much of the step per position as the
// storage keeps of its share of what those before it left: copies share a digit, and the next digit
// is what they leave.
//
// The pairs are turned back to the middle. Where the storage does not hold all positions from
// there, the copies of the first digit are turned by different fractions of its spacing at the
// ends: what one copy rounds up another rounds down. Two of them carry one bit of position more
// than the storage has, four of them two, but for some positions where the spacing changes.
struct Copies {
  int digits;     // of the step per position
  int of_first;   // copies of the first digit
  int of_others;  // of each other one; 1 or an even number
};
std::vector<HeadDesign> shifted_copies(const HeadTask& task, const Copies& copies);

}  // namespace ropelab
