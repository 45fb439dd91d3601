#include "ropelab/table/table.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace ropelab {

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
  std::set<std::string_view> seen;
  for (const std::string& column : columns_) {
    if (!seen.insert(column).second) {
      throw std::invalid_argument("two columns are called '" + column + "'");
    }
  }
}

Table::Row Table::add_row() {
  rows_.emplace_back(columns_.size());
  return {*this, rows_.size() - 1};
}

void Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) {
    throw std::invalid_argument("a row of " + std::to_string(cells.size()) + " cells under " +
                                std::to_string(columns_.size()) + " columns");
  }
  rows_.push_back(std::move(cells));
}

const Cell& Table::at(std::size_t row, std::string_view column) const {
  return rows_.at(row)[place_of(column)];
}

std::size_t Table::place_of(std::string_view column) const {
  const auto place = std::find(columns_.begin(), columns_.end(), column);
  if (place == columns_.end()) {
    throw std::out_of_range("there is no column '" + std::string(column) + "'");
  }
  return static_cast<std::size_t>(place - columns_.begin());
}

Table::Row& Table::Row::set(std::string_view column, Cell cell) {
  table_->rows_[index_][table_->place_of(column)] = std::move(cell);
  return *this;
}

}  // namespace ropelab
