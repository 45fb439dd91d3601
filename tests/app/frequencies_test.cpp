// ropelab frequencies, as a user runs it.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;
using ropelab::parse_rational;
using ropelab::read_csv_file;

TEST_CASE("frequencies --digits 40 agrees with 80-digit arithmetic in all digits") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/frequencies.csv");
  for (std::size_t n = 0; n < reference.records().size(); n += 4) {
    const CsvText table = table_of({"frequencies", "--base", reference.at(n, "base"), "--rope-dim",
                                    reference.at(n, "rope_dim"), "--digits", "40"});
    const auto pair = std::stoul(reference.at(n, "pair"));
    CAPTURE(reference.at(n, "base"), reference.at(n, "rope_dim"), pair);
    CHECK(parse_rational(table.at(pair, "theta")) == parse_rational(reference.at(n, "theta")));
  }
}

TEST_CASE("frequencies marks the nearest pair where it is asked for one") {
  const CsvText table = table_of(
      {"frequencies", "--base", "100", "--rope-dim", "4,6", "--near", "0.31", "--context", "1K"});
  REQUIRE(table.records().size() == 5);
  const std::string nearest[] = {"", "yes", "", "yes", ""};
  for (std::size_t n = 0; n < 5; ++n) CHECK(table.at(n, "nearest") == nearest[n]);
  CHECK(table.at(1, "theta") == "0.1");
  CHECK(table.at(1, "phase") == "102.4");
  CHECK(table.at(1, "wavelength") == "62.83185307179586");
  CHECK(table_of({"frequencies"}).at(0, "nearest").empty());
}

TEST_CASE("frequencies refuses a base, a dimension or a context that cannot be meant") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--base", "0"},
                                                    {"--base", "-1"},
                                                    {"--rope-dim", "63"},
                                                    {"--rope-dim", "0"},
                                                    {"--context", "1K,2K"},
                                                    {"--near", "0"}}) {
    std::vector<std::string> all{"frequencies"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(all);
    CAPTURE(arguments.front(), arguments.back());
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.error.find("ropelab: " + arguments.front() + ": ") == 0);
  }
}
