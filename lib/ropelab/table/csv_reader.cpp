#include "ropelab/table/csv_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "ropelab/table/text_file.hpp"

namespace ropelab {
namespace {

// Takes a text apart from front to back.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  bool at_end() const { return rest_.empty(); }
  std::size_t line() const { return line_; }

  // The fields up to the end of the line or text, which is passed.
  std::vector<std::string> record() {
    std::vector<std::string> fields;
    do {
      fields.push_back(rest_.starts_with('"') ? quoted_field() : plain_field());
    } while (pass(","));
    if (!at_end() && !pass("\r\n") && !pass("\n")) {
      fail(line_, "there is text behind a closing quote");
    }
    return fields;
  }

  [[noreturn]] static void fail(std::size_t line, std::string_view what) {
    throw std::invalid_argument(fmt::format("line {}: {}", line, what));
  }

 private:
  bool pass(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    if (token.ends_with('\n')) ++line_;
    return true;
  }

  std::string plain_field() {
    std::string_view field = rest_.substr(0, rest_.find_first_of(",\n"));
    if (rest_.substr(field.size()).starts_with('\n') && field.ends_with('\r')) {
      field.remove_suffix(1);
    }
    if (field.find('"') != std::string_view::npos) {
      fail(line_, "a quote stands in a field that does not begin with one");
    }
    rest_.remove_prefix(field.size());
    return std::string(field);
  }

  std::string quoted_field() {
    const std::size_t opened = line_;
    std::string field;
    pass("\"");
    for (;;) {
      const auto quote = rest_.find('"');
      if (quote == std::string_view::npos) fail(opened, "the quote is not closed");
      field += rest_.substr(0, quote);
      line_ += static_cast<std::size_t>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
      rest_.remove_prefix(quote + 1);
      if (!pass("\"")) return field;
      field += '"';  // was doubled
    }
  }

  std::string_view rest_;
  std::size_t line_ = 1;
};

bool is_empty_line(const std::vector<std::string>& fields) {
  return fields.size() == 1 && fields.front().empty();
}

void require_distinct(std::vector<std::string> columns, std::size_t line) {
  std::sort(columns.begin(), columns.end());
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice != columns.end()) {
    Scanner::fail(line, fmt::format("two columns have the name '{}'", *twice));
  }
}

}  // namespace

CsvText::CsvText(std::string_view text) {
  Scanner scanner(text);
  while (!scanner.at_end()) {
    const std::size_t line = scanner.line();
    std::vector<std::string> fields = scanner.record();
    if (is_empty_line(fields)) continue;
    if (columns_.empty()) {
      require_distinct(fields, line);
      heading_line_ = line;
      columns_ = std::move(fields);
    } else if (fields.size() != columns_.size()) {
      Scanner::fail(line, fmt::format("there are {} fields where the heading has {}", fields.size(),
                                      columns_.size()));
    } else {
      records_.push_back({line, std::move(fields)});
    }
  }
  if (columns_.empty()) Scanner::fail(1, "there is no heading");
}

bool CsvText::has_column(std::string_view name) const {
  return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
}

std::size_t CsvText::place_of(std::string_view name) const {
  const auto place = std::find(columns_.begin(), columns_.end(), name);
  if (place == columns_.end()) {
    Scanner::fail(heading_line_,
                  fmt::format("there is no column '{}' among {}", name, fmt::join(columns_, ", ")));
  }
  return static_cast<std::size_t>(place - columns_.begin());
}

const std::string& CsvText::at(std::size_t record, std::string_view column) const {
  return records_.at(record).fields[place_of(column)];
}

CsvText read_csv_file(const std::string& path, const std::vector<std::string>& columns) {
  try {
    CsvText csv(read_text_file(path));
    for (const std::string& column : columns) csv.place_of(column);
    return csv;
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

}  // namespace ropelab
