#include "ropelab/design/polish.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ropelab/design/candidates.hpp"

namespace ropelab {
namespace {

// What is done to a pair. The first four leave its scores as they are, to first order and but for
// a constant, if they are not rounded; the others matter where it has little of the bias.
enum class Change { turn, turn_query, exchange, slow_down, change_theta, scale };
constexpr std::array<Change, 6> changes = {Change::turn,         Change::turn_query,
                                           Change::exchange,     Change::slow_down,
                                           Change::change_theta, Change::scale};

// From the largest change to the smallest, in octaves.
constexpr int levels = 10;

using Part = std::array<double, 2>;

void turn_part(Part& part, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  part = {part[0] * c - part[1] * s, part[0] * s + part[1] * c};
}

void multiply(Part& part, double factor) {
  for (double& component : part) component *= factor;
}

// By a position, or the spacing of the storage, and 2^-level.
RotatedPair changed(const HeadTask& task, RotatedPair pair, Change change, double sign, int level) {
  const double theta = pair.theta.to_double();
  const double angle = sign * std::ldexp(theta, -level);
  const double factor =
      1 + sign * std::ldexp(1.0, -task.pipeline[StepName::storage]->precision - level);
  switch (change) {
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
      pair.theta = Algebraic(to_rational(theta / factor));
      multiply(pair.query, factor);
      break;
    case Change::change_theta:
      pair.theta = Algebraic(to_rational(theta * factor));
      break;
    case Change::scale:
      multiply(pair.query, factor);
      break;
  }
  for (Part* part : {&pair.query, &pair.key}) {
    for (double& component : *part) component = rounded_component(task, component);
  }
  return pair;
}

}  // namespace

HeadDesign polished(const HeadTask& task, const HeadDesign& design, Objective objective, int trials,
                    const Interruption& interruption) {
  if (!may_have_offset(task, design.method, objective)) return design;
  HeadDesign best = design;
  auto least = error_with_best_offset(task, best, objective,
                                      std::numeric_limits<double>::infinity(), interruption);
  const auto helps = [&](std::size_t pair, Change change, double sign, int level) {
    if (trials-- <= 0) return false;
    HeadDesign other = best;
    other.pairs[pair] = changed(task, other.pairs[pair], change, sign, level);
    if (other.pairs[pair] == best.pairs[pair]) return false;
    const auto error = error_with_best_offset(task, other, objective, least->largest, interruption);
    if (!error || error->largest >= least->largest) return false;
    best = std::move(other);
    least = error;
    return true;
  };
  bool is_better = least && least->largest > 0;
  while (is_better && trials > 0) {
    is_better = false;
    for (int level = 0; level < levels; ++level) {
      for (std::size_t pair = 0; pair < best.pairs.size(); ++pair) {
        for (const Change change : changes) {
          for (const double sign : {1.0, -1.0}) {
            while (helps(pair, change, sign, level)) is_better = true;
          }
        }
      }
    }
  }
  if (least) best.offset += least->offset;
  return best;
}

}  // namespace ropelab
