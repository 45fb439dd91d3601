// Slow pairs of a grid that share a slope.
#include "ropelab/design/drawn_shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "design/slow_grid.hpp"
#include "ropelab/design/search.hpp"

namespace ropelab {
namespace {

// What a pair takes away for each position, about.
double share_of(const RotatedPair& pair) {
  return (pair.query[1] * pair.key[0] - pair.query[0] * pair.key[1]) * pair.theta.to_double();
}

void check_frequencies(const HeadDesign& design, const Frequencies& grid) {
  for (std::size_t n = 0; n < design.pairs.size(); ++n) {
    const Algebraic& theta = design.pairs[n].theta;
    CHECK(std::count_if(grid.begin(), grid.end(),
                        [&](const Frequency& frequency) { return frequency.exact == theta; }) == 1);
    for (std::size_t other = 0; other < n; ++other) {
      CHECK(!(design.pairs[other].theta == theta));
    }
  }
}

TEST_CASE("drawn pairs have frequencies of their own, and share the step") {
  const HeadTask task = first_head("bfloat16");
  const double step = step_per_position(task).to_double();
  const auto grid = slowest_first(slow_grid());
  for (const std::size_t pairs : std::vector<std::size_t>{1, 2, 4, 8}) {
    const auto designs = drawn_shares(task, grid, pairs, 60, 7);
    REQUIRE(designs.size() == 60);
    for (std::size_t n = 0; n < designs.size(); ++n) {
      check_frequencies(designs[n], grid);
      std::vector<double> shares;
      for (const RotatedPair& pair : designs[n].pairs) shares.push_back(share_of(pair));
      const auto [least, greatest] = std::minmax_element(shares.begin(), shares.end());
      const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
      if (pairs == 1 || n % 2 == 0) {
        CHECK(shares.size() == pairs);
        CHECK(sum == Approx(step).epsilon(1e-5));
        CHECK(*greatest < 2.001 * *least);
      } else {
        CHECK(shares.size() >= 2);
        CHECK(shares.size() <= pairs);
      }
    }
    const auto again = drawn_shares(task, grid, pairs, 60, 7);
    const auto others = drawn_shares(task, grid, pairs, 60, 8);
    CHECK(again.back().pairs == designs.back().pairs);
    CHECK(!(others.back().pairs == designs.back().pairs));
  }
}

TEST_CASE("the last of drawn pairs has what the rounding of the others leaves of the step") {
  const HeadTask task = first_head("float16");
  const Format& format = find_format("float16");
  const double step = step_per_position(task).to_double();
  const auto designs = drawn_shares(task, slowest_first(slow_grid()), 4, 60, 3);
  for (std::size_t n = 1; n < designs.size(); n += 2) {
    const auto& pairs = designs[n].pairs;
    double sum = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const double size = size_of(pairs[k].query);
      const bool is_last = k + 1 == pairs.size();
      sum += share_of(pairs[k]) * (is_last ? 1 : round_to(format, size) / size);
      // Components of the position are that, but for a power of two.
      const double unit = size * pairs[k].theta.to_double();
      if (!is_last) CHECK(std::fabs(std::remainder(std::log2(unit), 1)) < 1e-5);
    }
    CHECK(sum == Approx(step).epsilon(1e-5));
  }
}

TEST_CASE("nothing is drawn where nothing is stored, or of fewer frequencies than pairs") {
  const auto grid = slowest_first(slow_grid());
  CHECK(drawn_shares(first_head("float32", "exact"), grid, 1, 10, 1).empty());
  CHECK(drawn_shares(first_head("float32"), grid, 17, 10, 1).empty());
  CHECK(drawn_shares(first_head("float32"), grid, 0, 10, 1).empty());
}

TEST_CASE("slow pairs of a grid round less when they share a slope") {
  SearchOptions options;
  options.grid = slow_grid();
  options.most_pairs = 4;
  DesignSearch search(options);
  const auto total = [&](const char* dtype, int pairs) {
    search.allow_pairs(pairs);
    const auto found = search.best({Method::grid}, {first_head(dtype)});
    REQUIRE(found.size() == 1);
    return found.front().errors.measurement.errors.total_maximum.value();
  };
  // One pair of 8 bits has more than two logits; by fits alone so have four.
  CHECK(total("bfloat16", 1) > 2);
  CHECK(total("bfloat16", 4) < 1.5);
  // In 11 bits all positions fit, and the slope is all that can be lost.
  CHECK(total("float16", 1) > 0.1);
  CHECK(total("float16", 4) < 0.01);
}

}  // namespace
}  // namespace ropelab
