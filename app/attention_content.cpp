#include "app/attention_content.hpp"

#include <fmt/format.h>

#include "ropelab/exact/parse.hpp"
#include "ropelab/sweep/values.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace ropelab::app {
namespace {

constexpr double kDefaultDeviation = 1;
constexpr double kLargestDeviation = 1e9;

double parse_deviation(const std::string& item) {
  const Rational value = parse_rational(item);
  if (value >= 0 && value <= to_rational(kLargestDeviation)) return to_double(value);
  throw std::invalid_argument(
      fmt::format("'{}' is no standard deviation of scores; a number from 0 to {} would be right",
                  item, kLargestDeviation));
}

// A row that is being read, with the line that it begins on.
struct RowOfFile {
  std::size_t line;
  std::map<std::size_t, double> scores;  // by key
};

// `column` says what is being read.
void add_score(const CsvText& csv, std::size_t record, long long least_context,
               std::map<std::size_t, RowOfFile>& rows, std::string_view& column) {
  const auto text = [&](std::string_view name) -> const std::string& {
    column = name;
    return csv.at(record, name);
  };
  const long long row = parse_integer(text("query"), 0, least_context - 1);
  const long long key = parse_integer(text("key"), 0, row);
  const double score = to_double(parse_rational(text("score")));
  RowOfFile& of_row =
      rows.try_emplace(static_cast<std::size_t>(row), RowOfFile{csv.records()[record].line, {}})
          .first->second;
  if (of_row.scores.emplace(static_cast<std::size_t>(key), score).second) return;
  throw std::invalid_argument(
      fmt::format("query {} has a second one for key {}; one would be right", row, key));
}

std::vector<double> whole_row(std::size_t row, const RowOfFile& read) {
  std::vector<double> scores;
  for (const auto& [key, score] : read.scores) {
    if (key != scores.size()) break;
    scores.push_back(score);
  }
  if (scores.size() == row + 1) return scores;
  throw std::invalid_argument(
      fmt::format("query {} has none for key {}; one for each key from 0 to {} would be right", row,
                  scores.size(), row));
}

}  // namespace

ScoresOfRows read_scores_of_rows(const std::string& path, long long least_context,
                                 const Interruption& interruption) {
  const CsvText csv = read_csv_file(path, {"query", "key", "score"});
  std::size_t line = 0;
  std::string_view column;
  ScoresOfRows scores;
  try {
    std::map<std::size_t, RowOfFile> rows;
    for (std::size_t record = 0; record < csv.records().size(); ++record) {
      interruption.check();
      line = csv.records()[record].line;
      add_score(csv, record, least_context, rows, column);
    }
    for (const auto& [row, read] : rows) {
      line = read.line;
      scores.emplace(row, whole_row(row, read));
    }
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(
        fmt::format("'{}': line {}: {}: {}", path, line, column, problem.what()));
  }
  if (!scores.empty()) return scores;
  throw std::invalid_argument(
      fmt::format("'{}' has no scores; a line for each query and key would be right", path));
}

void ContentScoreOptions::add_to(CLI::App& app, CLI::Option& components) {
  deviation_.add_to(app, "--content-sd", kNumbers,
                    "Scores of content drawn at random (from --seed), of these standard "
                    "deviations, logits; 0: none",
                    fmt::format("{}", kDefaultDeviation));
  file_.add_to(app, "--content-file", "FILE",
               "Scores of content from a CSV file with the columns query,key,score; its queries "
               "are looked at");
  deviation_.option()->excludes(file_.option(), &components);
  file_.option()->excludes(&components);
}

std::vector<double> ContentScoreOptions::deviations() const {
  return deviation_.read([](const std::string& text) {
    std::vector<double> values;
    for (const std::string& item : split_list(text)) values.push_back(parse_deviation(item));
    return values;
  });
}

bool ContentScoreOptions::is_default(double deviation) const {
  return deviation == kDefaultDeviation;
}

ScoresOfRows ContentScoreOptions::read_file(long long least_context,
                                            const Interruption& interruption) const {
  return file_.read([&](const std::string& path) {
    return read_scores_of_rows(path, least_context, interruption);
  });
}

}  // namespace ropelab::app
