// Copies of a pair that round positions differently.
#include "ropelab/design/places.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

HeadTask half_task(std::size_t context, const char* dtype) {
  return alibi_task(parse_positive("1/2"), 64, context, context,
                    parse_pipeline("fused", find_format(dtype)));
}

// What the copies make of a position, counted from the middle, on average.
double mean_of(const Places& places, double position, const Format& format) {
  double sum = 0;
  for (const Place& place : places)
    sum += round_to(format, (position - place.shift) * place.stretch);
  return sum / static_cast<double>(places.size());
}

double largest_error(const Places& places, double least, double greatest, const Format& format) {
  double largest = 0;
  for (double position = least; position <= greatest; ++position) {
    for (const double x : {position, -position}) {
      largest = std::max(largest, std::fabs(mean_of(places, x, format) - x));
    }
  }
  return largest;
}

// Of the best of these.
double least_error(const std::vector<Places>& all, double least, double greatest,
                   const Format& format) {
  double smallest = 1;
  for (const Places& places : all) {
    smallest = std::min(smallest, largest_error(places, least, greatest, format));
  }
  return smallest;
}

TEST_CASE("copies stand in the middle as long as the storage holds positions") {
  const auto all = places_of(half_task(513, "bfloat16"), 3);
  REQUIRE(all.size() == 1);
  for (const Places& places : all) {
    REQUIRE(places.size() == 3);
    for (const Place& place : places) {
      CHECK(place.shift == 0);
      CHECK(place.stretch == 1);
    }
  }
}

TEST_CASE("two copies carry a bit more than the storage, and four of them two") {
  struct Case {
    const char* dtype;
    int copies;
    double reach;
  };
  for (const auto& [dtype, copies, reach] : {Case{"bfloat16", 2, 512}, Case{"bfloat16", 4, 1024},
                                             Case{"float16", 2, 4096}, Case{"float16", 4, 8192}}) {
    INFO(dtype << ' ' << copies);
    const Format& format = find_format(dtype);
    const auto all = places_of(half_task(static_cast<std::size_t>(2 * reach), dtype), copies);
    CHECK(least_error(all, reach / 8 + 2, reach, format) == 0);
    CHECK(least_error(all, 0, reach, format) <= 0.125);
    // One copy is off by more.
    CHECK(largest_error({{0.25}}, reach / 2, reach, format) >= copies / 2.0);
  }
}

}  // namespace
}  // namespace ropelab
