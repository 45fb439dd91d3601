// What dividing N between query and key changes, as a user sees it.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

TEST_CASE("a power of two moved to the key changes no figure while the range lasts") {
  const CsvText table = table_of({"sweep", "context", "--context", "300", "--dtype", "float32",
                                  "--pipeline", "naive", "--split", "query,key=2^8,key=2^-5"});
  REQUIRE(table.records().size() == 3);
  CHECK(table.at(0, "pipeline") == "naive");
  CHECK(table.at(1, "pipeline") == "naive,split=key=2^8");
  CHECK(table.at(2, "pipeline") == "naive,split=key=2^-5");
  for (const char* column : {"N", "N_in_dtype", "N_status", "rounding_max_abs", "rounding_max_i",
                             "rounding_max_j", "rounding_rms", "rounding_bound", "order_lost"}) {
    INFO(column);
    CHECK(table.at(1, column) == table.at(0, column));
    CHECK(table.at(2, column) == table.at(0, column));
  }
}

TEST_CASE("float16 carries an N beyond its range when part of it moves to the key") {
  const CsvText table =
      table_of({"sweep", "phase", "--max-phase", "0.1", "--context", "4K", "--dtype", "float16",
                "--split", "query,even,key=2^4,key=2^20,key=2^-30"});
  REQUIRE(table.records().size() == 5);
  CHECK(table.at(0, "N_status") == "overflow");
  CHECK(table.at(0, "status") == "overflow");
  for (const std::size_t row : {std::size_t{1}, std::size_t{2}}) {
    CHECK(table.at(row, "N_status") == "rounded");
    CHECK(table.at(row, "nonfinite_pairs") == "0");
    CHECK(std::stod(table.at(row, "N_in_dtype")) ==
          Approx(std::stod(table.at(row, "N"))).epsilon(0x1p-10));
    CHECK(std::stod(table.at(row, "rounding_max_abs")) <=
          std::stod(table.at(row, "rounding_bound")));
  }
  CHECK(table.at(1, "pipeline") == "ideal-trig,split=even");
  // 2^20 overflows as a key part, 2^-30 vanishes.
  CHECK(table.at(3, "N_status") == "overflow");
  CHECK(table.at(4, "N_status") == "overflow");
}

TEST_CASE("condition measures what a split makes of N") {
  const CsvText table = table_of({"condition", "--context", "4K", "--dtype", "float64,float16",
                                  "--split", "query,even,key=2^7"});
  REQUIRE(table.records().size() == 6);
  // Two roundings instead of one, and a float64 product is not rounded again.
  CHECK(std::stod(table.at(1, "N_relative_error")) < 0x1p-52);
  CHECK(table.at(2, "N_relative_error") == table.at(0, "N_relative_error"));
  CHECK(table.at(2, "context_limit") == table.at(0, "context_limit"));
  CHECK(table.at(3, "N_relative_error") == "inf");
  CHECK(std::stod(table.at(4, "N_relative_error")) < 0x1p-10);
}

TEST_CASE("trace shows both parts of a split N") {
  const CsvText table = table_of({"trace", "--i", "9", "--j", "4", "--dtype", "float16",
                                  "--pipeline", "naive", "--split", "key=2^8"});
  std::string steps;
  for (std::size_t row = 0; row < table.records().size(); ++row)
    steps += table.at(row, "step") + " ";
  CHECK_THAT(steps, ContainsSubstring("query_part key_part query_first"));
  CHECK(table.at(15, "value") == "256");
}

TEST_CASE("a split that float64 cannot hold is refused") {
  const Outcome outcome = run({"condition", "--split", "key=2^-1022"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.error, ContainsSubstring("--split: 'key=2^-1022'"));
}
