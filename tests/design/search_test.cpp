// Searches: what they find where the answer is known, and what they refuse.
#include "ropelab/design/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "catch.hpp"
#include "ropelab/design/limit.hpp"
#include "ropelab/design/pair_designs.hpp"
#include "ropelab/design/polish.hpp"
#include "ropelab/design/powers_of_two.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

HeadTask task_of(const char* slope, std::size_t context, const char* pipeline, const char* dtype) {
  return alibi_task(parse_positive(slope), 64, context, context,
                    parse_pipeline(pipeline, find_format(dtype)));
}

double total_of(const std::vector<Found>& found) {
  REQUIRE(found.size() == 1);
  return found.front().errors.measurement.errors.total_maximum.value();
}

double searched(Method method, const HeadTask& task, int most_pairs = 1) {
  SearchOptions options;
  options.most_pairs = most_pairs;
  return total_of(DesignSearch(options).best({method}, {task}));
}

TEST_CASE("searches find what is exact where it is, and no more than that") {
  for (const auto& [dtype, context] : {std::pair{"float16", 2049}, std::pair{"bfloat16", 257}}) {
    INFO(dtype);
    const auto whole = static_cast<std::size_t>(context);
    for (const Method method : {Method::single, Method::dyadic, Method::rank_two}) {
      CHECK(searched(method, task_of("1/2", whole, "fused", dtype)) == 0);
    }
    CHECK(searched(Method::dyadic, task_of("1/2", whole + 1, "fused", dtype)) == 0.5);
    // Half of that, by a query part with other roundings than the key part.
    CHECK(searched(Method::single, task_of("1/2", whole + 1, "fused", dtype)) == 0.25);
    // Turned back to the middle, positions on both sides of it fit the significand.
    const std::size_t both_sides = 2 * whole - 1;
    CHECK(searched(Method::multi_pair, task_of("1/2", both_sides, "fused", dtype)) == 0);
    CHECK(searched(Method::multi_pair, task_of("1/2", both_sides + 1, "fused", dtype)) > 0);
  }
}

TEST_CASE("the key on its axis is within the limit of one pair, for every slope and format") {
  for (const char* slope : {"1/2", "2^(-1/2)", "1/3", "1/256"}) {
    for (const char* dtype : {"float16", "bfloat16"}) {
      for (const std::size_t context : std::vector<std::size_t>{258, 700}) {
        const HeadTask task = task_of(slope, context, "fused", dtype);
        const int precision = find_format(dtype).precision;
        const double limit =
            to_double(single_pair_limit(precision, static_cast<long long>(context))) *
            task.slope->to_double();
        INFO(slope << " " << dtype << " " << context);
        CHECK(searched(Method::single, task) >= limit);
        CHECK(searched(Method::dyadic, task) >= limit);
      }
    }
  }
}

TEST_CASE("more pairs fit a bias that fewer do not, and two searches find the same") {
  const HeadTask task = task_of("2^(-1/2)", 700, "ideal-trig", "float64");
  SearchOptions options;
  options.objective = Objective::truncation;
  options.most_pairs = 3;
  const auto once = DesignSearch(options).best({Method::multi_pair}, {task});
  const auto again = DesignSearch(options).best({Method::multi_pair}, {task});
  REQUIRE(once.size() == 1);
  CHECK(once.front().design.pairs == again.front().design.pairs);
  CHECK(once.front().errors.truncation.maximum < 1e-4);
}

TEST_CASE("dyadic: each further digit of N leaves less, down to the rounding") {
  const HeadTask task = task_of("2^(-1/2)", 300, "fused", "float32");
  double before = 1000;
  for (int digits = 1; digits <= 4; ++digits) {
    const double total = searched(Method::dyadic, task, digits);
    CHECK(total < before / 2);
    before = total;
  }
}

TEST_CASE("digits of N and a last pair with the rest of it leave less than one pair") {
  // In float32 a power of two times a position is exact, and only the rest of N is rounded.
  const HeadTask task = task_of("2^(-1/2)", 2049, "fused", "float32");
  const double one = searched(Method::multi_pair, task, 1);
  CHECK(searched(Method::multi_pair, task, 3) < one * 0.9);
}

TEST_CASE("while positions fit the storage, each pair carries as many bits of any slope") {
  for (const auto& [dtype, slopes] : std::map<const char*, std::vector<const char*>>{
           {"float16", {"2^(-1/2)"}}, {"bfloat16", {"2^(-1/2)", "1/3", "0.0271828"}}}) {
    for (const char* slope : slopes) {
      INFO(slope << " " << dtype);
      const int precision = find_format(dtype).precision;
      const std::size_t context = (std::size_t{1} << precision) + 1;
      const HeadTask task = task_of(slope, context, "fused", dtype);
      const double greatest = task.slope->to_double() * static_cast<double>(context);
      CHECK(searched(Method::single, task) <= std::ldexp(greatest, -precision));
      // The accumulation rounds each product and sum, to 24 bits.
      CHECK(searched(Method::multi_pair, task, 2) <=
            std::ldexp(greatest, -2 * precision) + std::ldexp(greatest, -22));
      const HeadTask twice = task_of(slope, 2 * context - 1, "fused", dtype);
      CHECK(searched(Method::multi_pair, twice, 1) <= std::ldexp(2 * greatest, -precision));
    }
  }
}

TEST_CASE("the best offset halves an error of one sign") {
  // 8/sqrt(2) to 11 bits takes 0.0006 too little away for each position.
  const HeadTask task = task_of("2^(-1/2)", 2049, "fused", "float16");
  const double step = 8 / std::sqrt(2.0);
  const double left = std::fabs(round_to(find_format("float16"), step) - step) * 2048 / 8;
  const auto found = DesignSearch(SearchOptions{}).best({Method::multi_pair}, {task});
  CHECK(std::fabs(total_of(found) / (left / 2) - 1) < 0.01);
  CHECK(found.front().design.offset != 0);
  // What is exact has none, nor has the key on its axis.
  const HeadTask half = task_of("1/2", 513, "fused", "float16");
  const Method any[] = {Method::single, Method::dyadic, Method::multi_pair};
  for (const Method method : any) {
    CHECK(DesignSearch(SearchOptions{}).best({method}, {half}).front().design.offset == 0);
  }
  const HeadTask root = task_of("2^(-1/2)", 300, "fused", "bfloat16");
  CHECK(DesignSearch(SearchOptions{}).best({Method::single}, {root}).front().design.offset == 0);
}

TEST_CASE("a position may be an odd number of units, of which a part rounds better") {
  // A third of 8/sqrt(2) to 11 bits, in which 3 * 512 still fits.
  const HeadTask task = task_of("2^(-1/2)", 1025, "fused", "float16");
  const double third = 8 / std::sqrt(2.0) / 3;
  const double left = std::fabs(round_to(find_format("float16"), third) - third) * 3 * 1024 / 8;
  CHECK(searched(Method::multi_pair, task) < left / 2 * 1.01);
}

TEST_CASE("copies spread over the spacing at the ends") {
  // In slopes of 1/2: of spacing 4 at 1024, one pair is off by up to 3 of them, two by 1.
  const HeadTask task = task_of("1/2", 2049, "fused", "bfloat16");
  CHECK(searched(Method::multi_pair, task, 1) <= 1.5);
  CHECK(searched(Method::multi_pair, task, 2) <= 0.5);
  // Near the middle, where spacings change, a little is left.
  CHECK(searched(Method::multi_pair, task, 4) < 0.02);
  // No tie: one position more than the significand holds is off by one slope and not by two.
  CHECK(searched(Method::multi_pair, task_of("1/2", 1025, "fused", "bfloat16")) == 0.5);
}

TEST_CASE("two copies are exact at 8193 positions in float16, for every power of two as slope") {
  for (const char* slope : {"1/2", "1/4", "1/8", "1/16", "1/32", "1/64", "1/128", "1/256"}) {
    INFO(slope);
    const HeadTask task = task_of(slope, 8193, "fused", "float16");
    const auto designs = shifted_copies(task, {1, 2, 1});
    CHECK(std::any_of(designs.begin(), designs.end(), [&](const HeadDesign& design) {
      // A sample passes over most of them.
      return rough_objective(task, design, Objective::total, {1 << 16, 1}, 0) == 0.0 &&
             measure(task, design).measurement.errors.total_maximum == 0.0;
    }));
  }
}

TEST_CASE("more pairs allowed are never worse") {
  const HeadTask task = task_of("2^(-1/2)", 385, "fused", "bfloat16");
  DesignSearch search(SearchOptions{});
  double before = 1e9;
  for (const int pairs : {1, 2, 3}) {
    search.allow_pairs(pairs);
    const double total = total_of(search.best({Method::multi_pair}, {task}));
    CHECK(total <= before);
    before = total;
  }
}

TEST_CASE("two copies that round differently carry one more bit of position") {
  const HeadTask half = task_of("1/2", 1025, "fused", "bfloat16");
  CHECK(searched(Method::multi_pair, half, 1) >= 0.5);
  CHECK(searched(Method::multi_pair, half, 2) == 0);
  const HeadTask root = task_of("2^(-1/2)", 1025, "fused", "bfloat16");
  CHECK(searched(Method::multi_pair, root, 3) < 0.01);
}

TEST_CASE("one pair on its axes fills the binades that it can") {
  // By hand, with query -19456 and key 19: 2.25 slopes.
  CHECK(searched(Method::single, task_of("1/2", 600, "fused", "bfloat16")) <= 1.125);
}

TEST_CASE("a grid of eight pairs does better than its slowest alone") {
  HeadTask task = task_of("1/2", 4096, "ideal-trig", "float32");
  SearchOptions options;
  for (int r = 0; r < 64; ++r) {
    options.grid.push_back(Algebraic::power(10000, -r, 64));
  }
  double before = 1e9;
  for (const int pairs : {1, 2, 4, 8}) {
    options.most_pairs = pairs;
    const double total = total_of(DesignSearch(options).best({Method::grid}, {task}));
    CHECK(total < before);
    before = total;
  }
  CHECK(before < 0.001);
}

TEST_CASE("in bfloat16, where rounding decides, more pairs of a grid are never worse") {
  const HeadTask task = task_of("2^(-1/2)", 512, "fused", "bfloat16");
  SearchOptions options;
  for (int r = 0; r < 32; ++r) options.grid.push_back(Algebraic::power(500000, -r, 32));
  double before = 1e9;
  for (const int pairs : {1, 2, 4, 8}) {
    options.most_pairs = pairs;
    const auto found = DesignSearch(options).best({Method::grid}, {task});
    CHECK(total_of(found) <= before);
    before = total_of(found);
  }
}

TEST_CASE("a grid too fast for the context is found wanting, and its limit says so") {
  const HeadTask task = task_of("1/2", 4096, "ideal-trig", "float32");
  SearchOptions options;
  options.most_pairs = 2;
  options.grid = {parse_positive("1"), parse_positive("1/10")};
  DesignSearch search(options);
  const double total = total_of(search.best({Method::grid}, {task}));
  CHECK(total > 500);
  CHECK(search.grid_limit(task) <= total);
  CHECK(search.grid_limit(task) > 500);
  // In proportion to the slope.
  const HeadTask gentle = task_of("1/32", 4096, "ideal-trig", "float32");
  CHECK(search.grid_limit(gentle) * 16 == search.grid_limit(task));
}

double measured(const HeadTask& task, const HeadDesign& design) {
  return objective_of(measure(task, design), Objective::total).value();
}

TEST_CASE("polishing makes no design worse, and the best of a search better") {
  // Three pairs of eight bits: it is by their roundings that designs differ.
  const HeadTask task = task_of("2^(-1/2)", 1025, "fused", "bfloat16");
  HeadDesign best;
  double before = 1000;
  for (HeadDesign design : shifted_copies(task, {2, 2, 1})) {
    design = with_best_offset(task, std::move(design), Objective::total);
    const double value = measured(task, design);
    if (value >= before) continue;
    before = value;
    best = std::move(design);
  }
  CHECK(before < 0.001);
  const auto polished = [&](int trials, double products) {
    Polish polish(task, best, Objective::total, 1, {});
    polish.run(trials, products);
    // What it says of itself is what is measured.
    CHECK(polish.value() == Approx(measured(task, polish.design())).epsilon(1e-9));
    return polish;
  };
  CHECK(polished(0, 1e10).value() <= before * (1 + 1e-12));
  CHECK(polished(1000, 0).design().pairs == best.pairs);
  const Polish once = polished(1000, 1e10);
  CHECK(once.value() < 0.9 * before);
  CHECK(once.design().pairs == polished(1000, 1e10).design().pairs);
}

TEST_CASE("polishing keeps parts on their axes") {
  const HeadTask task = task_of("1/3", 300, "fused", "bfloat16");
  HeadDesign design{.method = Method::single};
  design.pairs = {{parse_positive("1/1000"), {-2100, 0}, {0, 1.25}}};
  Polish single(task, design, Objective::total, 1, {});
  const double of_single = single.value();
  single.run(500, 1e9);
  CHECK(single.value() < of_single);
  CHECK(single.design().pairs[0].query[1] == 0);
  CHECK(single.design().pairs[0].key[0] == 0);
  CHECK(single.design().offset == 0);
  CHECK(single.value() == Approx(measured(task, single.design())).epsilon(1e-9));
}

TEST_CASE("polishing keeps the frequencies of a grid, and makes a search among them better") {
  const HeadTask task = task_of("2^(-1/2)", 2048, "fused", "bfloat16");
  SearchOptions options;
  for (int r = 0; r < 64; ++r) options.grid.push_back(Algebraic::power(10000, -r, 64));
  const auto found = DesignSearch(options).best({Method::grid}, {task});
  // 8.5 logits with two pairs was all that the fits alone find.
  CHECK(total_of(found) < 7);
  const RotatedPair& pair = found.front().design.pairs.front();
  CHECK(std::find(options.grid.begin(), options.grid.end(), pair.theta) != options.grid.end());
  for (const double component : {pair.query[0], pair.query[1], pair.key[0], pair.key[1]}) {
    CHECK(component == static_cast<float>(component));
  }
}

TEST_CASE("only pairs whose scores come by the row can be polished") {
  const HeadTask task = task_of("1/3", 300, "fused", "bfloat16");
  CHECK(may_be_polished(task, Method::multi_pair, Objective::visible));
  CHECK(!may_be_polished(task, Method::dyadic, Objective::total));
  CHECK(may_be_polished(task, Method::grid, Objective::total));
  CHECK(!may_be_polished(task, Method::native, Objective::total));
  CHECK(!may_be_polished(task, Method::multi_pair, Objective::weights));
  CHECK(!may_be_polished(task_of("1/3", 300, "exact", "float32"), Method::multi_pair,
                         Objective::total));
  CHECK(!may_be_polished(task_of("1/3", 20000, "fused", "float32"), Method::multi_pair,
                         Objective::total));
}

TEST_CASE("slopes a power of two apart have one design but for that power") {
  SearchOptions options;
  options.most_pairs = 2;
  for (const char* dtype : {"float16", "bfloat16", "float32"}) {
    DesignSearch search(options);
    INFO(dtype);
    const HeadTask first = task_of("2^(-1/2)", 700, "fused", dtype);
    const HeadTask third = task_of("2^(-5/2)", 700, "fused", dtype);
    const auto found = search.best({Method::multi_pair}, {first});
    const auto scaled = search.best({Method::multi_pair}, {third});
    CHECK(4 * total_of(scaled) == total_of(found));
    // What it would have found by itself is no better.
    CHECK(total_of(DesignSearch(options).best({Method::multi_pair}, {third})) >=
          total_of(scaled) * (1 - 1e-12));
    CHECK(4 * scaled.front().design.offset == found.front().design.offset);
  }
}

TEST_CASE("which slopes are a power of two apart") {
  const auto between = [](const HeadTask& a, const HeadTask& b) {
    return power_of_two_between({a}, {b});
  };
  const HeadTask task = task_of("2^(-1/2)", 300, "fused", "float16");
  CHECK(between(task, task) == 0);
  CHECK(between(task, task_of("2^(-9/2)", 300, "fused", "float16")) == -4);
  CHECK(between(task, task_of("2^(3/2)", 300, "fused", "float16")) == 2);
  CHECK(!between(task, task_of("1/2", 300, "fused", "float16")));
  CHECK(!between(task, task_of("2^(-3/2)", 301, "fused", "float16")));
  CHECK(!between(task, task_of("2^(-3/2)", 300, "fused", "bfloat16")));
  // A sum in float16 may overflow for one slope and not for the other.
  CHECK(!between(task_of("1", 300, "naive", "float16"), task_of("1/2", 300, "naive", "float16")));
  CHECK(!between(task_of("1", 300, "fused", "float8_e4m3fn"),
                 task_of("1/2", 300, "fused", "float8_e4m3fn")));
  // All heads of a group.
  CHECK(power_of_two_between({task, task_of("1/3", 300, "fused", "float16")},
                             {task_of("2^(-3/2)", 300, "fused", "float16"),
                              task_of("1/6", 300, "fused", "float16")}) == -1);
  CHECK(!power_of_two_between(
      {task, task_of("1/3", 300, "fused", "float16")},
      {task_of("2^(-3/2)", 300, "fused", "float16"), task_of("1/12", 300, "fused", "float16")}));
}

TEST_CASE("a design times a power of two takes that many times as much away") {
  const HeadTask task = task_of("1/3", 300, "fused", "float32");
  HeadDesign design{.method = Method::multi_pair};
  design.pairs = {{parse_positive("1/1000"), {-2100, 1}, {0.25, 1.25}}};
  design.offset = 0.75;
  for (const int exponent : {-3, -1, 0, 1, 4}) {
    const HeadDesign scaled = for_slopes_times(design, exponent);
    HeadTask other = task;
    other.slope = *task.slope * Algebraic::power(2, exponent, 1);
    other.bias = linear_bias(*other.slope);
    CHECK(measured(other, scaled) == std::ldexp(measured(task, design), exponent));
  }
}

TEST_CASE("heads of a group share frequencies and key parts") {
  std::vector<HeadTask> group;
  for (const char* slope : {"2^(-1/2)", "1/2", "2^(-3/2)"}) {
    group.push_back(task_of(slope, 1000, "fused", "float32"));
  }
  SearchOptions options;
  options.most_pairs = 2;
  for (const Method method : {Method::single, Method::dyadic, Method::multi_pair}) {
    const auto found = DesignSearch(options).best({method}, group);
    REQUIRE(found.size() == 3);
    for (const Found& head : found) {
      REQUIRE(head.design.pairs.size() == found.front().design.pairs.size());
      for (std::size_t k = 0; k < head.design.pairs.size(); ++k) {
        CHECK(head.design.pairs[k].theta == found.front().design.pairs[k].theta);
        CHECK(head.design.pairs[k].key == found.front().design.pairs[k].key);
      }
      if (method != Method::dyadic) CHECK(head.errors.measurement.errors.total_maximum < 0.01);
    }
  }
}

TEST_CASE("a window lets theta follow it") {
  HeadTask task = task_of("2^(-1/2)", 20000, "ideal-trig", "bfloat16");
  const double whole = searched(Method::single, task);
  task = alibi_task(*task.slope, 64, 20000, 256, task.pipeline);
  const double sliding = searched(Method::single, task);
  // Rounding is of positions, which go on; of distances only the truncation is.
  CHECK(sliding < whole);
}

TEST_CASE("searches refuse what has no meaning") {
  HeadTask task = task_of("1/2", 100, "fused", "float32");
  DesignSearch search{SearchOptions{}};
  CHECK_THROWS_AS(search.best({Method::single}, {}), std::invalid_argument);
  CHECK_THROWS_AS(search.best({Method::grid}, {task}), std::invalid_argument);
  CHECK_THROWS_AS(search.best({Method::rank_two}, {task, task}), std::invalid_argument);
  task.slope.reset();
  CHECK_THROWS_AS(search.best({Method::single}, {task}), std::invalid_argument);
}

TEST_CASE("what truncates least but overflows is passed over") {
  SearchOptions options;
  options.objective = Objective::truncation;
  CHECK(!DesignSearch(options)
             .best({Method::single}, {task_of("2^(-1/2)", 300, "ideal-trig", "float16")})
             .empty());
}

TEST_CASE("what overflows is no design") {
  CHECK(DesignSearch{SearchOptions{}}
            .best({Method::single}, {task_of("2^(-1/2)", 65536, "naive", "float16")})
            .empty());
}

}  // namespace
}  // namespace ropelab
