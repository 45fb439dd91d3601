// --content as a user meets it; that profile and limits agree with sweep is in their tests.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

Outcome sweep_with(std::vector<std::string> more) {
  std::vector<std::string> arguments{"sweep",       "phase", "--context", "200",
                                     "--max-phase", "0.1",   "--dtype",   "float32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

double content_number(const CsvText& table, std::size_t record, const char* column) {
  return std::stod(table.at(record, column));
}

void check_content_refused(const std::vector<std::string>& options, const std::string& sentence) {
  const Outcome outcome = sweep_with(options);
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.error == "ropelab: " + sentence + "\n");
}

}  // namespace

TEST_CASE("sweep --content takes a list and names each in the pipeline cell") {
  const CsvText table = table_of(sweep_with({"--content", "none,random:1,random:2:halves"}));
  REQUIRE(table.records().size() == 3);
  CHECK(table.at(0, "pipeline") == "ideal-trig");
  CHECK(table.at(1, "pipeline") == "ideal-trig,content=random:1:last");
  CHECK(table.at(2, "pipeline") == "ideal-trig,content=random:2:halves");
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(content_number(table, n, "rounding_max_abs") <=
          content_number(table, n, "rounding_bound"));
    CHECK(table.at(n, "pairs") == "20100");
  }
  CHECK(table.at(0, "truncation_max_abs") == table.at(2, "truncation_max_abs"));
  CHECK(content_number(table, 1, "rounding_bound") > content_number(table, 0, "rounding_bound"));
  CHECK(content_number(table, 0, "order_lost") == 0);
  CHECK(content_number(table, 1, "order_lost") > 0.1);  // content decides, not position
}

TEST_CASE("a sample among content stands for all its pairs") {
  const CsvText all = table_of(sweep_with({"--content", "random:1:halves"}));
  const CsvText sample =
      table_of(sweep_with({"--content", "random:1:halves", "--pairs", "sample:8000"}));
  CHECK(sample.at(0, "pairs") == "8000");
  CHECK(content_number(sample, 0, "rounding_max_abs") <=
        content_number(all, 0, "rounding_max_abs"));
  CHECK(content_number(sample, 0, "rounding_rms") ==
        Approx(content_number(all, 0, "rounding_rms")).epsilon(0.05));
  CHECK(sample.at(0, "weights_tv_computed") == all.at(0, "weights_tv_computed"));
}

TEST_CASE("content that cannot be meant is refused in one sentence") {
  check_content_refused(
      {"--content", "gaussian"},
      "--content: 'gaussian' is neither none nor random:SEED:PLACE, as in random:1:last");
  check_content_refused(
      {"--content", "random:1:middle"},
      "--content: 'random:1:middle': 'middle' is no place of the pair; write first, last "
      "or halves");
  check_content_refused(
      {"--content", "random:1:halves", "--head-dim", "64,5"},
      "--content: 'random:1:halves' has no halves in a head-dim of 5; an even head-dim, "
      "first or last would be right");
  CHECK(run({"condition", "--content", "random:1"}).status == 2);
}
