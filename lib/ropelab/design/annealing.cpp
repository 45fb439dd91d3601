#include "ropelab/design/annealing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <tbb/parallel_for.h>

#include "ropelab/design/dice.hpp"
#include "ropelab/design/places.hpp"
#include "ropelab/design/polish.hpp"
#include "ropelab/design/steady_errors.hpp"

namespace ropelab {
namespace {

// Changes for the worse are taken by up to such a part of the best value, the less often the larger
// they are.
constexpr std::array<double, 2> temperatures = {0.005, 0.02};
constexpr int rounds = 8;
constexpr double products_of_round = 0x1p26, products_of_single = 0x1p24;
constexpr std::size_t most_kept = 2;
// Of other frequencies.
constexpr double most_phase_of_moves = 0.5;

// The largest changes: of the size of a part, of what is moved between parts or frequencies, of a
// share, and of a turn in spacings of the storage; and over how many octaves they are drawn.
constexpr double largest_scale = 0x1p-7, largest_exchange = 0x1p-3, largest_share = 0x1p-4,
                 largest_turn = 2;
constexpr std::size_t octaves_of_size = 12;

enum class Move { scale, exchange, turn, share, frequency };
constexpr std::array<Move, 9> moves = {Move::scale, Move::scale, Move::exchange,
                                       Move::turn,  Move::turn,  Move::turn,
                                       Move::share, Move::share, Move::frequency};

// Whether the other steps round far less than the storage.
bool is_by_storage(const Pipeline& pipeline) {
  constexpr int bits_more = 8;
  const Step& storage = pipeline[StepName::storage];
  if (!storage) return false;
  // The storage is one of them.
  return std::count_if(pipeline.steps.begin(), pipeline.steps.end(), [&](const Step& step) {
           return step && step->precision < storage->precision + bits_more;
         }) == 1;
}

bool may_be_annealed(const HeadTask& task, const HeadDesign& design, Objective objective) {
  const double origin = origin_of(task, design.method);
  return objective == Objective::total && may_be_polished(task, design.method, objective) &&
         task.window == task.context && !task.ahead && is_by_storage(task.pipeline) &&
         !design.pairs.empty() &&
         std::all_of(design.pairs.begin(), design.pairs.end(), [&](const RotatedPair& pair) {
           return is_slow(task, pair.theta.to_double(), origin);
         });
}

SteadyPairs steady_pairs(const HeadDesign& design, double origin) {
  SteadyPairs pairs;
  for (const RotatedPair& pair : design.pairs) pairs.push_back(steady_pair(pair, origin));
  return pairs;
}

void multiply(SteadyPair::Part& part, double factor) {
  part.along *= factor;
  part.across *= factor;
}

// What a pair takes away for each position.
double share_of(const SteadyPair& pair) {
  return pair.parts[SteadyPair::of_query].along * pair.parts[SteadyPair::of_key].along * pair.theta;
}

// One of the designs, as it is changed.
class Annealing {
 public:
  // The design may be annealed; the frequencies are those that its pairs may have, or any if there
  // are none. What is passed by reference must outlive it.
  Annealing(const HeadTask& task, const HeadDesign& design, const Frequencies& frequencies)
      : task_(task),
        from_(design),
        frequencies_(frequencies),
        origin_(origin_of(task, design.method)),
        spacing_(std::max(1.0, spacing_at_end(task.pipeline[StepName::storage], task))),
        errors_(task, steady_pairs(design, origin_), origin_,
                may_have_offset(task, design.method, Objective::total)),
        best_(errors_.value()),
        best_pairs_(errors_.pairs()) {}

  // For about so many products.
  void run(std::uint64_t seed, double products, const Interruption& interruption);

  // The least error so far, infinite if it cannot be told, and the design that has it.
  double value() const { return best_; }
  HeadDesign design() const;

 private:
  SteadyPairs changed();
  void change_one(SteadyPairs& pairs);
  // Of query, key, or both.
  std::span<const SteadyPair::Side> sides();
  double size_of_change() { return dice_.of_octaves(octaves_of_size); }
  void move_share(SteadyPairs& pairs, SteadyPair& first);
  void change_frequency(const SteadyPairs& pairs, SteadyPair& pair);
  Algebraic frequency_of(double theta) const;

  const HeadTask& task_;
  const HeadDesign& from_;
  const Frequencies& frequencies_;
  double origin_, spacing_;
  SteadyErrors errors_;
  double best_;
  SteadyPairs best_pairs_;
  Dice dice_{0};
};

void Annealing::run(std::uint64_t seed, double products, const Interruption& interruption) {
  dice_ = Dice(seed);
  const double temperature = temperatures[dice_.below(temperatures.size())];
  const double end = errors_.products() + products;
  for (std::size_t trial = 0; errors_.products() < end && best_ > 0; ++trial) {
    constexpr std::size_t between_checks = 1024;
    if (trial % between_checks == 0) interruption.check();
    const double most = errors_.value() + temperature * best_ * dice_.between(0, 1);
    if (errors_.take(changed(), most) && errors_.value() < best_) {
      best_ = errors_.value();
      best_pairs_ = errors_.pairs();
    }
  }
}

SteadyPairs Annealing::changed() {
  SteadyPairs pairs = errors_.pairs();
  constexpr double chance_of_two = 0.3;
  const int count = dice_.with_chance(chance_of_two) ? 2 : 1;
  for (int n = 0; n < count; ++n) change_one(pairs);
  return pairs;
}

std::span<const SteadyPair::Side> Annealing::sides() {
  static constexpr std::array<SteadyPair::Side, 2> both = {SteadyPair::of_query,
                                                           SteadyPair::of_key};
  const std::size_t which = dice_.below(3);
  return which == 2 ? std::span(both) : std::span(both).subspan(which, 1);
}

void Annealing::change_one(SteadyPairs& pairs) {
  SteadyPair& pair = pairs[dice_.below(pairs.size())];
  switch (moves[dice_.below(moves.size())]) {
    case Move::scale:
      multiply(pair.parts[dice_.below(2)], 1 + largest_scale * size_of_change());
      break;
    case Move::exchange: {
      const double factor = 1 + largest_exchange * size_of_change();
      multiply(pair.parts[SteadyPair::of_query], factor);
      multiply(pair.parts[SteadyPair::of_key], 1 / factor);
      break;
    }
    case Move::turn: {
      if (from_.method == Method::single) break;
      const double angle = pair.theta * largest_turn * spacing_ * size_of_change();
      for (const auto side : sides()) pair.parts[side] = turned(pair.parts[side], angle);
      break;
    }
    case Move::share:
      move_share(pairs, pair);
      break;
    case Move::frequency:
      change_frequency(pairs, pair);
      break;
  }
}

// What one takes more the other takes less.
void Annealing::move_share(SteadyPairs& pairs, SteadyPair& first) {
  SteadyPair& second = pairs[dice_.below(pairs.size())];
  if (&first == &second) return;
  const double more = largest_share * size_of_change();
  const double less = more * share_of(first) / share_of(second);
  for (const auto side : sides()) {
    multiply(first.parts[side], 1 + more);
    multiply(second.parts[side], 1 - less);
  }
}

// The parts are changed so that the pair takes as much for each position as before.
void Annealing::change_frequency(const SteadyPairs& pairs, SteadyPair& pair) {
  double theta = pair.theta * (1 + largest_exchange * size_of_change());
  if (!frequencies_.empty()) {
    theta = frequencies_[dice_.below(frequencies_.size())].theta;
    if (std::any_of(pairs.begin(), pairs.end(),
                    [&](const SteadyPair& other) { return other.theta == theta; })) {
      return;
    }
  }
  if (!is_slow(task_, theta, origin_)) return;
  const double factor = theta / pair.theta;
  pair.theta = theta;
  // Turned by as many positions as before.
  for (SteadyPair::Part& part : pair.parts) part.across *= factor;
  const auto divided = sides();
  const double divisor = divided.size() == 1 ? factor : std::sqrt(factor);
  for (const auto side : divided) multiply(pair.parts[side], 1 / divisor);
}

Algebraic Annealing::frequency_of(double theta) const {
  for (const Frequency& frequency : frequencies_) {
    if (frequency.theta == theta) return frequency.exact;
  }
  for (const RotatedPair& pair : from_.pairs) {
    if (pair.theta.to_double() == theta) return pair.theta;
  }
  return Algebraic(to_rational(theta));
}

HeadDesign Annealing::design() const {
  HeadDesign design = from_;
  for (std::size_t n = 0; n < best_pairs_.size(); ++n) {
    const SteadyPair& pair = best_pairs_[n];
    design.pairs[n] = rotated_pair(task_, pair, origin_, frequency_of(pair.theta));
  }
  return design;
}

}  // namespace

std::vector<HeadDesign> annealed(const HeadTask& task, const std::vector<HeadDesign>& starts,
                                 Objective objective, const Frequencies& grid, std::uint64_t seed,
                                 const Interruption& interruption) {
  const Frequencies of_grid = turning_at_most(most_phase_of_moves, task, grid), any;
  std::vector<std::unique_ptr<Annealing>> all;
  for (const HeadDesign& start : starts) {
    interruption.check();
    if (!may_be_annealed(task, start, objective)) continue;
    all.push_back(
        std::make_unique<Annealing>(task, start, start.method == Method::grid ? of_grid : any));
    if (!std::isfinite(all.back()->value())) all.pop_back();
  }
  const bool is_single = !starts.empty() && starts.front().method == Method::single;
  const double products =
      (is_single ? products_of_single : products_of_round) / static_cast<double>(all.size());
  for (int round = 0; round < rounds && !all.empty(); ++round) {
    // The better half goes on twice, each in its own way.
    const std::size_t half = round == 0 ? 0 : all.size() / 2;
    for (std::size_t n = 0; n < half; ++n) {
      all[all.size() - 1 - n] = std::make_unique<Annealing>(*all[n]);
    }
    const std::uint64_t first_seed = seed + static_cast<std::uint64_t>(round) * all.size();
    tbb::parallel_for(std::size_t{0}, all.size(),
                      [&](std::size_t n) { all[n]->run(first_seed + n, products, interruption); });
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a->value() < b->value(); });
  }
  std::vector<HeadDesign> designs;
  for (const auto& one : all) {
    if (designs.size() == most_kept) break;
    HeadDesign design = one->design();
    if (std::none_of(designs.begin(), designs.end(),
                     [&](const HeadDesign& known) { return known.pairs == design.pairs; })) {
      designs.push_back(std::move(design));
    }
  }
  return designs;
}

}  // namespace ropelab
