#include "ropelab/design/drawn_shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ropelab/design/dice.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/places.hpp"

namespace ropelab {
namespace {

// Between 1 and 2.
double mantissa(double x) { return std::ldexp(x, -std::ilogb(x)); }

double sum_of_inverses(const Frequencies& frequencies) {
  double sum = 0;
  for (const Frequency& frequency : frequencies) sum += mantissa(1 / frequency.theta);
  return sum;
}

// Those that may be drawn.
Frequencies drawn_from(const HeadTask& task, const Frequencies& grid) {
  constexpr double most_phase = 0.5;
  constexpr std::size_t most = 16;
  return first_of(turning_at_most(most_phase, task, grid), most);
}

// Distinct ones of these, more often of the first.
Frequencies some_of(Frequencies frequencies, std::size_t count, Dice& dice) {
  constexpr double chance_of_two = 0.7;
  Frequencies chosen;
  while (chosen.size() < count) {
    std::size_t n = dice.below(frequencies.size());
    if (dice.with_chance(chance_of_two)) n = std::min(n, dice.below(frequencies.size()));
    chosen.push_back(frequencies[n]);
    frequencies.erase(frequencies.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return chosen;
}

// Of some draws, the one that leaves a factor near a power of two.
Frequencies nearly_exact(const Frequencies& frequencies, std::size_t count, double step,
                         Dice& dice) {
  constexpr int draws = 16;
  Frequencies best;
  double least = 1;
  for (int n = 0; n < draws; ++n) {
    auto chosen = some_of(frequencies, count, dice);
    const double octaves = std::log2(step / sum_of_inverses(chosen));
    const double distance = std::fabs(octaves - std::nearbyint(octaves));
    if (distance < least) {
      least = distance;
      best = std::move(chosen);
    }
  }
  return best;
}

// Turned back by so many positions.
std::array<double, 2> turned(const HeadTask& task, double theta, const std::array<double, 2>& part,
                             double positions) {
  return turned_back(task, part, std::cos(theta * positions), std::sin(theta * positions));
}

// One design after the other.
class Draws {
 public:
  Draws(const HeadTask& task, Frequencies frequencies, std::uint64_t seed)
      : task_(task),
        storage_(*task.pipeline[StepName::storage]),
        frequencies_(std::move(frequencies)),
        steady_(steady_ones(task, frequencies_)),
        dice_(seed),
        step_(step_per_position(task).to_double()),
        spacing_(spacing_at_end(storage_, task)) {}

  // All pairs share the step.
  HeadDesign shares(std::size_t pairs) {
    const auto chosen = dice_.with_chance(0.5) ? nearly_exact(frequencies_, pairs, step_, dice_)
                                               : some_of(frequencies_, pairs, dice_);
    // Of the factor, what the query parts have.
    const double factor = mantissa(step_ / sum_of_inverses(chosen));
    const std::array<double, 3> ways = {1, factor, std::exp2(dice_.between(0, 1))};
    return shared(chosen, step_, ways[dice_.below(ways.size())]);
  }

  bool can_leave_rest(std::size_t most_pairs) const {
    return std::min(most_pairs, steady_.size()) > 1;
  }

  // All but the last leave positions exact, and the last has what is left of the step.
  HeadDesign shares_and_rest(std::size_t most_pairs) {
    const std::size_t before_last = 1 + dice_.below(std::min(most_pairs, steady_.size()) - 1);
    const auto chosen = nearly_exact(steady_, before_last, step_, dice_);
    const double sum = sum_of_inverses(chosen);
    HeadDesign design = shared(chosen, sum * std::exp2(std::nearbyint(std::log2(step_ / sum))), 1);
    const double rest = step_ - taken_;
    if (rest == 0) return design;
    Frequencies others = steady_;
    std::erase_if(others, [&](const Frequency& other) {
      return std::any_of(chosen.begin(), chosen.end(),
                         [&](const Frequency& one) { return one.theta == other.theta; });
    });
    const Frequency last = some_of(others, 1, dice_).front();
    const double amplitude = std::fabs(rest) / last.theta;
    const double query = std::sqrt(amplitude) * std::exp2(dice_.between(-0.5, 0.5));
    design.pairs.push_back(
        turned_pair(last, std::copysign(query, rest), amplitude / query, dice_.between(-1, 1)));
    return design;
  }

 private:
  // These take so much of the step, by the parts that are drawn, and nearly so by the rounded ones.
  HeadDesign shared(const Frequencies& frequencies, double step, double of_query) {
    const double sum = sum_of_inverses(frequencies);
    // Whole positions from the middle are exact, if the storage holds them.
    is_exact_ = dice_.with_chance(0.5);
    centre_ = is_exact_ ? middle_of(task_)
                        : static_cast<double>(task_.context) / 2 + dice_.between(-2, 2) * spacing_;
    taken_ = 0;
    HeadDesign design{.method = Method::grid};
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
      const double theta = frequencies[k].theta;
      const double amplitude = step * mantissa(1 / theta) / sum / theta;
      const double query = std::ldexp(of_query, std::ilogb(std::sqrt(amplitude) * theta)) / theta;
      const double key = amplitude / query;
      taken_ += round_to(storage_, query) * key * theta;
      // Evenly over the spacing.
      const double count = static_cast<double>(frequencies.size());
      const double place = (static_cast<double>(k) + 0.5) / count - 0.5;
      design.pairs.push_back(turned_pair(frequencies[k], query, key, place));
    }
    return design;
  }

  RotatedPair turned_pair(const Frequency& frequency, double query, double key, double place) {
    const double of_key = dice_.with_chance(0.5) ? place : -place;
    // In this order: which of two arguments is computed first is not said.
    const double query_turn = centre_ + near(place), key_turn = centre_ + near(of_key);
    return {frequency.exact, turned(task_, frequency.theta, {-query, 0}, query_turn),
            turned(task_, frequency.theta, {0, key}, key_turn)};
  }

  // Parts of the spacing, in positions.
  double near(double place) {
    if (is_exact_) return 0;
    constexpr double chance_of_place = 0.7, little = 0.1;
    const double shift = dice_.with_chance(chance_of_place) ? place : dice_.between(-0.5, 0.5);
    return (shift + dice_.between(-little, little)) * spacing_;
  }

  const HeadTask& task_;
  Format storage_;
  Frequencies frequencies_, steady_;
  Dice dice_;
  double step_, spacing_;
  // Of the last design: the middle of its positions, whether all pairs have that, and the step that
  // rounded parts take.
  double centre_ = 0;
  bool is_exact_ = false;
  double taken_ = 0;
};

}  // namespace

std::vector<HeadDesign> drawn_shares(const HeadTask& task, const Frequencies& grid,
                                     std::size_t pairs, int count, std::uint64_t seed) {
  Frequencies frequencies = drawn_from(task, grid);
  if (!task.pipeline[StepName::storage] || pairs == 0 || frequencies.size() < pairs) return {};
  Draws draws(task, std::move(frequencies), seed);
  std::vector<HeadDesign> designs;
  for (int n = 0; n < count; ++n) {
    const bool has_rest = n % 2 == 1 && draws.can_leave_rest(pairs);
    designs.push_back(has_rest ? draws.shares_and_rest(pairs) : draws.shares(pairs));
  }
  return designs;
}

}  // namespace ropelab
