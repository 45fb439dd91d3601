#include "ropelab/design/steady_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ropelab/design/error_range.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/places.hpp"
#include "ropelab/design/row_errors.hpp"

namespace ropelab {
namespace {

constexpr std::size_t most_telling_positions = 64, most_pieces = 24;

// To far less than the storage tells, for angles below 1/2.
double sine_of_small(double y) {
  const double square = y * y;
  return y * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
}
double cosine_of_small(double y) {
  const double square = y * y;
  return 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56)));
}

}  // namespace

SteadyPair::Part turned(const SteadyPair::Part& part, double angle) {
  const double c = cosine_of_small(angle), s = sine_of_small(angle);
  return {part.along * c - part.across * s, part.along * s + part.across * c};
}

double origin_of(const HeadTask& task, Method method) {
  return method == Method::single ? 0 : middle_of(task);
}

bool is_slow(const HeadTask& task, double theta, double origin) {
  const double furthest = std::max(origin, static_cast<double>(task.context) - origin);
  return theta * furthest < 0x1p-1;
}

// Turned by a right angle, the key has its large component first as the query has.
SteadyPair steady_pair(const RotatedPair& pair, double origin) {
  const double theta = pair.theta.to_double(), angle = theta * origin;
  return {
      theta,
      {turned({pair.query[0], pair.query[1]}, angle), turned({pair.key[1], -pair.key[0]}, angle)}};
}

RotatedPair rotated_pair(const HeadTask& task, const SteadyPair& pair, double origin,
                         const Algebraic& frequency) {
  const double angle = pair.theta * origin;
  const auto query = turned(pair.parts[SteadyPair::of_query], -angle);
  const auto key = turned(pair.parts[SteadyPair::of_key], -angle);
  return {frequency,
          {rounded_component(task, query.along), rounded_component(task, query.across)},
          {rounded_component(task, 0 - key.across), rounded_component(task, key.along)}};
}

// The extreme errors of some queries or keys, in order of position, and where they are.
struct SteadyErrors::Extent {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  std::size_t at_least = 0, at_greatest = 0;

  Extent() = default;
  // Of these errors, at as many positions from there on.
  Extent(const std::size_t* positions, const std::vector<double>& errors) {
    for (std::size_t n = 0; n < errors.size(); ++n) add(positions[n], errors[n]);
  }

  void add(std::size_t position, double error) {
    if (error < least) {
      least = error;
      at_least = position;
    }
    if (error > greatest) {
      greatest = error;
      at_greatest = position;
    }
  }
};

// The same of some pairs.
struct SteadyErrors::Errors {
  ErrorRange range{};
  std::array<std::size_t, 4> positions{};  // of those two

  void add(const Extent& queries, const Extent& keys) {
    const double least = queries.least + keys.least, greatest = queries.greatest + keys.greatest;
    if (least < range.least) {
      range.least = least;
      positions[0] = queries.at_least;
      positions[1] = keys.at_least;
    }
    if (greatest > range.greatest) {
      range.greatest = greatest;
      positions[2] = queries.at_greatest;
      positions[3] = keys.at_greatest;
    }
  }

  // Of queries and keys at the same positions, of which no key comes after its query.
  void add_causal(const std::size_t* at, const std::vector<double>& queries,
                  const std::vector<double>& keys) {
    Extent of_keys;
    for (std::size_t n = 0; n < keys.size(); ++n) {
      Extent query;
      query.add(at[n], queries[n]);
      of_keys.add(at[n], keys[n]);
      add(query, of_keys);
    }
  }
};

SteadyErrors::SteadyErrors(const HeadTask& task, SteadyPairs pairs, double origin,
                           bool has_free_offset)
    : task_(task),
      storage_(*task.pipeline[StepName::storage]),
      origin_(origin),
      step_(step_per_position(task).to_double()),
      has_free_offset_(has_free_offset),
      pairs_(std::move(pairs)),
      others_(pairs_.size()),
      telling_(spread_queries(task, most_telling_positions / 4)) {
  std::reverse(telling_.begin(), telling_.end());
  seen_.resize(telling_.size());
  all_.positions.resize(task.context);
  std::iota(all_.positions.begin(), all_.positions.end(), std::size_t{0});
  for (const SteadyPair& pair : pairs_) all_.smalls.push_back(smalls_at(all_.positions, pair));
  const Pieces pieces = pieces_of(pairs_);
  if (!pieces.empty()) value_ = errors_of(all_, pieces, value_).range.value(has_free_offset_);
}

bool SteadyErrors::take(const SteadyPairs& pairs, double most) {
  const Pieces pieces = pieces_of(pairs);
  const std::size_t columns = pairs.size() * std::max<std::size_t>(1, pieces.size());
  products_ += static_cast<double>(columns * telling_.size());
  if (pieces.empty() || is_refused(pairs, pieces, most)) return false;
  products_ += static_cast<double>(columns * task_.context);
  std::vector<std::size_t> touched;
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    if (pairs[n] == pairs_[n]) continue;
    touched.push_back(n);
    others_[n] = smalls_at(all_.positions, pairs[n]);
    all_.smalls[n].swap(others_[n]);
  }
  const Errors errors = errors_of(all_, pieces, most);
  const double value = errors.range.value(has_free_offset_);
  for (const std::size_t position : errors.positions) look_first_at(position);
  if (!(errors.range.is_finite() && value <= most)) {
    for (const std::size_t n : touched) all_.smalls[n].swap(others_[n]);
    return false;
  }
  pairs_ = pairs;
  value_ = value;
  return true;
}

double SteadyErrors::small(const SteadyPair& pair, SteadyPair::Side side, double x) const {
  const double y = pair.theta * x;
  const auto& [along, across] = pair.parts[side];
  return storage_(along * sine_of_small(y) + across * cosine_of_small(y));
}

double SteadyErrors::large(const SteadyPair& pair, SteadyPair::Side side, double x) const {
  const double y = pair.theta * x;
  const auto& [along, across] = pair.parts[side];
  return storage_(along * cosine_of_small(y) - across * sine_of_small(y));
}

SteadyErrors::Columns SteadyErrors::smalls_at(const std::vector<std::size_t>& positions,
                                              const SteadyPair& pair) const {
  Columns columns;
  for (const auto side : {SteadyPair::of_query, SteadyPair::of_key}) {
    columns[side].resize(positions.size());
    for (std::size_t n = 0; n < positions.size(); ++n) {
      columns[side][n] = small(pair, side, at(positions[n]));
    }
  }
  return columns;
}

// Between two positions from one of which to the other it falls or rises.
void SteadyErrors::add_changes(const SteadyPair& pair, SteadyPair::Side side, std::size_t first,
                               std::size_t last, std::vector<std::size_t>& changes) const {
  if (changes.size() > most_pieces || first == last ||
      large(pair, side, at(first)) == large(pair, side, at(last))) {
    return;
  }
  if (last == first + 1) {
    changes.push_back(last);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  add_changes(pair, side, first, middle, changes);
  add_changes(pair, side, middle, last, changes);
}

SteadyErrors::Pieces SteadyErrors::pieces_of(const SteadyPairs& pairs) const {
  std::vector<std::size_t> begins{0};
  const std::size_t last = task_.context - 1;
  for (const SteadyPair& pair : pairs) {
    for (const auto side : {SteadyPair::of_query, SteadyPair::of_key}) {
      // About where it is largest: a change between here and there is overlooked.
      const double peak = origin_ - pair.parts[side].across / pair.parts[side].along / pair.theta;
      if (!std::isfinite(peak)) return {};
      const auto top = static_cast<std::size_t>(std::clamp(peak, 0.0, static_cast<double>(last)));
      std::vector<std::size_t> changes;
      add_changes(pair, side, 0, top, changes);
      add_changes(pair, side, top, last, changes);
      if (changes.size() >= most_pieces || !std::isfinite(large(pair, side, at(top)))) return {};
      begins.insert(begins.end(), changes.begin(), changes.end());
    }
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  if (begins.size() > most_pieces) return {};
  Pieces pieces;
  for (const std::size_t begin : begins) {
    Piece& piece = pieces.emplace_back(Piece{begin, {}});
    for (const SteadyPair& pair : pairs) {
      piece.larges.push_back({large(pair, SteadyPair::of_query, at(begin)),
                              large(pair, SteadyPair::of_key, at(begin))});
    }
  }
  return pieces;
}

std::vector<double> SteadyErrors::errors_of_side(const Smalls& smalls, SteadyPair::Side side,
                                                 const Run& run, const Larges& larges) const {
  const auto [begin, end] = run;
  const double sign = side == SteadyPair::of_query ? 1 : -1;
  const auto other = side == SteadyPair::of_query ? SteadyPair::of_key : SteadyPair::of_query;
  std::vector<double> errors(end - begin);
  for (std::size_t n = begin; n < end; ++n) {
    errors[n - begin] = sign * step_ * at(smalls.positions[n]);
  }
  for (std::size_t pair = 0; pair < larges.size(); ++pair) {
    const double factor = sign * larges[pair][other];
    const std::vector<double>& column = smalls.smalls[pair][side];
    for (std::size_t n = begin; n < end; ++n) errors[n - begin] += factor * column[n];
  }
  return errors;
}

SteadyErrors::Errors SteadyErrors::errors_of(const Smalls& smalls, const Pieces& pieces,
                                             double most) const {
  const auto& positions = smalls.positions;
  const auto place = [&](std::size_t position) {
    return static_cast<std::size_t>(std::lower_bound(positions.begin(), positions.end(), position) -
                                    positions.begin());
  };
  std::vector<Run> runs;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const bool is_last = p + 1 == pieces.size();
    runs.emplace_back(place(pieces[p].begin),
                      is_last ? positions.size() : place(pieces[p + 1].begin));
  }
  Errors errors;
  for (std::size_t q = 0; q < pieces.size(); ++q) {
    for (std::size_t k = 0; k <= q; ++k) {
      if (runs[q].first == runs[q].second || runs[k].first == runs[k].second) continue;
      const auto queries = errors_of_side(smalls, SteadyPair::of_query, runs[q], pieces[k].larges);
      const auto keys = errors_of_side(smalls, SteadyPair::of_key, runs[k], pieces[q].larges);
      const std::size_t* const first_query = positions.data() + runs[q].first;
      if (q == k) {
        errors.add_causal(first_query, queries, keys);
      } else {
        errors.add(Extent(first_query, queries), Extent(positions.data() + runs[k].first, keys));
      }
      if (errors.range.value(has_free_offset_) > most) return errors;
    }
  }
  return errors;
}

bool SteadyErrors::is_refused(const SteadyPairs& pairs, const Pieces& pieces, double most) const {
  Smalls few;
  few.positions = telling_;
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    if (!(pairs[n] == pairs_[n])) {
      few.smalls.push_back(smalls_at(telling_, pairs[n]));
      continue;
    }
    Columns& columns = few.smalls.emplace_back();
    for (const auto side : {SteadyPair::of_query, SteadyPair::of_key}) {
      for (const std::size_t i : telling_) columns[side].push_back(all_.smalls[n][side][i]);
    }
  }
  return errors_of(few, pieces, most).range.value(has_free_offset_) > most;
}

void SteadyErrors::look_first_at(std::size_t position) {
  const auto place = std::lower_bound(telling_.begin(), telling_.end(), position);
  const auto n = place - telling_.begin();
  ++now_;
  if (place != telling_.end() && *place == position) {
    seen_[static_cast<std::size_t>(n)] = now_;
    return;
  }
  telling_.insert(place, position);
  seen_.insert(seen_.begin() + n, now_);
  if (telling_.size() <= most_telling_positions) return;
  const auto oldest = std::min_element(seen_.begin(), seen_.end()) - seen_.begin();
  telling_.erase(telling_.begin() + oldest);
  seen_.erase(seen_.begin() + oldest);
}

}  // namespace ropelab
