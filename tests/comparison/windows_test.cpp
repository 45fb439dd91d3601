#include <algorithm>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/comparison/by_position.hpp"
#include "ropelab/comparison/evaluation_windows.hpp"

using namespace ropelab;

namespace {

constexpr std::size_t heldout = 65536;  // bytes of the text that the counts below are of

std::size_t predictions(const std::vector<EvaluationWindow>& windows) {
  std::size_t sum = 0;
  for (const EvaluationWindow& window : windows) sum += window.predictions();
  return sum;
}

// How often each token of the text is predicted.
std::vector<int> times_predicted(const EvaluationPlan& plan) {
  std::vector<int> times(plan.tokens);
  for (const EvaluationWindow& window : evaluation_windows(plan)) {
    for (std::size_t q = window.first_scored; q <= window.last_scored; ++q) {
      ++times.at(window.start + q + 1);
    }
  }
  return times;
}

// Of a made-up loss, so that means are known: the position that predicts.
LossByPosition positions_as_losses(const EvaluationPlan& plan) {
  LossByPosition by_position(plan.window);
  for (const EvaluationWindow& window : evaluation_windows(plan)) {
    std::vector<double> losses;
    for (std::size_t q = window.first_scored; q <= window.last_scored; ++q) {
      losses.push_back(static_cast<double>(q));
    }
    by_position.add(window, losses);
  }
  return by_position;
}

}  // namespace

TEST_CASE("windows that do not overlap score all of their predictions") {
  const auto windows = evaluation_windows({heldout, 256, {}, {}});
  REQUIRE(windows.size() == 256);
  CHECK(predictions(windows) == 65280);
  for (std::size_t n = 0; n < windows.size(); ++n) {
    CHECK(windows[n].start == 256 * n);
    CHECK(windows[n].first_scored == 0);
    CHECK(windows[n].last_scored == 254);
    CHECK(windows[n].first_new == 0);
  }
  CHECK(predictions(evaluation_windows({heldout, 1024, {}, {}})) == 65472);
  CHECK(predictions(evaluation_windows({heldout, 1024, 1024, {}})) == 65472);
}

TEST_CASE("sliding windows score the last bytes of each") {
  const auto windows = evaluation_windows({heldout, 256, 64, {}});
  REQUIRE(windows.size() == 1021);
  CHECK(predictions(windows) == 65535);
  CHECK(windows[0].first_scored == 0);
  CHECK(windows[0].last_scored == 254);
  CHECK(windows[0].first_new == 0);
  CHECK(windows[1].start == 64);
  CHECK(windows[1].first_scored == 191);
  CHECK(windows[1].last_scored == 254);
  CHECK(windows[1].first_new == 192);
  CHECK(windows[1020].start == heldout - 256);
  const auto wide = evaluation_windows({heldout, 1024, 256, {}});
  CHECK(wide.size() == 253);
  CHECK(predictions(wide) == 65535);
}

TEST_CASE("what is left of the text is dropped, and a limit takes the first windows") {
  CHECK(evaluation_windows({211801, 256, {}, {}}).size() == 827);
  CHECK(evaluation_windows({211801, 2048, {}, {}}).size() == 103);
  CHECK(evaluation_windows({1000, 256, 100, {}}).size() == 8);
  CHECK(evaluation_windows({heldout, 1024, {}, 16}).size() == 16);
  CHECK(evaluation_windows({heldout, 1024, {}, 1}).size() == 1);
  CHECK(evaluation_windows({heldout, 1024, {}, 1000}).size() == 64);
  CHECK(evaluation_windows({heldout, heldout, {}, {}}).size() == 1);
}

TEST_CASE("every token but the first is predicted once, or the first of each window never") {
  for (const std::size_t tokens : {2u, 5u, 17u, 40u}) {
    for (std::size_t window = 2; window <= tokens; ++window) {
      for (std::size_t stride = 1; stride <= window; ++stride) {
        CAPTURE(tokens, window, stride);
        const EvaluationPlan plan{tokens, window, stride, {}};
        const std::size_t end = evaluation_windows(plan).back().start + window;
        REQUIRE(end <= tokens);
        REQUIRE(tokens - end < stride);
        const std::vector<int> times = times_predicted(plan);
        for (std::size_t token = 0; token < tokens; ++token) {
          const bool is_first_of_window = stride == window && token % window == 0;
          REQUIRE(times[token] == (token > 0 && token < end && !is_first_of_window ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("every token is new in one window") {
  for (const std::size_t stride : {1u, 3u, 7u, 10u}) {
    std::vector<int> times(45);
    for (const EvaluationWindow& window : evaluation_windows({45, 10, stride, {}})) {
      for (std::size_t q = window.first_new; q < 10; ++q) ++times.at(window.start + q);
    }
    const auto end = std::find(times.begin(), times.end(), 0);
    CHECK(std::all_of(times.begin(), end, [](int n) { return n == 1; }));
    CHECK(std::all_of(end, times.end(), [](int n) { return n == 0; }));
  }
}

TEST_CASE("windows that make no sense are refused in a sentence") {
  const auto refused = [](const EvaluationPlan& plan, const std::string& sentence) {
    CHECK_THROWS_AS(evaluation_windows(plan), std::invalid_argument);
    CHECK_THROWS_WITH(evaluation_windows(plan), sentence);
  };
  refused({100, 1, {}, {}},
          "window is 1; it must be at least 2 tokens, as the first is only read, never predicted");
  refused({100, 0, 0, 0},
          "window is 0; it must be at least 2 tokens, as the first is only read, never predicted");
  refused({100, 101, {}, {}},
          "window is 101; it must be at most the length of the text, which is 100 tokens");
  refused({0, 2, {}, {}},
          "window is 2; it must be at most the length of the text, which is 0 tokens");
  refused({100, 10, 0, {}}, "stride is 0; it must be from 1 to the window, 10");
  refused({100, 10, 11, {}}, "stride is 11; it must be from 1 to the window, 10");
  refused({100, 10, {}, 0}, "limit is 0; it must be at least 1 window");
  CHECK_THROWS_AS(position_bins(1), std::invalid_argument);
}

TEST_CASE("bins double up to the one that holds the last prediction") {
  const auto names = [](std::size_t window) {
    std::vector<std::string> result;
    for (const PositionBin& bin : position_bins(window)) result.push_back(bin.name());
    return result;
  };
  CHECK(names(2) == std::vector<std::string>{"0-63"});
  CHECK(names(65) == std::vector<std::string>{"0-63"});
  CHECK(names(66) == std::vector<std::string>{"0-63", "64-127"});
  CHECK(names(256) == std::vector<std::string>{"0-63", "64-127", "128-255"});
  CHECK(names(257) == std::vector<std::string>{"0-63", "64-127", "128-255"});
  CHECK(names(258).back() == "256-511");
  CHECK(names(2048) ==
        std::vector<std::string>{"0-63", "64-127", "128-255", "256-511", "512-1023", "1024-2047"});
}

// The counts are those of a table of published evaluations of the same text: windows of 256 and
// 1024 bytes, without overlap and with strides 64 and 256.
TEST_CASE("predictions fall into the bins that they are counted in elsewhere") {
  struct Case {
    std::size_t window, stride;
    std::vector<std::size_t> bins;
    std::size_t all, nonoverlapping_targets;
  };
  const Case cases[] = {
      {256, 256, {16384, 16384, 32512}, 65280, 65280},
      {1024, 1024, {4096, 4096, 8192, 16384, 32704}, 65472, 65472},
      {256, 64, {64, 64, 65407}, 65535, 65280},
      {1024, 256, {64, 64, 128, 256, 65023}, 65535, 65472},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.window, expected.stride);
    const LossByPosition losses =
        positions_as_losses({heldout, expected.window, expected.stride, {}});
    CHECK(losses.mean().predictions == expected.all);
    CHECK(losses.mean_over_nonoverlapping_targets().predictions == expected.nonoverlapping_targets);
    std::vector<std::size_t> counts;
    for (const BinLoss& bin : losses.by_bin()) counts.push_back(bin.loss.predictions);
    CHECK(counts == expected.bins);
  }
}

TEST_CASE("means are over predictions, by position, by bin and by target") {
  const LossByPosition losses = positions_as_losses({12, 6, 2, {}});
  // Windows at 0, 2, 4, 6: positions 0 1 2 3 4, then 3 4 three times.
  const std::vector<MeanLoss> by_position = losses.by_position();
  REQUIRE(by_position.size() == 5);
  for (std::size_t q = 0; q < 5; ++q) {
    CHECK(by_position[q].mean == static_cast<double>(q));
    CHECK(by_position[q].predictions == (q < 3 ? 1 : 4));
  }
  CHECK(losses.mean().mean == 31. / 11);
  REQUIRE(losses.by_bin().size() == 1);
  CHECK(losses.by_bin()[0].loss.mean == 31. / 11);
  // The only target that is a multiple of 6 is 6: position 3 of the window at 2.
  CHECK(losses.mean_over_nonoverlapping_targets().mean == 2.8);
  CHECK(losses.mean_over_nonoverlapping_targets().predictions == 10);
}

TEST_CASE("a position that predicts nothing that counts has no mean") {
  const LossByPosition losses(100);
  CHECK(std::isnan(losses.mean().mean));
  CHECK(std::isnan(losses.by_bin()[1].loss.mean));
  CHECK(losses.by_bin()[1].loss.predictions == 0);
}

TEST_CASE("losses of another window are refused") {
  LossByPosition losses(10);
  const EvaluationWindow window = evaluation_windows({10, 10, {}, {}})[0];
  CHECK_THROWS_AS(losses.add(window, std::vector<double>(10)), std::invalid_argument);
  CHECK_THROWS_AS(losses.add(evaluation_windows({10, 9, {}, {}})[0], std::vector<double>(8)),
                  std::invalid_argument);
  CHECK_NOTHROW(losses.add(window, std::vector<double>(9)));
}

TEST_CASE("a mean of losses keeps what one large loss would hide") {
  LossByPosition losses(3);
  const EvaluationWindow window = evaluation_windows({3, 3, {}, {}})[0];
  losses.add(window, std::vector<double>{1e17, 1});
  losses.add(window, std::vector<double>{-1e17, 1});
  CHECK(losses.mean().mean == 0.5);
}
