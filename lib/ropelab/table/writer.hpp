// Tables as text: CSV, JSON and Markdown, the same bytes in every locale.
//
// Doubles are written as fmt's "{}" writes them, the shortest decimal that reads back to the
// same double: "0.1", "1e-06", "-0"; and "inf", "-inf", "nan" (never "-nan").
#pragma once

#include <string>
#include <string_view>

#include "ropelab/table/table.hpp"

namespace ropelab {

enum class TableFormat { csv, json, markdown };

// "csv", "json", "markdown" or "md". Throws std::invalid_argument, naming the three.
TableFormat find_table_format(std::string_view name);

// "csv", "json" or "markdown".
std::string_view table_format_name(TableFormat format);

// By the ending of a file's name: .csv, .json, .md (in any case). Throws
// std::invalid_argument, naming the three, for any other.
TableFormat table_format_of(std::string_view path);

// The text of a cell where nothing needs to be quoted; empty for an empty cell.
std::string to_text(const Cell& cell);

// The whole table, ending in '\n'.
// CSV: RFC 4180, but with '\n' as line end: a field holding a comma, a quote or a line break
// is quoted, quotes are doubled. A row that would be an empty line is written `""`.
// JSON: an array of objects in the order of the columns; numbers as in CSV, infinities and
// NaN as strings, an empty cell null.
// Markdown: a pipe table; pipes are escaped, line breaks become <br>.
std::string to_text(const Table& table, TableFormat format);

}  // namespace ropelab
