// Tables in memory: a heading and rows of cells that always fit it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ropelab {

// A decimal number that somebody else has formatted, with as many digits as he wants shown.
// It is written as it stands, in JSON as a number and not as a string.
struct ExactNumber {
  std::string text;
};

// One cell: empty, text, a whole number, a double or an exact number.
class Cell {
 public:
  using Value =
      std::variant<std::monostate, std::string, std::int64_t, std::uint64_t, double, ExactNumber>;

  Cell() = default;
  // NOLINTBEGIN(google-explicit-constructor): a row of a table is a list of plain values
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(double number) : value_(number) {}
  Cell(ExactNumber number) : value_(std::move(number)) {}
  template <std::signed_integral T>
  Cell(T number) : value_(std::int64_t{number}) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Cell(T number) : value_(std::uint64_t{number}) {}
  Cell(bool) = delete;  // say "yes", 1 or "exact" instead
  Cell(std::nullopt_t) {}
  // Empty where there is no value.
  template <typename T>
  Cell(const std::optional<T>& maybe) : Cell(maybe ? Cell(*maybe) : Cell()) {}
  // NOLINTEND(google-explicit-constructor)

  const Value& value() const { return value_; }
  bool empty() const { return std::holds_alternative<std::monostate>(value_); }

 private:
  Value value_;
};

// Rows of cells under a heading. Every row has one cell for each column.
class Table {
 public:
  // Sets cells of one row by the names of their columns. Good as long as the table lives
  // and is not moved, also while rows are added.
  class Row {
   public:
    // Throws std::out_of_range, naming the column, where there is no such column.
    Row& set(std::string_view column, Cell cell);

   private:
    friend class Table;
    Row(Table& table, std::size_t index) : table_(&table), index_(index) {}
    Table* table_;
    std::size_t index_;
  };

  // A heading without rows. Throws std::invalid_argument where two columns have one name.
  explicit Table(std::vector<std::string> columns);

  // Adds a row of empty cells.
  Row add_row();
  // Adds a row. Throws std::invalid_argument unless it has one cell for each column.
  void add_row(std::vector<Cell> cells);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  // The cell of a row under a column. Throws std::out_of_range where there is none.
  const Cell& at(std::size_t row, std::string_view column) const;

 private:
  std::size_t place_of(std::string_view column) const;

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace ropelab
