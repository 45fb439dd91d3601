#include "ropelab/table/writer.hpp"

#include <clocale>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace ropelab;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string csv_of(const Cell& cell) {
  Table table({"x"});
  table.add_row({cell});
  const std::string text = to_text(table, TableFormat::csv);
  return text.substr(2, text.size() - 3);
}

// One row with a cell of every kind.
Table kinds() {
  Table table({"empty", "text", "integer", "double", "infinite", "exact"});
  table.add_row({Cell(), "a,b", -3, 0.1, -infinity, ExactNumber{"0.10000000000000000000"}});
  return table;
}

}  // namespace

TEST_CASE("doubles are written as the shortest decimal that reads back") {
  CHECK(csv_of(0.1) == "0.1");
  CHECK(csv_of(0.33368629901358837) == "0.33368629901358837");
  CHECK(csv_of(0.004654) == "0.004654");
  CHECK(csv_of(1.6666667e-9) == "1.6666667e-09");
  CHECK(csv_of(2.4551407911316089e-6) == "2.455140791131609e-06");
  CHECK(csv_of(3.0) == "3");
  CHECK(csv_of(1e300) == "1e+300");
  CHECK(csv_of(5e-324) == "5e-324");
}

TEST_CASE("negative zero, infinities and NaN have one spelling each") {
  CHECK(csv_of(-0.0) == "-0");
  CHECK(csv_of(infinity) == "inf");
  CHECK(csv_of(-infinity) == "-inf");
  CHECK(csv_of(not_a_number) == "nan");
  CHECK(csv_of(-not_a_number) == "nan");
}

TEST_CASE("CSV quotes what would be taken apart, and nothing else") {
  CHECK(csv_of("plain text; with = signs") == "plain text; with = signs");
  CHECK(csv_of("fused,table=bfloat16") == "\"fused,table=bfloat16\"");
  CHECK(csv_of("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_of("two\nlines") == "\"two\nlines\"");
  CHECK(csv_of("return\r") == "\"return\r\"");
  Table table({"a,b"});
  CHECK(to_text(table, TableFormat::csv) == "\"a,b\"\n");
}

TEST_CASE("an empty cell alone in its CSV row is still a row") {
  Table table({"x"});
  table.add_row();
  CHECK(to_text(table, TableFormat::csv) == "x\n\"\"\n");
}

TEST_CASE("a CSV table is heading and rows, each ended by a line feed") {
  CHECK(to_text(kinds(), TableFormat::csv) ==
        "empty,text,integer,double,infinite,exact\n"
        ",\"a,b\",-3,0.1,-inf,0.10000000000000000000\n");
}

TEST_CASE("JSON keeps the order of columns, and the digits of exact numbers") {
  CHECK(to_text(kinds(), TableFormat::json) ==
        "[\n"
        "  {\"empty\": null, \"text\": \"a,b\", \"integer\": -3, \"double\": 0.1, "
        "\"infinite\": \"-inf\", \"exact\": 0.10000000000000000000}\n"
        "]\n");
}

TEST_CASE("JSON tables are JSON, whatever their text") {
  Table table({"x"});
  for (const char* text : {"a\"b\\c\n\t", "\x01", "\xff\xfe", "\xc3\xa9", ""})
    table.add_row({text});
  table.add_row({1e-09});
  table.add_row({-0.0});
  const auto json = nlohmann::json::parse(to_text(table, TableFormat::json));
  REQUIRE(json.size() == 7);
  CHECK(json[0]["x"] == "a\"b\\c\n\t");
  CHECK(json[3]["x"] == "\xc3\xa9");
  CHECK(json[5]["x"] == 1e-9);
}

TEST_CASE("a JSON table without rows is an empty array") {
  CHECK(to_text(Table({"x", "y"}), TableFormat::json) == "[]\n");
}

TEST_CASE("Markdown escapes pipes and keeps a row on one line") {
  Table table({"a|b", "c"});
  table.add_row({"x|y\\z", "two\nlines"});
  table.add_row({Cell(), 1});
  CHECK(to_text(table, TableFormat::markdown) ==
        "| a\\|b | c |\n"
        "|---|---|\n"
        "| x\\|y\\\\z | two<br>lines |\n"
        "|  | 1 |\n");
}

TEST_CASE("a locale with decimal commas changes nothing") {
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (found == nullptr) found = std::setlocale(LC_ALL, name);
  }
  if (found == nullptr) WARN("no German or French locale is installed here");
  CHECK(csv_of(1234567.5) == "1234567.5");
  CHECK(csv_of(1234567) == "1234567");
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("formats are known by name and by ending") {
  CHECK(find_table_format("markdown") == TableFormat::markdown);
  CHECK(find_table_format("md") == TableFormat::markdown);
  CHECK_THROWS_WITH(find_table_format("xml"), ContainsSubstring("csv, json and markdown"));
  CHECK(table_format_of("results/x.csv") == TableFormat::csv);
  CHECK(table_format_of("x.JSON") == TableFormat::json);
  CHECK(table_format_of("a.csv.md") == TableFormat::markdown);
  CHECK_THROWS_AS(table_format_of("x.txt"), std::invalid_argument);
  CHECK_THROWS_AS(table_format_of("csv"), std::invalid_argument);
  CHECK_THROWS_AS(table_format_of(".csv"), std::invalid_argument);
}
