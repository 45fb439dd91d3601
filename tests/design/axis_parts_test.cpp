// A pair on its axes beyond the positions that a format holds.
#include "ropelab/design/axis_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab {
namespace {

// The largest error of all causal scores, positions, pair by pair, the large components staying as
// the format rounds them.
double error_of(const AxisParts& parts, std::size_t context, double step, const Format& format) {
  const double query = round_to(format, parts.query), key = round_to(format, parts.key);
  const double theta = step * parts.step / (parts.query * parts.key);
  std::vector<double> of_query(context), of_key(context);
  for (std::size_t p = 0; p < context; ++p) {
    const double angle = static_cast<double>(p) * theta;
    of_query[p] = key * round_to(format, parts.query * angle);
    of_key[p] = query * round_to(format, parts.key * angle);
  }
  double error = 0;
  for (std::size_t i = 0; i < context; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double lost = (of_query[i] - of_key[j]) / step;
      error = std::max(error, std::fabs(lost - static_cast<double>(i - j)));
    }
  }
  return error;
}

TEST_CASE("the errors of parts on the axes are those of all their scores") {
  for (const auto& [context, step] : std::vector<std::pair<std::size_t, double>>{
           {258, 1}, {258, 1.4}, {260, 4}, {300, 0.7}, {515, 1.4}, {1024, 1}}) {
    INFO(context << " " << step);
    const auto best = best_axis_parts(context, step, 8);
    REQUIRE(best.size() == 12);
    double before = 0;
    for (const AxisParts& parts : best) {
      CHECK(parts.error >= before);
      before = parts.error;
      CHECK(error_of(parts, context, step, find_format("bfloat16")) ==
            Approx(parts.error).epsilon(1e-9));
    }
  }
}

TEST_CASE("one position beyond those that a format holds costs half a position") {
  CHECK(best_axis_parts(258, 1, 8).front().error == 0.5);
  CHECK(best_axis_parts(2050, 1, 11).front().error == 0.5);
}

TEST_CASE("parts on the axes are looked for where they may matter, and can be afforded") {
  CHECK(best_axis_parts(257, 1, 8).empty());
  CHECK(!best_axis_parts(258, 1, 8).empty());
  CHECK(!best_axis_parts(2048, 1, 8).empty());
  CHECK(best_axis_parts(2049, 1, 8).empty());
  CHECK(best_axis_parts(5000, 1, 12).empty());
}

}  // namespace
}  // namespace ropelab
