#include "ropelab/design/pair_designs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ropelab/design/axis_parts.hpp"
#include "ropelab/design/places.hpp"

namespace ropelab {
namespace {

double window_of(const HeadTask& task) { return static_cast<double>(task.window); }

double to_bits(double x, int bits) {
  const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
  return std::nearbyint(x / unit) * unit;
}

// A positive number as a sum of numbers of so many significant bits, at most so many: the nearest
// to it, the nearest to what is left, and so on; exact where they end.
std::vector<double> signed_digits(const Real& number, int most, int bits) {
  std::vector<double> digits;
  Real left = number;
  while (left != 0 && static_cast<int>(digits.size()) < most) {
    digits.push_back(to_bits(to_double(left), bits));
    left -= Real(digits.back());
  }
  return digits;
}

// The dot product of the fixed parts: what a score has at distance 0, before it is scaled.
Real product_of(const HeadDesign& design) {
  Real sum = 0;
  for (const RotatedPair& pair : design.pairs) {
    for (std::size_t n = 0; n < 2; ++n) sum += Real(pair.query[n]) * Real(pair.key[n]);
  }
  return sum;
}

}  // namespace

double rounded_component(const HeadTask& task, double x) {
  const Step& rotation = task.pipeline[StepName::rotation];
  return rotation ? round_to(*rotation, x) : x;
}

int even_exponent(double amplitude) {
  return amplitude == 0 ? 0 : static_cast<int>(std::floor(std::ilogb(amplitude) / 2.0));
}

RotatedPair pair_of(const Algebraic& theta, double cosine, double sine, int exponent) {
  return {theta,
          {std::ldexp(sine, -exponent), std::ldexp(cosine, -exponent)},
          {0, std::ldexp(1.0, exponent)}};
}

std::array<double, 2> turned_back(const HeadTask& task, const std::array<double, 2>& part,
                                  double cosine, double sine) {
  return {rounded_component(task, part[0] * cosine + part[1] * sine),
          rounded_component(task, part[1] * cosine - part[0] * sine)};
}

namespace {

using Part = std::array<double, 2>;

Part turned_by(const HeadTask& task, const Algebraic& theta, const Part& part,
               const Real& positions) {
  const Real angle = theta.to_real() * positions;
  return turned_back(task, part, to_double(cosine(angle)), to_double(sine(angle)));
}

// What the turned design has more at distance 0 than the one that it was made of is its offset.
HeadDesign with_offset_of_turn(const HeadTask& task, HeadDesign turned, const HeadDesign& from) {
  turned.offset +=
      to_double(Real(product_of(turned) - product_of(from)) * scale_of(task).to_real());
  return turned;
}

}  // namespace

HeadDesign centred(const HeadTask& task, const HeadDesign& design,
                   const std::vector<double>& shifts) {
  HeadDesign turned = design;
  for (std::size_t n = 0; n < turned.pairs.size(); ++n) {
    RotatedPair& pair = turned.pairs[n];
    const Real middle = Real(task.context / 2) + (shifts.empty() ? Real(0) : Real(shifts[n]));
    pair.query = turned_by(task, pair.theta, pair.query, middle);
    pair.key = turned_by(task, pair.theta, pair.key, middle);
  }
  return with_offset_of_turn(task, std::move(turned), design);
}

HeadDesign moved_apart(const HeadTask& task, const HeadDesign& design) {
  HeadDesign turned = design;
  const Real quarter = Real(task.window / 4);
  for (RotatedPair& pair : turned.pairs) {
    pair.query = turned_by(task, pair.theta, pair.query, quarter);
    pair.key = turned_by(task, pair.theta, pair.key, -quarter);
  }
  return with_offset_of_turn(task, std::move(turned), design);
}

namespace {

// Whether the rotation tells positions well apart that the storage still holds, and those between.
bool stores_less_than_it_rotates(const HeadTask& task) {
  constexpr int bits_more = 8;
  const Step& storage = task.pipeline[StepName::storage];
  const Step& rotation = task.pipeline[StepName::rotation];
  return storage && (!rotation || rotation->precision >= storage->precision + bits_more);
}

// What is tried: phases over the reach of a pair of about 2^-octave.
constexpr int first_octave = 3, last_octave = 24;

// The query part size 2^-of_key and the key part size 2^-of_query turn by
// theta = unit 2^exponent/size, so that the components that follow the position are the position
// times unit and a power of two.
struct PositionPair {
  PositionPair(double size, int octave, double reach)
      : exponent(std::ilogb(std::ldexp(size, -octave) / reach)),
        of_key(exponent >> 1),
        query(std::ldexp(size, -of_key)),
        key(std::ldexp(size, -(exponent - of_key))) {}

  int exponent, of_key;
  double query, key;
};

// That takes unit part of the step per position away.
RotatedPair exact_position_pair(const HeadTask& task, double part, double unit, int octave) {
  const double size = std::fabs(part);
  const PositionPair pair(size, octave, window_of(task));
  return {Algebraic::power(2, pair.exponent, 1) * Algebraic(to_rational(unit)) /
              Algebraic(to_rational(size)),
          {rounded_component(task, std::copysign(pair.query, -part)), 0},
          {0, rounded_component(task, pair.key)}};
}

// What a position may be multiplied by to be exact in the storage still: odd numbers, as it is the
// part for each position that may round better. Where not even positions are, also what has the
// last ones, some shifted, end at a power of two, before the storage gets coarser.
std::vector<double> position_units(const HeadTask& task) {
  constexpr double greatest = 15;
  std::vector<double> units{1};
  const double room = std::ldexp(1.0, task.pipeline[StepName::storage]->precision);
  while (units.back() < greatest && (units.back() + 2) * middle_of(task) <= room) {
    units.push_back(units.back() + 2);
  }
  const double spacing = spacing_at_end(task.pipeline[StepName::storage], task);
  if (spacing > 1) {
    const double reach = middle_of(task) + spacing;
    units.push_back(std::ldexp(1.0, std::ilogb(reach) + 1) / reach);
  }
  return units;
}

// Phases small enough for the storage to keep the large components as they are, the smallest of
// which is the last that keeps these in the range of the storage. (The small ones may then be
// subnormal, and drop the fraction of a position as it should be.)
std::vector<int> position_octaves(const HeadTask& task) {
  constexpr int smallest = 16;
  const double range = task.pipeline[StepName::storage]->largest;
  const double square = step_per_position(task).to_double() * window_of(task);
  const int last = std::min(smallest, std::ilogb(range / square * range));
  return {last, last - 1, last - 3};
}

// Pairs whose components of the position end just below a power of two, `reach` positions from 0:
// as many positions as can be stand where the storage is finest.
void add_filled_binades(const HeadTask& task, double reach, std::vector<HeadDesign>& designs) {
  const Step& storage = task.pipeline[StepName::storage];
  if (!storage) return;
  const Algebraic step = step_per_position(task);
  const double furthest = step.to_double() * reach;
  for (const int bits : {5, storage->precision - 1, storage->precision}) {
    const double unit = std::ldexp(1.0, std::ilogb(furthest) - bits + 1);
    const double size =
        std::ceil(furthest * (1 + std::ldexp(1.0, -storage->precision)) / unit) * unit;
    for (int octave = first_octave; octave < last_octave; ++octave) {
      const PositionPair pair(size, octave, reach);
      designs.push_back({.method = Method::single});
      designs.back().pairs = {
          {step / Algebraic(to_rational(pair.query)) / Algebraic(to_rational(pair.key)),
           {-pair.query, 0},
           {0, pair.key}}};
    }
  }
}

// Pairs whose parts round positions beyond those that the storage holds in the least harmful way.
void add_axis_parts(const HeadTask& task, std::vector<HeadDesign>& designs) {
  const Algebraic step = step_per_position(task);
  const int precision = task.pipeline[StepName::storage]->precision;
  for (const AxisParts& parts : best_axis_parts(task.context, step.to_double(), precision)) {
    for (const int octave : position_octaves(task)) {
      const double theta = std::ldexp(1.0, -octave) / window_of(task);
      const int exponent = std::ilogb(step.to_double() / theta / parts.query / parts.key);
      const double query =
          rounded_component(task, std::ldexp(parts.query, exponent - exponent / 2));
      const double key = rounded_component(task, std::ldexp(parts.key, exponent / 2));
      designs.push_back({.method = Method::single});
      designs.back().pairs = {{step * Algebraic(to_rational(parts.step)) /
                                   Algebraic(to_rational(query)) / Algebraic(to_rational(key)),
                               {-query, 0},
                               {0, key}}};
    }
  }
}

}  // namespace

std::vector<HeadDesign> single_designs(const HeadTask& task) {
  constexpr int per_decade = 8, decades = 6, few_bits = 3, octaves = 20;
  const Step& rotation = task.pipeline[StepName::rotation];
  const int all_bits = rotation ? rotation->precision : 53;
  const Algebraic step = step_per_position(task);
  std::vector<HeadDesign> designs;
  const auto add = [&](const Algebraic& theta, double amplitude) {
    designs.push_back({.method = Method::single});
    designs.back().pairs = {pair_of(theta, 0, -amplitude, even_exponent(amplitude))};
  };
  for (const int bits : {few_bits, all_bits}) {
    double before = 0;
    for (int n = 0; n <= per_decade * decades; ++n) {
      const double phase = std::pow(10.0, -static_cast<double>(n) / per_decade);
      const double amplitude = to_bits(step.to_double() * window_of(task) / phase, bits);
      if (amplitude == before || !std::isfinite(amplitude)) continue;
      before = amplitude;
      add(step / Algebraic(to_rational(amplitude)), amplitude);
    }
  }
  add_filled_binades(task, window_of(task) - 0.5, designs);
  add_filled_binades(task, window_of(task) / 2, designs);
  if (stores_less_than_it_rotates(task)) {
    add_axis_parts(task, designs);
    const double part = to_bits(step.to_double(), task.pipeline[StepName::storage]->precision);
    for (int octave = first_octave; octave < last_octave; ++octave) {
      designs.push_back({.method = Method::single});
      designs.back().pairs = {exact_position_pair(task, part, 1, octave)};
    }
  }
  const int slowest = std::ilogb(window_of(task));
  for (int t = slowest; t < slowest + octaves; ++t) {
    const Algebraic theta = Algebraic::power(2, -t, 1);
    const double amplitude = to_bits((step / theta).to_double(), all_bits);
    if (std::isfinite(amplitude)) add(theta, amplitude);
  }
  return designs;
}

std::vector<HeadDesign> faster_singles(const HeadTask& task) {
  if (!stores_less_than_it_rotates(task)) return {};
  const double part =
      to_bits(step_per_position(task).to_double(), task.pipeline[StepName::storage]->precision);
  std::vector<HeadDesign> designs;
  for (const int octave : {3, 4, 5}) {
    for (double unit = 1; unit < 2; unit += 0.0625) {
      designs.push_back({.method = Method::single});
      designs.back().pairs = {exact_position_pair(task, part, unit, octave)};
    }
  }
  return designs;
}

std::vector<HeadDesign> dyadic_designs(const HeadTask& task, int most_pairs, const Digits& wanted) {
  std::vector<HeadDesign> designs;
  const int slowest = std::ilogb(window_of(task));
  for (int t = slowest; t <= slowest + 30; t += wanted.octaves) {
    const Algebraic theta = Algebraic::power(2, -t, 1);
    const Real amplitude = (step_per_position(task) / theta).to_real();
    auto digits = signed_digits(amplitude, most_pairs, wanted.bits);
    if (wanted.last == LastPair::rest) {
      Real rest = amplitude;
      for (std::size_t n = 0; n + 1 < digits.size(); ++n) rest -= Real(digits[n]);
      digits.back() = rounded_component(task, to_double(rest));
    }
    designs.push_back({.method = Method::dyadic});
    for (const double digit : digits) {
      designs.back().pairs.push_back(
          pair_of(theta, 0, -digit, even_exponent(std::fabs(digits.front()))));
    }
  }
  return designs;
}

namespace {

// What each pair takes away for each position, in units: its share of what those before it left.
std::vector<double> parts_of_step(const HeadTask& task, const Copies& copies, double unit) {
  const int bits = task.pipeline[StepName::storage]->precision;
  std::vector<double> parts;
  Real left = step_per_position(task).to_real() / unit;
  for (int digit = 0; digit < copies.digits; ++digit) {
    for (int count = digit == 0 ? copies.of_first : copies.of_others; count > 0; --count) {
      if (left == 0) return parts;
      parts.push_back(to_bits(to_double(Real(left / count)), bits));
      left -= Real(parts.back());
    }
  }
  return parts;
}

// A pair for each part of the step, at its place.
HeadDesign placed(const HeadTask& task, const std::vector<double>& parts, const Places& places,
                  double unit, int octave) {
  HeadDesign design{.method = Method::multi_pair};
  std::vector<double> shifts;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    design.pairs.push_back(exact_position_pair(task, parts[n], unit * places[n].stretch, octave));
    shifts.push_back(places[n].shift);
  }
  return centred(task, design, shifts);
}

}  // namespace

std::vector<HeadDesign> shifted_copies(const HeadTask& task, const Copies& copies) {
  if (!stores_less_than_it_rotates(task)) return {};
  std::vector<HeadDesign> designs;
  const auto add = [&](const std::vector<double>& parts, double unit, int octave) {
    for (Places places : places_of(task, copies.of_first)) {
      // Those of the further digits, whose roundings weigh little.
      for (int digit = 1; digit < copies.digits; ++digit) {
        const Places others =
            copies.of_others == 1
                ? Places{{0}}
                : opposite_places(copies.of_others, std::fabs(places.front().shift));
        places.insert(places.end(), others.begin(), others.end());
      }
      designs.push_back(placed(task, parts, places, unit, octave));
    }
  };
  for (const double unit : position_units(task)) {
    const auto parts = parts_of_step(task, copies, unit);
    const int pairs = copies.of_first + (copies.digits - 1) * copies.of_others;
    if (parts.size() < static_cast<std::size_t>(pairs)) continue;
    const std::vector<int> octaves = position_octaves(task);
    for (const int octave : octaves) add(parts, unit, octave);
    if (copies.digits > 1) continue;
    // What positions are multiplied by may make up for what the parts lack.
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    add(parts, step_per_position(task).to_double() / sum, octaves.front());
  }
  return designs;
}

}  // namespace ropelab
