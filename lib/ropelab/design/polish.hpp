// The last step of a search by samples: small changes by what all pairs of positions say; internal
// to this room.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "ropelab/design/dice.hpp"
#include "ropelab/design/row_errors.hpp"

namespace ropelab {

// Whether designs of a method can be polished: of single, multi-pair or grid, for a slope, where
// scores come by the row and no more than 2^28 pairs tell their largest error.
bool may_be_polished(const HeadTask& task, Method method, Objective objective);

// A design that is changed a little at random, where its largest error is no greater for that: its
// pairs are turned, scaled and given other frequencies. The parts of single stay on their axes, and
// a grid keeps its frequencies.
// Most changes leave what the scores are to be but not how they round.
class Polish {
 public:
  // The design may be polished. O(context window) time. What is passed by reference must outlive
  // it. Deterministic under the seed, on any number of threads. Throws Interrupted.
  Polish(const HeadTask& task, HeadDesign design, Objective objective, std::uint64_t seed,
         const Interruption& interruption);

  // At most so many trials, each O(context) time but for those that a few queries do not refuse:
  // these end with the trial in which they have taken more than so many products.
  void run(int trials, double products);

  // Of the best so far, in logits, with the best offset where that is free; infinite where a score
  // is.
  double value() const { return value_; }
  // With that offset.
  HeadDesign design() const;

 private:
  using Pairs = std::vector<RotatedPair>;
  using Tables = std::map<std::size_t, ScoreTable>;  // by the number of the pair

  // One pair, or two, or what two of them share.
  Pairs changed(Pairs pairs);
  // In one way.
  RotatedPair changed(RotatedPair pair);
  void round(RotatedPair& pair) const;
  // Takes the pairs if they do no worse; the products that it took to tell.
  double attempt(const Pairs& pairs);
  // Of the tables as they are: of few queries where these have more than `most`, which then count
  // as none, else of all, up to where these have more.
  RowErrors::Found errors_up_to(double most);
  ScoreTable table_of(const RotatedPair& pair) const;
  ScoreRows scores_of_tables() const;
  void exchange(Tables& others);
  double products_of_all() const;
  void look_first_at(std::size_t query);

  const HeadTask& task_;
  const Interruption& interruption_;
  HeadDesign design_;
  bool has_free_offset_;
  RowErrors rows_;
  bool drifts_;
  Dice dice_;
  Tables tables_;
  double value_ = std::numeric_limits<double>::infinity();
  double middle_ = 0;
  std::vector<std::size_t> telling_;  // queries that most trials are refused by, in order
};

}  // namespace ropelab
