#include "ropelab/design/axis_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropelab {
namespace {

constexpr int most_bits = 11;
constexpr double most_beyond = 8;
// What the positions of the context may be too long by, altogether, in positions.
constexpr std::array<double, 5> drifts = {0, -0.25, 0.25, -0.5, 0.5};
// The best functions by each of three measures, of which pairs are made; and the best pairs.
constexpr std::size_t functions_kept = 24, pairs_kept = 12;

// What a side makes of its positions, and how large it is.
struct Rounding {
  double part;  // of the other side, as the format keeps it
  double drift;
  double largest = 0, largest_held = 0;  // over all positions, and over those that the format holds
  double range = 0;
};

struct Setting {
  std::size_t context;
  double step;
  int bits;
};

// g(0), g(1), ... of a side.
template <class Take>
void each_error(const Rounding& side, const Setting& setting, Take take) {
  const double splitter = std::ldexp(1.0, 53 - setting.bits) + 1;
  const double unit =
      setting.step * (1 + side.drift / static_cast<double>(setting.context)) / side.part;
  for (std::size_t p = 0; p < setting.context; ++p) {
    const double position = static_cast<double>(p), component = position * unit;
    // To so many bits, by Veltkamp's splitting.
    const double large = component * splitter;
    take(p, side.part * (large - (large - component)) / setting.step - position);
  }
}

Rounding measured(Rounding side, const Setting& setting) {
  const auto held = static_cast<std::size_t>(std::ldexp(1.0, setting.bits));
  double least = 0, greatest = 0;
  each_error(side, setting, [&](std::size_t p, double error) {
    least = std::min(least, error);
    greatest = std::max(greatest, error);
    if (p == held) side.largest_held = std::max(-least, greatest);
  });
  side.largest = std::max(-least, greatest);
  side.range = greatest - least;
  return side;
}

std::vector<Rounding> best_roundings(const Setting& setting) {
  std::vector<Rounding> all, best;
  for (double part = 1; part < 2; part += std::ldexp(1.0, 1 - setting.bits)) {
    for (const double drift : drifts) all.push_back(measured({part, drift}, setting));
  }
  for (const auto measure : {&Rounding::largest, &Rounding::largest_held, &Rounding::range}) {
    std::stable_sort(all.begin(), all.end(),
                     [&](const Rounding& a, const Rounding& b) { return a.*measure < b.*measure; });
    const std::size_t count = std::min(functions_kept, all.size());
    best.insert(best.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return best;
}

// Up to where it is above `enough`.
double error_of(const std::vector<double>& query, const std::vector<double>& key, double enough) {
  double least = 0, greatest = 0, error = 0;
  for (std::size_t p = 0; p < query.size() && error <= enough; ++p) {
    least = std::min(least, key[p]);
    greatest = std::max(greatest, key[p]);
    error = std::max({error, query[p] - least, greatest - query[p]});
  }
  return error;
}

// What the format makes of the parts are those of the roundings, and what it takes away from them
// makes up for what one side drifts more than the other.
AxisParts parts_of(const Rounding& query, const Rounding& key, std::size_t context, double error) {
  const double query_tilt = query.drift / static_cast<double>(context);
  const double key_tilt = key.drift / static_cast<double>(context);
  const double half = (query_tilt - key_tilt) / 2;
  return {key.part * (1 + half), query.part * (1 - half), 1 + (query_tilt + key_tilt) / 2, error};
}

}  // namespace

std::vector<AxisParts> best_axis_parts(std::size_t context, double step, int bits) {
  const double held = std::ldexp(1.0, bits), positions = static_cast<double>(context);
  if (bits > most_bits || positions <= held + 1 || positions > most_beyond * held) return {};
  const Setting setting{context, step, bits};
  const auto roundings = best_roundings(setting);
  std::vector<std::vector<double>> errors;
  for (const Rounding& rounding : roundings) {
    errors.emplace_back(context);
    each_error(rounding, setting, [&](std::size_t p, double e) { errors.back()[p] = e; });
  }
  std::vector<AxisParts> best;
  double enough = std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; q < roundings.size(); ++q) {
    for (std::size_t k = 0; k < roundings.size(); ++k) {
      const double error = error_of(errors[q], errors[k], enough);
      if (error > enough) continue;
      const AxisParts parts = parts_of(roundings[q], roundings[k], context, error);
      best.insert(std::upper_bound(
                      best.begin(), best.end(), parts,
                      [](const AxisParts& a, const AxisParts& b) { return a.error < b.error; }),
                  parts);
      if (best.size() > pairs_kept) best.pop_back();
      if (best.size() == pairs_kept) enough = best.back().error;
    }
  }
  return best;
}

}  // namespace ropelab
