#include "ropelab/table/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace ropelab {
namespace {

struct FormatName {
  TableFormat format;
  std::string_view name;
  std::string_view ending;
};
constexpr std::array<FormatName, 3> kFormatNames{{{TableFormat::csv, "csv", ".csv"},
                                                  {TableFormat::json, "json", ".json"},
                                                  {TableFormat::markdown, "markdown", ".md"}}};

// One overload for each kind of cell.
struct PlainText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const ExactNumber& number) const { return number.text; }
  std::string operator()(double number) const {
    return std::isnan(number) ? "nan" : fmt::format("{}", number);
  }
  template <std::integral T>
  std::string operator()(T number) const {
    return fmt::format("{}", number);
  }
};

std::string json_string(const std::string& text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

struct JsonText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(const std::string& text) const { return json_string(text); }
  std::string operator()(double number) const {
    const std::string text = PlainText()(number);
    return std::isfinite(number) ? text : json_string(text);
  }
  template <typename T>
  std::string operator()(const T& number) const {
    return PlainText()(number);
  }
};

std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string markdown_field(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\') escaped += '\\';
    if (c == '\n') {
      escaped += "<br>";
    } else if (c != '\r') {
      escaped += c;
    }
  }
  return escaped;
}

template <typename Fields, typename ToField>
std::string joined(const Fields& fields, std::string_view separator, ToField to_field) {
  std::string line;
  bool first = true;
  for (const auto& field : fields) {
    if (!std::exchange(first, false)) line += separator;
    line += to_field(field);
  }
  return line;
}

std::string to_csv(const Table& table) {
  const auto line = [](const auto& fields, auto to_string) {
    std::string text =
        joined(fields, ",", [&](const auto& field) { return csv_field(to_string(field)); });
    // An empty line would be skipped by many readers.
    return (text.empty() && !fields.empty() ? "\"\"" : text) + '\n';
  };
  std::string text = line(table.columns(), [](const std::string& name) { return name; });
  for (const auto& row : table.rows()) {
    text += line(row, [](const Cell& cell) { return to_text(cell); });
  }
  return text;
}

std::string json_object(const Table& table, const std::vector<Cell>& row) {
  std::string text = "  {";
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ", ";
    text += json_string(table.columns()[i]) + ": " + std::visit(JsonText(), row[i].value());
  }
  return text + '}';
}

std::string to_json(const Table& table) {
  if (table.rows().empty()) return "[]\n";
  const auto object = [&](const std::vector<Cell>& row) { return json_object(table, row); };
  return fmt::format("[\n{}\n]\n", joined(table.rows(), ",\n", object));
}

std::string to_markdown(const Table& table) {
  const auto rule = [](const std::string&) { return "---"; };
  const auto field = [](const Cell& cell) { return markdown_field(to_text(cell)); };
  std::string text = fmt::format("| {} |\n|{}|\n", joined(table.columns(), " | ", markdown_field),
                                 joined(table.columns(), "|", rule));
  for (const auto& row : table.rows()) {
    text += fmt::format("| {} |\n", joined(row, " | ", field));
  }
  return text;
}

bool ends_with(std::string_view text, std::string_view lowercase_ending) {
  if (text.size() <= lowercase_ending.size()) return false;
  const auto same = [](char c, char lowercase) {
    return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == lowercase;
  };
  return std::equal(lowercase_ending.begin(), lowercase_ending.end(),
                    text.end() - static_cast<std::ptrdiff_t>(lowercase_ending.size()),
                    [&](char lowercase, char c) { return same(c, lowercase); });
}

}  // namespace

TableFormat find_table_format(std::string_view name) {
  for (const FormatName& known : kFormatNames) {
    if (name == known.name || name == known.ending.substr(1)) return known.format;
  }
  throw std::invalid_argument(
      fmt::format("'{}' is not an output format; there are csv, json and markdown", name));
}

std::string_view table_format_name(TableFormat format) {
  return std::find_if(kFormatNames.begin(), kFormatNames.end(),
                      [format](const FormatName& known) { return known.format == format; })
      ->name;
}

TableFormat table_format_of(std::string_view path) {
  for (const FormatName& known : kFormatNames) {
    if (ends_with(path, known.ending)) return known.format;
  }
  throw std::invalid_argument(
      fmt::format("the ending of '{}' names no format; use .csv, .json or .md", path));
}

std::string to_text(const Cell& cell) { return std::visit(PlainText(), cell.value()); }

std::string to_text(const Table& table, TableFormat format) {
  switch (format) {
    case TableFormat::json:
      return to_json(table);
    case TableFormat::markdown:
      return to_markdown(table);
    case TableFormat::csv:
      break;
  }
  return to_csv(table);
}

}  // namespace ropelab
