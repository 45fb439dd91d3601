#include "ropelab/sweep/runner.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"

using namespace ropelab;

TEST_CASE("a run takes every point once, in order") {
  std::vector<std::size_t> seen;
  Runner({}).run(4, [&](std::size_t point) { seen.push_back(point); });
  CHECK(seen == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("a run ends at the point in which it was asked to stop") {
  std::atomic<bool> stop = false;
  Runner runner{Interruption(stop)};
  std::size_t done = 0;
  const auto step = [&](std::size_t point) {
    ++done;
    if (point == 2) stop = true;
  };
  CHECK_THROWS_AS(runner.run(10, step), Interrupted);
  CHECK(done == 3);
  CHECK_THROWS_AS(runner.run(10, step), Interrupted);
  CHECK(done == 3);
}

TEST_CASE("progress counts points and weighs work") {
  std::vector<Progress> seen;
  Runner runner({}, [&](const Progress& progress) { seen.push_back(progress); });
  const auto weight = [](std::size_t point) { return point == 0 ? 1.0 : 3.0; };
  runner.run(
      2, [&](std::size_t) { runner.point_progress(0.5); }, weight);
  REQUIRE(seen.size() == 5);
  const std::vector<double> shares{0, 0.125, 0.25, 0.625, 1};
  for (std::size_t i = 0; i < shares.size(); ++i) CHECK(seen[i].share_done == shares[i]);
  CHECK(seen.back().points_done == 2);
  CHECK(seen.back().points == 2);
}

TEST_CASE("rate and time left follow from what is done") {
  const std::chrono::duration<double> four_seconds(4);
  const Progress begun{2, 10, 0.25, four_seconds};
  CHECK(begun.rate() == 0.5);
  CHECK(begun.left().count() == 12);
  const Progress unbegun{0, 10, 0, four_seconds};
  CHECK(unbegun.rate() == 0);
  CHECK(std::isinf(unbegun.left().count()));
}
