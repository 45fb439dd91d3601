#include "ropelab/sweep/grid.hpp"

#include <stdexcept>

#include "catch.hpp"

using namespace ropelab;
using Place = std::vector<std::size_t>;

TEST_CASE("the first axis of a grid varies slowest") {
  const Grid grid({2, 3});
  REQUIRE(grid.size() == 6);
  CHECK(grid.at(0) == Place{0, 0});
  CHECK(grid.at(1) == Place{0, 1});
  CHECK(grid.at(2) == Place{0, 2});
  CHECK(grid.at(3) == Place{1, 0});
  CHECK(grid.at(5) == Place{1, 2});
  CHECK_THROWS_AS(grid.at(6), std::out_of_range);
}

TEST_CASE("a grid without axes is one point, and one with an empty axis none") {
  CHECK(Grid({}).size() == 1);
  CHECK(Grid({}).at(0).empty());
  CHECK(Grid({3, 0, 2}).size() == 0);
}

TEST_CASE("a grid too large to be counted is refused") {
  const std::size_t large = std::size_t{1} << 32;
  CHECK_THROWS_AS(Grid({large, large}), std::overflow_error);
}
