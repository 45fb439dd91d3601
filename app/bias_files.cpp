#include "app/bias_files.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "ropelab/exact/parse.hpp"
#include "ropelab/table/text_file.hpp"

namespace ropelab::app {
namespace {

constexpr long long kFarthest = 1LL << 30;

// A line that holds something: its words, between commas and blanks.
struct Line {
  std::size_t number;  // from 1
  std::vector<std::string> words;
};

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view between = ", \t\r";
  std::vector<std::string> words;
  for (auto begin = text.find_first_not_of(between); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(between, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(between, end);
  }
  return words;
}

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto words = words_of(std::string_view(text).substr(begin, end - begin));
    ++number;
    if (!words.empty()) lines.push_back({number, words});
    begin = end + 1;
  }
  return lines;
}

[[noreturn]] void fail(const Line& line, const std::string& problem) {
  throw std::invalid_argument(fmt::format("line {}: {}", line.number, problem));
}

// read(), whose problems are those of the line.
template <class Read>
auto of_line(const Line& line, Read read) {
  try {
    return read();
  } catch (const std::invalid_argument& problem) {
    fail(line, problem.what());
  }
}

// read(lines), whose problems are those of the file.
template <class Read>
auto of_file(const std::string& path, Read read) {
  try {
    return read(lines_of(read_text_file(path)));
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

bool is_number(const std::string& word) {
  try {
    parse_rational(word);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::vector<Rational> numbers_alone(const std::vector<Line>& lines) {
  std::vector<Rational> numbers;
  for (const Line& line : lines) {
    if (line.words.size() != 1) fail(line, "there is not one number, as on the lines before");
    numbers.push_back(of_line(line, [&] { return parse_rational(line.words.front()); }));
  }
  return numbers;
}

std::map<long long, Rational> numbers_by_distance(const std::vector<Line>& lines, long long least) {
  std::map<long long, Rational> numbers;
  for (const Line& line : lines) {
    if (line.words.size() != 2) fail(line, "a distance and its number would be right");
    of_line(line, [&] {
      const long long distance = parse_integer(line.words[0], least, kFarthest);
      if (!numbers.emplace(distance, parse_rational(line.words[1])).second) {
        throw std::invalid_argument(fmt::format("distance {} is there twice", distance));
      }
      return 0;
    });
  }
  return numbers;
}

// Those at 0, sign, 2 sign, ... up to the farthest.
std::vector<Rational> one_side(const std::map<long long, Rational>& numbers, int sign) {
  const long long last = sign > 0 ? numbers.rbegin()->first : -numbers.begin()->first;
  std::vector<Rational> side;
  for (long long d = 0; d <= last; ++d) {
    const auto number = numbers.find(sign * d);
    if (number == numbers.end()) {
      throw std::invalid_argument(fmt::format("distance {} is missing", sign * d));
    }
    side.push_back(number->second);
  }
  if (side.empty()) throw std::invalid_argument("distance 0 is missing");
  return side;
}

}  // namespace

BiasTable read_bias_table(const std::string& path, bool bidirectional) {
  return of_file(path, [&](std::vector<Line> lines) -> BiasTable {
    const bool has_heading =
        !lines.empty() && lines.front().words.size() == 2 && !is_number(lines.front().words[0]);
    if (has_heading) lines.erase(lines.begin());
    if (lines.empty()) throw std::invalid_argument("it holds no numbers");
    if (!has_heading && lines.front().words.size() == 1) {
      const auto numbers = numbers_alone(lines);
      return {numbers, bidirectional ? numbers : std::vector<Rational>{}};
    }
    const auto numbers = numbers_by_distance(lines, bidirectional ? -kFarthest : 0);
    if (!bidirectional) return {one_side(numbers, 1), {}};
    return {one_side(numbers, 1), one_side(numbers, -1)};
  });
}

std::vector<std::vector<Rational>> read_bucket_values(const std::string& path, int buckets) {
  return of_file(path, [&](const std::vector<Line>& lines) {
    std::vector<std::vector<Rational>> values;
    for (const Line& line : lines) {
      if (line.words.size() != lines.front().words.size()) {
        fail(line, fmt::format("there are {} numbers, and {} on the first", line.words.size(),
                               lines.front().words.size()));
      }
      values.emplace_back();
      for (const std::string& word : line.words) {
        values.back().push_back(of_line(line, [&] { return parse_rational(word); }));
      }
    }
    if (values.size() != static_cast<std::size_t>(buckets)) {
      throw std::invalid_argument(
          fmt::format("it has {} lines of values; {}, one for each bucket, would be right",
                      values.size(), buckets));
    }
    return values;
  });
}

}  // namespace ropelab::app
