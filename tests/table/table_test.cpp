#include "ropelab/table/table.hpp"

#include <stdexcept>

#include "catch.hpp"
#include "ropelab/table/writer.hpp"

using namespace ropelab;

TEST_CASE("a table refuses rows that do not fit its heading") {
  Table table({"a", "b"});
  CHECK_THROWS_AS(table.add_row({1}), std::invalid_argument);
  CHECK_THROWS_AS(table.add_row({1, 2, 3}), std::invalid_argument);
  CHECK_THROWS_AS(table.add_row().set("c", 1), std::out_of_range);
}

TEST_CASE("a table refuses two columns of one name") {
  CHECK_THROWS_AS(Table({"a", "b", "a"}), std::invalid_argument);
}

TEST_CASE("cells are set by name and stay empty otherwise") {
  Table table({"a", "b", "c"});
  Table::Row first = table.add_row();
  for (int i = 0; i < 100; ++i) table.add_row();  // moves the rows in memory
  first.set("c", "x").set("a", 1.5);
  CHECK(to_text(table.at(0, "a")) == "1.5");
  CHECK(table.at(0, "b").empty());
  CHECK(to_text(table.at(0, "c")) == "x");
  CHECK_THROWS_AS(table.at(0, "d"), std::out_of_range);
  CHECK_THROWS_AS(table.at(101, "a"), std::out_of_range);
}

TEST_CASE("an optional without a value is an empty cell") {
  CHECK(Cell(std::optional<int>()).empty());
  CHECK(to_text(Cell(std::optional<int>(7))) == "7");
}

TEST_CASE("whole numbers of any width are kept exactly") {
  CHECK(to_text(Cell(std::uint64_t{18446744073709551615U})) == "18446744073709551615");
  CHECK(to_text(Cell(std::int64_t{-9223372036854775807})) == "-9223372036854775807");
  CHECK(to_text(Cell(9007199254740993LL)) == "9007199254740993");
}
