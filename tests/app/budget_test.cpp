// --budget as a user sees it.
#include <map>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

TEST_CASE("a budget has the whole, each step alone and all but it") {
  const CsvText table =
      table_of({"sweep", "context", "--context", "100", "--dtype", "float16", "--pipeline",
                "fused,phase=exact", "--split", "key=2^3", "--budget"});
  REQUIRE(table.records().size() == 19);
  CHECK(table.columns()[34] == "budget_step");
  CHECK(table.at(0, "budget_rounded") == "all");
  CHECK(table.at(0, "pipeline") == "fused,phase=exact,split=key=2^3");
  CHECK(table.at(5, "budget_step") == "phase");
  CHECK(table.at(5, "budget_rounded") == "only");
  CHECK(table.at(5, "pipeline") == "exact,split=key=2^3");
  CHECK(table.at(5, "rounding_max_abs") == "0");
  CHECK(table.at(6, "budget_rounded") == "all-but");
  CHECK(table.at(6, "rounding_max_abs") == table.at(0, "rounding_max_abs"));
  CHECK(table.at(13, "pipeline") == "exact,storage=float16,split=key=2^3");
  CHECK(table.at(14, "pipeline") == "fused,phase=exact,storage=exact,split=key=2^3");
}

TEST_CASE("each row of a budget is the row of its pipeline") {
  const std::vector<std::string> common{"sweep",   "context",  "--context",  "70",
                                        "--dtype", "bfloat16", "--saturate", "--pipeline"};
  auto budget_line = common, plain_line = common;
  budget_line.insert(budget_line.end(), {"naive,storage=float8_e5m2", "--budget"});
  plain_line.push_back("exact,trig=bfloat16,exact,storage=float8_e5m2,naive,storage=exact");
  const CsvText budget = table_of(budget_line), plain = table_of(plain_line);
  const std::map<std::size_t, std::size_t> plain_rows{{7, 0}, {13, 1}, {14, 2}};
  for (const auto& [row, named] : plain_rows) {
    for (const std::string& column : plain.columns()) {
      INFO(row << " " << column);
      CHECK(budget.at(row, column) == plain.at(named, column));
    }
  }
  CHECK(budget.at(13, "pipeline") == "exact,storage=float8_e5m2,saturate");
}

TEST_CASE("a budget beyond context 4096 is sampled, and says so") {
  const std::vector<std::string> line{"sweep",   "context", "--context",  "5000",    "--dtype",
                                      "float32", "--pairs", "sample:500", "--budget"};
  CHECK_THAT(run(line).error, ContainsSubstring("a sample of 500 pairs"));
  const Outcome outcome = run({"sweep", "context", "--context", "4097", "--dtype", "float64",
                               "--pipeline", "exact", "--budget"});
  CHECK_THAT(outcome.error, ContainsSubstring("context 4097: a sample of 1048576 pairs"));
}

TEST_CASE("trace tells what each step does to one pair") {
  const std::vector<std::string> line{"trace",   "--i",     "1000",       "--j",   "900",
                                      "--dtype", "float32", "--pipeline", "fused", "--budget"};
  const CsvText table = table_of(line);
  REQUIRE(table.records().size() == 10);
  CHECK(table.at(0, "step") == "all");
  CHECK(table.at(0, "all_but_error") == "0");
  const CsvText whole =
      table_of({"trace", "--i", "1000", "--j", "900", "--dtype", "float32", "--pipeline", "fused"});
  const std::size_t error_row = whole.records().size() - 2;
  REQUIRE(whole.at(error_row, "step") == "rounding_error");
  CHECK(table.at(0, "only_error") == whole.at(error_row, "exact"));
  CHECK(table.at(1, "step") == "position");
  CHECK(table.at(1, "only_error") == "0");
  CHECK(table.at(1, "all_but_error") == table.at(0, "only_error"));
  CHECK(std::stod(table.at(2, "only_error")) != 0);
  CHECK(table.at(6, "format") == "float32");
}

TEST_CASE("a pair whose F is not finite has no error, and one position has no budget") {
  const CsvText table =
      table_of({"trace", "--i", "9", "--j", "4", "--dtype", "float16", "--budget"});
  CHECK(table.at(0, "only_error").empty());
  REQUIRE(table.at(6, "step") == "rotation");
  CHECK(table.at(6, "only_error").empty());
  CHECK(table.at(6, "all_but_error").empty());  // storage overflows, too
  CHECK(!table.at(4, "only_error").empty());
  CHECK(run({"trace", "--position", "9", "--budget"}).status == 2);
}
