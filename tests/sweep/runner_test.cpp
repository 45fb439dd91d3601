#include "ropelab/sweep/runner.hpp"

#include <cmath>
#include <thread>
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
      2, [&](std::size_t) { runner.point_interruption().tell(0.5); }, weight);
  REQUIRE(seen.size() == 5);
  const std::vector<double> shares{0, 0.125, 0.25, 0.625, 1};
  for (std::size_t i = 0; i < shares.size(); ++i) CHECK(seen[i].share_done == shares[i]);
  CHECK(seen.back().points_done == 2);
  CHECK(seen.back().points == 2);
}

TEST_CASE("within a point progress never falls, and counts from 0 in the next") {
  std::vector<Progress> seen;
  Runner runner({}, [&](const Progress& progress) { seen.push_back(progress); });
  runner.run(2, [&](std::size_t) {
    for (const double share : {0.25, 0.75, 0.5}) runner.point_interruption().tell(share);
  });
  std::vector<double> shares, shares_of_point;
  for (const Progress& progress : seen) {
    shares.push_back(progress.share_done);
    shares_of_point.push_back(progress.point_share);
  }
  CHECK(shares == std::vector<double>{0, 0.125, 0.375, 0.5, 0.625, 0.875, 1});
  CHECK(shares_of_point == std::vector<double>{0, 0.25, 0.75, 0, 0.25, 0.75, 0});
}

TEST_CASE("several threads of a point tell of its progress, one at a time") {
  std::atomic<int> telling = 0;
  double last = 0;
  bool fell = false, at_once = false;
  Runner runner({}, [&](const Progress& progress) {
    at_once = at_once || telling++ > 0;
    fell = fell || progress.point_share < last;
    last = progress.point_share;
    --telling;
  });
  runner.run(1, [&](std::size_t) {
    PartsDone done(runner.point_interruption(), 4000);
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
      threads.emplace_back([&] {
        for (int part = 0; part < 1000; ++part) done.add(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(last > 0);
    CHECK(last <= 1);
    CHECK(!fell);
  });
  CHECK(!at_once);
}

TEST_CASE("work told of by interruption() is not that of a point") {
  std::vector<Progress> seen;
  Runner runner({}, [&](const Progress& progress) { seen.push_back(progress); });
  runner.run(1, [&](std::size_t) { runner.interruption().tell(0.5); });
  CHECK(seen.size() == 2);
}

TEST_CASE("a point that is watched is asked to stop as any other") {
  std::atomic<bool> stop = true;
  Runner runner{Interruption(stop)};
  CHECK_THROWS_AS(runner.point_interruption().check(), Interrupted);
}

TEST_CASE("rate and time left follow from what is done") {
  const std::chrono::duration<double> four_seconds(4);
  const Progress begun{2, 10, 0.25, four_seconds};
  CHECK(begun.rate() == 0.5);
  CHECK(begun.left().count() == 12);
  const Progress in_the_first{0, 1, 0.5, four_seconds, 0.5};
  CHECK(in_the_first.rate() == 0.125);
  CHECK(in_the_first.left().count() == 4);
  const Progress unbegun{0, 10, 0, four_seconds};
  CHECK(unbegun.rate() == 0);
  CHECK(std::isinf(unbegun.left().count()));
}
