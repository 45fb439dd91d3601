// Frequencies of a grid with equal parts of the step.
#include "ropelab/design/equal_shares.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "design/slow_grid.hpp"

namespace ropelab {
namespace {

TEST_CASE("positions are exact, and parts of the step are about equal and add up to it") {
  const HeadTask task = first_head("bfloat16");
  const Format& format = find_format("bfloat16");
  const double step = step_per_position(task).to_double();
  for (const std::size_t pairs : std::vector<std::size_t>{1, 2, 4}) {
    INFO(pairs);
    const auto sets = equal_shares(task, slowest_first(slow_grid()), pairs);
    REQUIRE(!sets.empty());
    double least_lack = 1;
    for (const auto& set : sets) {
      for (const HeadDesign& design : set) {
        REQUIRE(design.pairs.size() == pairs);
        double sum = 0;
        for (const RotatedPair& pair : design.pairs) {
          const double theta = pair.theta.to_double();
          const double unit = size_of(pair.query) * theta;
          // But for stretches.
          CHECK(std::fabs(std::remainder(std::log2(unit), 1)) < 1e-3);
          const double part = round_to(format, size_of(pair.key)) * unit;
          CHECK(std::fabs(std::log2(part * static_cast<double>(pairs) / step)) <= 0.51);
          sum += part;
          CHECK(std::count_if(design.pairs.begin(), design.pairs.end(),
                              [&](const auto& other) { return other.theta == pair.theta; }) == 1);
        }
        least_lack = std::min(least_lack, std::fabs(sum / step - 1));
      }
    }
    // The more sets there are, the nearer.
    CHECK(least_lack < (pairs == 4 ? 0.001 : pairs == 2 ? 0.01 : 0.1));
  }
}

TEST_CASE("there are no equal shares without storage, frequencies or pairs") {
  const auto grid = slowest_first(slow_grid());
  CHECK(equal_shares(first_head("float32", "exact"), grid, 2).empty());
  CHECK(equal_shares(first_head("bfloat16"), grid, 17).empty());
  CHECK(equal_shares(first_head("bfloat16"), grid, 0).empty());
  CHECK(equal_shares(first_head("bfloat16"), {}, 1).empty());
}

}  // namespace
}  // namespace ropelab
