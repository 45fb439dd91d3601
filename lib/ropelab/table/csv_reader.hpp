// Tables that others wrote, as CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ropelab {

// The text of a CSV file: RFC 4180 with a heading, and '\n' or "\r\n" as line end.
class CsvText {
 public:
  struct Record {
    std::size_t line;  // that it begins on, from 1
    std::vector<std::string> fields;
  };

  // Reads the text; a UTF-8 byte order mark before it is no part of it, empty lines are passed
  // over. Throws std::invalid_argument, in one sentence that begins with the line ("line 7:
  // ..."), where a quote stands astray or is not closed, a record has not as many fields as
  // the heading, or two columns have one name; and where there is no heading.
  explicit CsvText(std::string_view text);

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<Record>& records() const { return records_; }

  bool has_column(std::string_view name) const;
  // The place of a column. Throws std::invalid_argument, naming the line of the heading and the
  // columns there are.
  std::size_t place_of(std::string_view name) const;
  const std::string& at(std::size_t record, std::string_view column) const;

 private:
  std::size_t heading_line_ = 1;
  std::vector<std::string> columns_;
  std::vector<Record> records_;
};

// Reads a file. Throws std::invalid_argument, in one sentence that begins with the path, where
// it cannot be read, is no such text, or lacks one of the columns asked for.
CsvText read_csv_file(const std::string& path, const std::vector<std::string>& columns = {});

}  // namespace ropelab
