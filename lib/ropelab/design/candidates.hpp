// The best of some designs; internal to this room.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ropelab/design/search.hpp"

namespace ropelab {

// The objective of the worst head of a group, in what heads are compared by; empty where some score
// is not finite.
std::optional<double> worst_of(const std::vector<HeadTask>& group, const std::vector<Found>& found,
                               Objective objective);

class Polish;

// Designs of the heads of a group, of which the best is wanted.
class Candidates {
 public:
  // The four must outlive it.
  Candidates(const std::vector<HeadTask>& group, const SearchOptions& options,
             const Frequencies& grid, const Interruption& interruption)
      : group_(group), options_(options), grid_(grid), interruption_(interruption) {}

  // A design of the first head: those of the others have its frequencies and key parts, and its
  // query parts by the ratio of the slopes. Passes over it where a number is not finite, or such a
  // score is in the sample.
  void add(const HeadDesign& design);
  // Of the first head, to be annealed whether it is among the best or not; for nothing in a group
  // of several heads.
  void add_start(const HeadDesign& design) { starts_.push_back(design); }
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
  std::vector<HeadDesign> best_few(const Best& best) const;
  // Those that may be, and what annealing made of them and of other starts where it is better than
  // the best.
  std::vector<std::unique_ptr<Polish>> to_polish(const Best& best) const;
  void polish(Best& best) const;
  // How many products a measurement over all pairs takes, of all heads.
  double products_measured(const HeadDesign& design) const;
  std::vector<HeadDesign> for_group(const HeadDesign& design) const;

  const std::vector<HeadTask>& group_;
  const SearchOptions& options_;
  const Frequencies& grid_;  // that of the options
  const Interruption& interruption_;
  std::map<std::size_t, std::vector<Ranked>> ranked_;  // by pairs: the best few, in order
  std::vector<HeadDesign> starts_;
  std::vector<HeadDesign> known_;  // all that were added,
  std::size_t compared_ = 0;       // and how many of them were compared
};

}  // namespace ropelab
