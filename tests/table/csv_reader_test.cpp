#include "ropelab/table/csv_reader.hpp"

#include "catch.hpp"

using ropelab::CsvText;
using ropelab::read_csv_file;

namespace {

std::string csv_refusal(const std::string& text) {
  try {
    CsvText{text};
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "accepted";
}

using Fields = std::vector<std::string>;

}  // namespace

TEST_CASE("A plain file is taken apart at commas and line ends of either kind") {
  for (const std::string end : {"\n", "\r\n"}) {
    const CsvText csv("i,j,q" + end + "1,2,0x1p-3 1" + end + "3,,");
    CHECK(csv.columns() == Fields{"i", "j", "q"});
    REQUIRE(csv.records().size() == 2);
    CHECK(csv.records()[0].fields == Fields{"1", "2", "0x1p-3 1"});
    CHECK(csv.records()[1].fields == Fields{"3", "", ""});
    CHECK(csv.records()[1].line == 3);
  }
}

TEST_CASE("Quoted fields keep commas, line breaks and quotes, and lines are counted through them") {
  const CsvText csv("\"a,b\",c\n\"x\ny\",\"say \"\"no\"\"\"\n\n1,\"\"\r\n");
  CHECK(csv.columns() == Fields{"a,b", "c"});
  REQUIRE(csv.records().size() == 2);
  CHECK(csv.at(0, "a,b") == "x\ny");
  CHECK(csv.at(0, "c") == "say \"no\"");
  CHECK(csv.records()[1].line == 5);
  CHECK(csv.at(1, "c").empty());
}

TEST_CASE("A byte order mark is no part of the first column's name") {
  CHECK(CsvText("\xEF\xBB\xBFi,j\n1,2\n").columns() == Fields{"i", "j"});
}

TEST_CASE("A broken file is refused with the line") {
  CHECK(csv_refusal("i,j\n1,2\n3\n") == "line 3: there are 1 fields where the heading has 2");
  CHECK(csv_refusal("i,j\n1,2,3\n") == "line 2: there are 3 fields where the heading has 2");
  CHECK(csv_refusal("i,j\n\"1\n\n,2\n") == "line 2: the quote is not closed");
  CHECK(csv_refusal("i,j\n\"1\"x,2\n") == "line 2: there is text behind a closing quote");
  CHECK(csv_refusal("i,j\n1\"1,2\n") ==
        "line 2: a quote stands in a field that does not begin with one");
  CHECK(csv_refusal("i,j,i\n") == "line 1: two columns have the name 'i'");
  CHECK(csv_refusal("") == "line 1: there is no heading");
  CHECK(csv_refusal("\n\n") == "line 1: there is no heading");
}

TEST_CASE("A column that is not there is named with those that are") {
  const CsvText csv("i,j\n1,2\n");
  CHECK(csv.has_column("j"));
  CHECK_FALSE(csv.has_column("k"));
  CHECK_THROWS_WITH(csv.at(0, "k"), "line 1: there is no column 'k' among i, j");
}

TEST_CASE("A file that cannot be read or lacks a column is named with the reason") {
  CHECK_THROWS_WITH(read_csv_file("/no/such.csv"), "'/no/such.csv': No such file or directory");
  CHECK_THROWS_WITH(read_csv_file("/"), "'/': Is a directory");
  const std::string slopes = ROPELAB_TEST_DATA "/slopes.csv";
  CHECK(read_csv_file(slopes, {"slope", "heads"}).records().size() == 332);
  CHECK_THROWS_WITH(read_csv_file(slopes, {"slope", "base"}),
                    "'" + slopes + "': line 1: there is no column 'base' among heads, head, slope");
}
