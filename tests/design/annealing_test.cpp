// Annealing, and the errors that it goes by.
#include "ropelab/design/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <tbb/global_control.h>

#include "catch.hpp"
#include "design/slow_grid.hpp"
#include "ropelab/design/equal_shares.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/steady_errors.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

HeadTask anneal_task(const char* slope, std::size_t context, const char* dtype,
                     const char* pipeline = "fused") {
  return alibi_task(parse_positive(slope), 64, context, context,
                    parse_pipeline(pipeline, find_format(dtype)));
}

double largest_of(const HeadTask& task, HeadDesign design) {
  design = with_best_offset(task, std::move(design), Objective::total);
  return objective_of(measure(task, design), Objective::total).value();
}

// As SteadyErrors tells it, in logits.
double told(const HeadTask& task, const HeadDesign& design) {
  const double origin = origin_of(task, design.method);
  SteadyPairs pairs;
  for (const RotatedPair& pair : design.pairs) {
    REQUIRE(is_slow(task, pair.theta.to_double(), origin));
    pairs.push_back(steady_pair(pair, origin));
  }
  const bool is_free = may_have_offset(task, design.method, Objective::total);
  return SteadyErrors(task, pairs, origin, is_free).value() / 8;
}

TEST_CASE("errors told by sides are those that are measured") {
  // A rotation in float32 is off by what decides ties.
  const HeadTask task = anneal_task(
      "2^(-1/2)", 700, "bfloat16",
      "fused,position=float64,phase=float64,trig=float64,table=float64,rotation=float64");
  // Nothing in these is near a tie.
  std::vector<HeadDesign> designs;
  for (const double phase : {1e-4, 0.013, 0.11, 0.23}) {
    // Beyond the first, large components change, up to several times.
    for (std::size_t count = 1; count <= 3; ++count) {
      HeadDesign design{.method = Method::multi_pair};
      std::vector<double> shifts;
      for (std::size_t n = 0; n < count; ++n) {
        const double place = static_cast<double>(n), theta = phase / 700 * (1 - 0.0917 * place);
        const double amplitude = 8 / std::sqrt(2.0) / static_cast<double>(count) / theta;
        const double key = 61.37 + 11.9 * place;
        design.pairs.push_back({Algebraic(to_rational(theta)), {-amplitude / key, 0}, {0, key}});
        shifts.push_back(0.137 - 1.719 * place);
      }
      designs.push_back(centred(task, design, shifts));
      if (count > 1) continue;
      design.method = Method::single;
      designs.push_back(design);
    }
  }
  for (const HeadDesign& design : designs) {
    // To what float32 rounds of sums.
    CHECK(told(task, design) == Approx(largest_of(task, design)).margin(700 * 0.71 * 1e-6));
  }
}

TEST_CASE("nothing is told of pairs whose large components change too often") {
  const HeadTask task = anneal_task("2^(-1/2)", 700, "bfloat16");
  HeadDesign design{.method = Method::single};
  design.pairs = {{parse_positive("1/1500"), {-100, 0}, {0, 85}}};
  CHECK(std::isinf(told(task, design)));
}

TEST_CASE("others are taken as long as they are good enough, and told as if they were new") {
  const HeadTask task = anneal_task("1/2", 600, "bfloat16");
  const bool is_free = GENERATE(true, false);
  auto designs = shifted_copies(task, {1, 2, 1});
  for (HeadDesign& design : designs) design.pairs.resize(1);
  if (!is_free) designs = faster_singles(task);
  const auto pairs_of = [&](const HeadDesign& design) {
    SteadyPairs pairs;
    for (const RotatedPair& pair : design.pairs) {
      pairs.push_back(steady_pair(pair, origin_of(task, design.method)));
    }
    return pairs;
  };
  const double origin = origin_of(task, designs.front().method);
  SteadyErrors errors(task, pairs_of(designs.front()), origin, is_free);
  int taken = 0, refused = 0;
  for (const HeadDesign& design : designs) {
    const SteadyPairs before = errors.pairs();
    const double value = errors.value();
    const double itself = SteadyErrors(task, pairs_of(design), origin, is_free).value();
    if (errors.take(pairs_of(design), value)) {
      CHECK(itself <= value);
      CHECK(errors.value() == itself);
      ++taken;
    } else {
      CHECK(itself > value);
      CHECK(errors.pairs() == before);
      CHECK(errors.value() == value);
      ++refused;
    }
  }
  CHECK(taken > 1);
  CHECK(refused > 1);
}

TEST_CASE("a pair is the same after it was turned to the origin and back") {
  const HeadTask task = anneal_task("1/2", 1000, "bfloat16");
  const RotatedPair pair{parse_positive("1/4096"), {-100, 3}, {2, 500}};
  const auto again = rotated_pair(task, steady_pair(pair, 500), 500, pair.theta);
  for (const std::size_t n : {0U, 1U}) {
    CHECK(again.query[n] == Approx(pair.query[n]).margin(1e-5));
    CHECK(again.key[n] == Approx(pair.key[n]).margin(1e-5));
  }
  CHECK(is_slow(task, 1.0 / 1001, 500));
  CHECK(!is_slow(task, 1.0 / 999, 500));
}

TEST_CASE("annealed designs of a grid are better, and of the grid") {
  const HeadTask task = anneal_task("2^(-1/2)", 1024, "bfloat16");
  const Frequencies grid = slowest_first(slow_grid());
  std::vector<HeadDesign> starts;
  double before = 1e9;
  for (const auto& set : equal_shares(task, grid, 2)) {
    starts.push_back(set.front());
    before = std::min(before, largest_of(task, set.front()));
  }
  const auto designs = annealed(task, starts, Objective::total, grid, 1);
  REQUIRE(designs.size() >= 1);
  CHECK(designs.size() <= 2);
  CHECK(largest_of(task, designs[0]) < 0.9 * before);
  for (const HeadDesign& design : designs) {
    for (const RotatedPair& pair : design.pairs) {
      CHECK(std::count_if(grid.begin(), grid.end(), [&](const Frequency& frequency) {
              return frequency.exact == pair.theta;
            }) == 1);
    }
    CHECK(!(design.pairs[0].theta == design.pairs[1].theta));
  }
  tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  CHECK(annealed(task, starts, Objective::total, grid, 1)[0].pairs == designs[0].pairs);
}

TEST_CASE("annealing leaves single on its axes") {
  const HeadTask task = anneal_task("2^(-1/2)", 258, "bfloat16");
  const auto starts = faster_singles(task);
  REQUIRE(!starts.empty());
  const auto designs = annealed(task, starts, Objective::total, {}, 1);
  REQUIRE(!designs.empty());
  for (const HeadDesign& design : designs) {
    CHECK(design.pairs[0].query[1] == 0);
    CHECK(design.pairs[0].key[0] == 0);
    CHECK(!std::signbit(design.pairs[0].key[0]));
  }
  double before = 1e9;
  for (const HeadDesign& start : starts) before = std::min(before, largest_of(task, start));
  CHECK(largest_of(task, designs[0]) < 0.9 * before);
  CHECK(largest_of(task, designs[0]) < 0.3);
}

TEST_CASE("what cannot be annealed is left out") {
  const auto starts_of = [](const HeadTask& task) {
    return std::vector<HeadDesign>{centred(task, single_designs(task).back())};
  };
  const HeadTask good = anneal_task("1/2", 300, "bfloat16");
  std::vector<HeadDesign> multi_pair = starts_of(good);
  multi_pair[0].method = Method::multi_pair;
  CHECK(annealed(good, multi_pair, Objective::total, {}, 1).size() == 1);
  CHECK(annealed(good, {}, Objective::total, {}, 1).empty());
  CHECK(annealed(good, multi_pair, Objective::weights, {}, 1).empty());
  CHECK(annealed(anneal_task("1/2", 300, "float32"), multi_pair, Objective::total, {}, 1).empty());
  // Sums, or angles, of as few bits as the storage.
  for (const char* pipeline : {"fused,accumulation=bfloat16", "fused,phase=bfloat16"}) {
    const HeadTask task = anneal_task("1/2", 300, "bfloat16", pipeline);
    CHECK(annealed(task, multi_pair, Objective::total, {}, 1).empty());
  }
  CHECK(
      annealed(good, {HeadDesign{.method = Method::multi_pair}}, Objective::total, {}, 1).empty());
  HeadTask window = good;
  window.window = 100;
  CHECK(annealed(window, multi_pair, Objective::total, {}, 1).empty());
  // Fast pairs.
  multi_pair[0].pairs[0].theta = parse_positive("1/100");
  CHECK(annealed(good, multi_pair, Objective::total, {}, 1).empty());
}

}  // namespace
}  // namespace ropelab
