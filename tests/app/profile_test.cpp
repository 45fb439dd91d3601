// ropelab profile, as a user runs it.
#include <algorithm>
#include <cmath>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

CsvText profile_table(const std::string& line) {
  CAPTURE(line);
  return table_of(run_shell("ropelab " + line));
}

double profile_number(const CsvText& table, std::size_t row, const std::string& column) {
  return std::stod(table.at(row, column));
}

// The largest number of a column, whose cells may be empty.
double largest(const CsvText& table, const std::string& column) {
  double most = -1;
  for (std::size_t n = 0; n < table.records().size(); ++n) {
    if (!table.at(n, column).empty()) most = std::max(most, profile_number(table, n, column));
  }
  return most;
}

double sum(const CsvText& table, const std::string& column) {
  double all = 0;
  for (std::size_t n = 0; n < table.records().size(); ++n) all += profile_number(table, n, column);
  return all;
}

// The rms over all pairs from those of the rows.
double combined_rms(const CsvText& table, const std::string& column) {
  double squares = 0;
  for (std::size_t n = 0; n < table.records().size(); ++n) {
    squares += std::pow(profile_number(table, n, column), 2) * profile_number(table, n, "pairs");
  }
  return std::sqrt(squares / sum(table, "pairs"));
}

void check_rows_combine(const std::string& content) {
  CAPTURE(content);
  const std::string options =
      " --context 300 --head 8 --dtype bfloat16 --pipeline fused --content " + content;
  const CsvText profile = profile_table("profile" + options);
  const CsvText sweep = profile_table("sweep phase --max-phase 0.1" + options);
  REQUIRE(profile.records().size() == 10);
  for (const char* column : {"truncation_max_abs", "truncation_max_rel", "rounding_max_abs",
                             "total_max_abs", "visible_max_abs"}) {
    CAPTURE(column);
    CHECK(largest(profile, column) == profile_number(sweep, 0, column));
  }
  for (const char* column : {"truncation_rms", "rounding_rms", "total_rms"}) {
    CAPTURE(column);
    CHECK(combined_rms(profile, column) == Approx(profile_number(sweep, 0, column)).epsilon(1e-12));
  }
  CHECK(sum(profile, "pairs") == profile_number(sweep, 0, "pairs"));
  double lost = 0, neighbours = 0;
  for (std::size_t n = 1; n < profile.records().size(); ++n) {
    lost += profile_number(profile, n, "order_lost") * profile_number(profile, n, "pairs");
    neighbours += profile_number(profile, n, "pairs");
  }
  CHECK(lost / neighbours == Approx(profile_number(sweep, 0, "order_lost")).epsilon(1e-12));
  for (const char* column : {"context", "max_phase", "theta", "base", "heads", "head", "slope",
                             "head_dim", "dtype", "pipeline"}) {
    CAPTURE(column);
    CHECK(profile.at(9, column) == sweep.at(0, column));
  }
}

}  // namespace

TEST_CASE("the rows of a profile combine to the row of the sweep") { check_rows_combine("none"); }

TEST_CASE("the rows of a profile among content combine to the row of the sweep") {
  check_rows_combine("random:3:halves");
}

TEST_CASE("the distances of a profile are doubled, setting by setting") {
  const CsvText table = profile_table("profile --context 1,5 --dtype float16,float32");
  const std::vector<std::pair<std::string, std::string>> distances{
      {"0", "0"}, {"0", "0"}, {"0", "0"}, {"1", "1"}, {"2", "3"},
      {"4", "4"}, {"0", "0"}, {"1", "1"}, {"2", "3"}, {"4", "4"}};
  REQUIRE(table.records().size() == distances.size());
  for (std::size_t n = 0; n < distances.size(); ++n) {
    CHECK(table.at(n, "d_first") == distances[n].first);
    CHECK(table.at(n, "d_last") == distances[n].second);
  }
  CHECK(table.at(9, "dtype") == "float32");
  CHECK(table.at(9, "context") == "5");
}

TEST_CASE("pairs that are not finite are counted and have no errors") {
  const CsvText table = profile_table("profile --context 64K --dtype float16 --pairs sample:1000");
  CHECK(table.at(5, "nonfinite_pairs") == table.at(5, "pairs"));
  CHECK(table.at(5, "rounding_max_abs").empty());
  CHECK(table.at(5, "truncation_max_abs") != "");
}

TEST_CASE("a sample is announced, and says nothing of distances that it misses") {
  const Outcome outcome =
      run_shell("ropelab profile --context 4K --dtype float32 --pairs sample:3");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.error, ContainsSubstring("a sample of 3 pairs (seed 1)"));
  const CsvText table(outcome.output);
  CHECK(table.at(0, "pairs") == "2");
  CHECK(table.at(5, "pairs") == "0");
  CHECK(table.at(5, "rounding_rms").empty());
  CHECK(table.at(5, "order_lost").empty());
}

TEST_CASE("bad input to profile is one sentence") {
  for (const auto& [line, part] : std::vector<std::pair<std::string, std::string>>{
           {"profile --context 0", "--context: '0'"},
           {"profile --pairs some", "--pairs: 'some'"},
           {"profile --context 2048M", "--context: '2147483648'"},
           {"profile --tolerance 1", "'--tolerance' is not an option of 'ropelab profile'"}}) {
    const Outcome outcome = run_shell("ropelab " + line);
    CAPTURE(line, outcome.error);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    CHECK_THAT(outcome.error, ContainsSubstring(part));
  }
}
