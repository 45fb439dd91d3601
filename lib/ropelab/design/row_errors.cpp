#include "ropelab/design/row_errors.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>

namespace ropelab {

bool come_by_rows(const HeadTask& task, Objective objective) {
  const auto is_rounded = [&](StepName step) { return task.pipeline[step].has_value(); };
  return (objective == Objective::total || objective == Objective::visible) &&
         is_rounded(StepName::storage) && is_rounded(StepName::accumulation) &&
         is_rounded(StepName::scaling);
}

bool are_pairs_few(const HeadTask& task) {
  constexpr double most = 0x1p28;
  return static_cast<double>(task.context) * static_cast<double>(task.window) <= most;
}

std::size_t last_distance(const HeadTask& task, Objective objective) {
  return objective == Objective::visible ? task.visible : task.window - 1;
}

RowErrors::RowErrors(const HeadTask& task, Objective objective, double offset)
    : task_(task),
      distances_(last_distance(task, objective) + 1),
      high_(distances_),
      low_(distances_) {
  const DistanceFunction bias = offset == 0 ? task.bias : shifted(task.bias, offset);
  for (std::size_t n = 0; n < distances_; ++n) {
    const DoubleDouble b = bias.quick(distances_ - 1 - n);
    high_[n] = b.high;
    low_[n] = b.low;
  }
}

ScoreRows RowErrors::scores(ScoreTable products) const {
  return {task_.pipeline, scale_of(task_), std::move(products)};
}

void RowErrors::add_query(const ScoreRows& scores, std::size_t query, ErrorRange& errors) const {
  const std::size_t keys = std::min(query + 1, distances_), first = distances_ - keys;
  thread_local std::vector<double> row;
  row.resize(distances_);
  scores.fill({query, 1, query + 1 - keys, keys}, row.data(), keys);
  // In lanes, as one comparison need not wait for another.
  std::array<ErrorRange, 4> lanes;
  for (std::size_t n = 0; n < keys; ++n) {
    const double error = row[n] - high_[first + n] - low_[first + n];
    ErrorRange& lane = lanes[n % lanes.size()];
    lane.least = error < lane.least ? error : lane.least;
    lane.greatest = error > lane.greatest ? error : lane.greatest;
  }
  for (ErrorRange& lane : lanes) {
    lane.query_of_least = lane.query_of_greatest = query;
    errors.add(lane);
  }
}

RowErrors::Found RowErrors::of_queries(const ScoreRows& scores,
                                       const std::vector<std::size_t>& queries, bool is_free,
                                       double enough) const {
  Found found;
  for (const std::size_t query : queries) {
    add_query(scores, query, found.errors);
    ++found.queries;
    if (found.errors.value(is_free) > enough) break;
  }
  return found;
}

RowErrors::Found RowErrors::of_all(const ScoreRows& scores, bool is_free, double enough,
                                   const Interruption& interruption) const {
  constexpr std::size_t together = 1024, grain = 16;
  Found found;
  while (found.queries < task_.context) {
    interruption.check();
    const std::size_t end = task_.context - found.queries;
    const std::size_t begin = end - std::min(end, together);
    found.errors.add(tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(begin, end, grain), ErrorRange{},
        [&](const auto& queries, ErrorRange errors) {
          for (std::size_t i = queries.begin(); i != queries.end(); ++i) {
            add_query(scores, i, errors);
          }
          return errors;
        },
        [](ErrorRange a, const ErrorRange& b) {
          a.add(b);
          return a;
        },
        tbb::simple_partitioner()));
    found.queries += end - begin;
    if (found.errors.value(is_free) > enough) break;
  }
  return found;
}

std::vector<std::size_t> spread_queries(const HeadTask& task, std::size_t count) {
  std::vector<std::size_t> queries;
  for (std::size_t n = 0; n < std::min(count, task.context); ++n) {
    queries.push_back(task.context - 1 - n * task.context / count);
  }
  return queries;
}

}  // namespace ropelab
