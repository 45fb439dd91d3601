// ropelab round, as a user runs it.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

TEST_CASE("round knows the spacing beyond the largest number") {
  const auto ulps_of = [](const std::string& arguments) {
    const Outcome outcome = run_shell("ropelab round " + arguments);
    REQUIRE(outcome.status == 0);
    const ropelab::CsvText table(outcome.output);
    std::vector<std::string> ulps;
    for (std::size_t n = 0; n < table.records().size(); ++n) ulps.push_back(table.at(n, "ulp"));
    return ulps;
  };
  using Ulps = std::vector<std::string>;
  CHECK(ulps_of("65519 65520 1e30 --dtype float16") == Ulps{"32", "32", "6.189700196426902e+26"});
  CHECK(ulps_of("-1000 --dtype float8_e4m3fn") == Ulps{"64"});
  CHECK(ulps_of("1e30 --dtype float8_e4m3fn --saturate") == Ulps{"32"});
  CHECK(ulps_of("inf nan --dtype float16") == Ulps{"", ""});
}
