// Largest errors, a query and all its keys at a time; internal to this room.
#pragma once

#include <vector>

#include "ropelab/design/error_range.hpp"
#include "ropelab/design/head_design.hpp"
#include "ropelab/errors/score_rows.hpp"

namespace ropelab {

// Whether scores come by the row: of an objective that is their largest error, where the pipeline
// rounds them.
bool come_by_rows(const HeadTask& task, Objective objective);

// Whether a search can afford to look at all pairs many times: there are no more than 2^28.
bool are_pairs_few(const HeadTask& task);

// Of the pairs that total or visible count.
std::size_t last_distance(const HeadTask& task, Objective objective);

// F - (B + offset) of the pairs that an objective counts, logits.
class RowErrors {
 public:
  // O(window) time. The task must outlive it.
  RowErrors(const HeadTask& task, Objective objective, double offset);

  // F of a design with these products, O(context) time.
  ScoreRows scores(ScoreTable products) const;

  // Of one query, which it names in what it changes.
  void add_query(const ScoreRows& scores, std::size_t query, ErrorRange& errors) const;

  // What some queries have, and how many.
  struct Found {
    ErrorRange errors{};
    std::size_t queries = 0;
  };
  // Of these, or up to the first with which the value is above `enough`.
  Found of_queries(const ScoreRows& scores, const std::vector<std::size_t>& queries, bool is_free,
                   double enough) const;
  // Of all, from the last on, or up to where the value is above `enough`: the same on any number of
  // threads. Throws Interrupted.
  Found of_all(const ScoreRows& scores, bool is_free, double enough,
               const Interruption& interruption) const;

 private:
  const HeadTask& task_;
  std::size_t distances_;
  std::vector<double> high_, low_;  // B + offset by distance, the greatest first, as keys come
};

// So many queries, evenly spread, the last one first.
std::vector<std::size_t> spread_queries(const HeadTask& task, std::size_t count);

}  // namespace ropelab
