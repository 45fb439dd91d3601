// Runs of ropelab bloom on the checkpoints of tests/data/bloom, and what they print.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

inline std::string bloom_data(const std::string& name) {
  return std::string(ROPELAB_TEST_DATA) + "/bloom/" + name;
}
inline std::string heldout_file() { return bloom_data("tiny-kjv/heldout.txt"); }

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline nlohmann::json json_of(const std::string& path) {
  return nlohmann::json::parse(bytes_of(path));
}

using Arguments = std::vector<std::string>;

inline Arguments bloom(const std::string& model, const Arguments& more) {
  Arguments arguments{"bloom", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
// On the held-out text.
inline Arguments bloom_on_text(const std::string& model, const Arguments& more) {
  Arguments arguments = bloom(bloom_data(model), {"--text", heldout_file()});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The tables that a run printed, an empty line between them.
inline std::vector<ropelab::CsvText> tables_of(const Outcome& outcome) {
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  std::vector<ropelab::CsvText> tables;
  const std::string& text = outcome.output;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size() - 1);
    tables.emplace_back(text.substr(begin, end + 1 - begin));
    begin = end + 2;
  }
  return tables;
}

inline double bloom_number(const ropelab::CsvText& table, std::size_t row,
                           const std::string& column) {
  const std::string& text = table.at(row, column);
  CAPTURE(column, text);
  REQUIRE(!text.empty());
  return std::stod(text);
}

// The row whose cells say this; the test fails unless there is one alone.
inline std::size_t row_with(const ropelab::CsvText& table,
                            const std::map<std::string, std::string>& cells) {
  std::optional<std::size_t> found;
  for (std::size_t row = 0; row < table.records().size(); ++row) {
    bool fits = true;
    for (const auto& [column, text] : cells) fits = fits && table.at(row, column) == text;
    if (!fits) continue;
    REQUIRE(!found);
    found = row;
  }
  CAPTURE(cells);
  REQUIRE(found);
  return *found;
}
