#include "ropelab/design/equal_shares.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/places.hpp"

namespace ropelab {
namespace {

constexpr std::size_t most_frequencies = 16, sets_kept = 32;

// A frequency, and how much of the step a pair of it takes: the power of two nearest to an equal
// part.
struct Share {
  const Frequency* frequency;
  double part;
};

struct Set {
  double error;  // about, in positions
  std::vector<Share> shares;
};

double sum_of(const std::vector<Share>& shares) {
  double sum = 0;
  for (const Share& share : shares) sum += share.part;
  return sum;
}

Share nearest_to(double part, const Frequency& frequency, const Format& storage) {
  const double inverse = round_to(storage, 1 / frequency.theta);
  const double octaves = std::log2(part / inverse);
  return {&frequency, std::ldexp(inverse, static_cast<int>(std::nearbyint(octaves)))};
}

// What the sum lacks moves the furthest positions; what a part has more than another is rounded by
// itself.
double error_of(const std::vector<Share>& shares, const HeadTask& task, double step) {
  const double equal = step / static_cast<double>(shares.size());
  const double spacing = spacing_at_end(task.pipeline[StepName::storage], task);
  double uneven = 0;
  for (const Share& share : shares) uneven += std::fabs(share.part - equal);
  return (std::fabs(sum_of(shares) - step) * middle_of(task) + uneven * spacing / 2) / step;
}

std::vector<Set> best_sets(const HeadTask& task, const Frequencies& frequencies,
                           std::size_t pairs) {
  const double step = step_per_position(task).to_double();
  std::vector<Share> all;
  for (const Frequency& frequency : frequencies) {
    all.push_back(nearest_to(step / static_cast<double>(pairs), frequency,
                             *task.pipeline[StepName::storage]));
  }
  std::vector<Set> sets;
  for (std::uint32_t chosen = 1; chosen < std::uint32_t{1} << all.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) != pairs) continue;
    std::vector<Share> shares;
    for (std::size_t n = 0; n < all.size(); ++n) {
      if ((chosen >> n & 1) != 0) shares.push_back(all[n]);
    }
    const double error = error_of(shares, task, step);
    sets.push_back({error, std::move(shares)});
  }
  std::stable_sort(sets.begin(), sets.end(),
                   [](const Set& a, const Set& b) { return a.error < b.error; });
  sets.resize(std::min(sets.size(), sets_kept));
  return sets;
}

// Of the power of two, query and key have about as much.
RotatedPair pair_of_share(const HeadTask& task, const Share& share, const Place& place) {
  const double theta = share.frequency->theta;
  const double positions = middle_of(task) + place.shift;
  const double c = std::cos(theta * positions), s = std::sin(theta * positions);
  const int exponent = static_cast<int>(std::nearbyint(std::log2(share.part * theta)));
  const double query = std::ldexp(place.stretch, exponent >> 1) / theta;
  const double key = std::ldexp(place.stretch, exponent - (exponent >> 1)) / theta;
  return {share.frequency->exact, turned_back(task, {-query, 0}, c, s),
          turned_back(task, {0, key}, c, s)};
}

}  // namespace

std::vector<std::vector<HeadDesign>> equal_shares(const HeadTask& task, const Frequencies& grid,
                                                  std::size_t pairs) {
  if (!task.pipeline[StepName::storage] || pairs == 0) return {};
  const Frequencies frequencies = first_of(steady_ones(task, grid), most_frequencies);
  std::vector<std::vector<HeadDesign>> designs;
  for (const Set& set : best_sets(task, frequencies, pairs)) {
    designs.emplace_back();
    for (const Places& places : places_of(task, static_cast<int>(pairs))) {
      HeadDesign& design = designs.back().emplace_back(HeadDesign{.method = Method::grid});
      for (std::size_t n = 0; n < pairs; ++n) {
        design.pairs.push_back(pair_of_share(task, set.shares[n], places[n]));
      }
    }
  }
  return designs;
}

}  // namespace ropelab
