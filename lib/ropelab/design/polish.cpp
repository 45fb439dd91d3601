#include "ropelab/design/polish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "ropelab/design/pair_designs.hpp"

namespace ropelab {
namespace {

// What is done to a pair. The first four leave its scores as they are, to first order and but for
// a constant, if they are not rounded; the others matter where it has little of the bias.
enum class Change { turn, turn_query, exchange, slow_down, change_theta, scale_query, scale_key };
constexpr std::array<Change, 7> of_any = {
    Change::turn,         Change::turn_query,  Change::exchange, Change::slow_down,
    Change::change_theta, Change::scale_query, Change::scale_key};
constexpr std::array<Change, 5> of_grid = {Change::turn, Change::turn_query, Change::exchange,
                                           Change::scale_query, Change::scale_key};
constexpr std::array<Change, 5> on_axes = {Change::exchange, Change::slow_down,
                                           Change::change_theta, Change::scale_query,
                                           Change::scale_key};

std::span<const Change> changes_of(Method method) {
  switch (method) {
    case Method::single:
      return on_axes;
    case Method::grid:
      return of_grid;
    default:
      return of_any;
  }
}

// The largest changes: of a factor, and of an angle in positions, of grids half the window, as no
// rule tells where their rounding is best; and how many octaves smaller the smallest are.
constexpr double largest_factor = 0x1p-3, largest_turn = 16, largest_turn_of_grid = 0.5;
constexpr std::size_t octaves = 21;

// Queries that each trial is first compared by.
constexpr std::size_t first_queries = 16, most_telling = 64;

// Where all pairs take no more products than this, one trial in four is also taken if it does no
// better: from there it may go on.
constexpr double most_products_of_drift = 0x1p24;

using Part = std::array<double, 2>;

// By about this angle; the size is kept. Only rational operations: the same on every machine.
void turn_part(Part& part, double angle) {
  const double half = angle / 2, square = half * half;
  const double c = (1 - square) / (1 + square), s = 2 * half / (1 + square);
  part = {part[0] * c - part[1] * s, part[0] * s + part[1] * c};
}

void multiply(Part& part, double factor) {
  for (double& component : part) component *= factor;
}

void make_theta(RotatedPair& pair, double theta) { pair.theta = Algebraic(to_rational(theta)); }

// `size` from -1 to 1 times the largest change; `positions` of a turn.
void change(RotatedPair& pair, Change what, double size, double positions) {
  const double theta = pair.theta.to_double();
  const double angle = positions * size * theta;
  const double factor = 1 + largest_factor * size;
  switch (what) {
    case Change::turn:
      turn_part(pair.query, angle);
      turn_part(pair.key, angle);
      break;
    case Change::turn_query:
      turn_part(pair.query, angle);
      break;
    case Change::exchange:
      multiply(pair.query, factor);
      multiply(pair.key, 1 / factor);
      break;
    case Change::slow_down:
      make_theta(pair, theta / factor);
      multiply(pair.query, factor);
      break;
    case Change::change_theta:
      make_theta(pair, theta * factor);
      break;
    case Change::scale_query:
      multiply(pair.query, factor);
      break;
    case Change::scale_key:
      multiply(pair.key, factor);
      break;
  }
}

// What a pair takes away for each position, about.
double share_of(const RotatedPair& pair) {
  return std::hypot(pair.query[0], pair.query[1]) * std::hypot(pair.key[0], pair.key[1]) *
         pair.theta.to_double();
}

// What one takes more the other takes less.
void exchange_shares(RotatedPair& first, RotatedPair& second, double size) {
  const double factor = largest_factor * size;
  multiply(first.query, 1 + factor);
  multiply(second.query, 1 - factor * share_of(first) / share_of(second));
}

}  // namespace

bool may_be_polished(const HeadTask& task, Method method, Objective objective) {
  const bool rotates =
      method == Method::single || method == Method::multi_pair || method == Method::grid;
  return task.slope && rotates && come_by_rows(task, objective) && are_pairs_few(task);
}

Polish::Polish(const HeadTask& task, HeadDesign design, Objective objective, std::uint64_t seed,
               const Interruption& interruption)
    : task_(task),
      interruption_(interruption),
      design_(std::move(design)),
      has_free_offset_(may_have_offset(task, design_.method, objective)),
      rows_(task, objective, design_.offset),
      drifts_(products_of_all() <= most_products_of_drift),
      dice_(seed),
      telling_(spread_queries(task, first_queries)) {
  for (std::size_t n = 0; n < design_.pairs.size(); ++n) {
    tables_.emplace(n, table_of(design_.pairs[n]));
  }
  attempt(design_.pairs);
}

double Polish::products_of_all() const {
  return 2 * static_cast<double>(task_.context) * static_cast<double>(task_.window) *
         static_cast<double>(design_.pairs.size());
}

void Polish::run(int trials, double products) {
  if (!std::isfinite(value_)) return;
  for (; trials > 0 && products > 0 && value_ > 0; --trials) {
    interruption_.check();
    const Pairs pairs = changed(design_.pairs);
    if (pairs != design_.pairs) products -= attempt(pairs);
  }
}

Polish::Pairs Polish::changed(Pairs pairs) {
  const bool are_two = dice_.below(3) == 0;
  if (are_two && design_.method == Method::grid && dice_.below(2) == 0) {
    RotatedPair& first = pairs[dice_.below(pairs.size())];
    RotatedPair& second = pairs[dice_.below(pairs.size())];
    if (&first != &second) exchange_shares(first, second, dice_.of_octaves(octaves));
    round(first);
    round(second);
    return pairs;
  }
  for (int n = 0; n < 1 + are_two; ++n) {
    RotatedPair& pair = pairs[dice_.below(pairs.size())];
    pair = changed(pair);
  }
  return pairs;
}

RotatedPair Polish::changed(RotatedPair pair) {
  const auto changes = changes_of(design_.method);
  const Change what = changes[dice_.below(changes.size())];
  const double positions = design_.method == Method::grid
                               ? largest_turn_of_grid * static_cast<double>(task_.window)
                               : largest_turn;
  change(pair, what, dice_.of_octaves(octaves), positions);
  round(pair);
  return pair;
}

void Polish::round(RotatedPair& pair) const {
  for (Part* part : {&pair.query, &pair.key}) {
    for (double& component : *part) component = rounded_component(task_, component);
  }
}

double Polish::attempt(const Pairs& pairs) {
  Tables others;
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    if (!(pairs[n] == design_.pairs[n])) others.emplace(n, table_of(pairs[n]));
  }
  exchange(others);
  const double most = drifts_ && dice_.below(4) == 0 ? value_ : std::nextafter(value_, 0.0);
  const auto found = errors_up_to(most);
  if (found.errors.value(has_free_offset_) > most) {
    exchange(others);
  } else {
    value_ = found.errors.value(has_free_offset_);
    middle_ = found.errors.middle();
    design_.pairs = pairs;
  }
  return products_of_all() * static_cast<double>(found.queries) /
         static_cast<double>(task_.context);
}

RowErrors::Found Polish::errors_up_to(double most) {
  const ScoreRows scores = scores_of_tables();
  auto found = rows_.of_queries(scores, telling_, has_free_offset_, most);
  if (found.errors.value(has_free_offset_) > most) {
    look_first_at(telling_[found.queries - 1]);
    found.queries = 0;
    return found;
  }
  found = rows_.of_all(scores, has_free_offset_, most, interruption_);
  look_first_at(found.errors.query_of_least);
  look_first_at(found.errors.query_of_greatest);
  return found;
}

ScoreRows Polish::scores_of_tables() const {
  ScoreTable all;
  for (const auto& [n, table] : tables_) {
    all.query.insert(all.query.end(), table.query.begin(), table.query.end());
    all.key.insert(all.key.end(), table.key.begin(), table.key.end());
  }
  return rows_.scores(std::move(all));
}

void Polish::exchange(Tables& others) {
  for (auto& [n, table] : others) std::swap(table, tables_[n]);
}

ScoreTable Polish::table_of(const RotatedPair& pair) const {
  return score_table(task_.pipeline, {pair}, 0, task_.context);
}

void Polish::look_first_at(std::size_t query) {
  const auto known = std::find(telling_.begin(), telling_.end(), query);
  if (known != telling_.end()) {
    std::rotate(telling_.begin(), known, known + 1);
    return;
  }
  telling_.insert(telling_.begin(), query);
  if (telling_.size() > most_telling) telling_.pop_back();
}

HeadDesign Polish::design() const {
  HeadDesign design = design_;
  if (has_free_offset_) design.offset += middle_;
  return design;
}

}  // namespace ropelab
