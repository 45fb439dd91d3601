#include "ropelab/sweep/values.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "ropelab/exact/parse.hpp"
#include "ropelab/exact/split.hpp"

namespace ropelab {
namespace {

// FIRST:LAST:COUNT[:log], its ends not yet read.
struct RangeText {
  std::string_view first;
  std::string_view last;
  long long count;
  bool logarithmic;
};

long long parse_count(std::string_view count, std::string_view range) {
  try {
    return parse_integer(count, 1, kMostPoints);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(
        fmt::format("'{}': '{}' is no COUNT of a range; write a whole number from 1 to {}", range,
                    count, kMostPoints));
  }
}

RangeText parse_range(std::string_view text) {
  const auto parts = split(text, ":");
  const bool logarithmic = parts.size() == 4 && parts[3] == "log";
  if (parts.size() != 3 && !logarithmic) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a range; write FIRST:LAST:COUNT or FIRST:LAST:COUNT:log", text));
  }
  return {parts[0], parts[1], parse_count(parts[2], text), logarithmic};
}

// Calls `at(k)` for the points strictly between the ends.
template <typename At>
void for_inner_points(long long count, const Interruption& interruption, At at) {
  for (long long k = 1; k + 1 < count; ++k) {
    interruption.check();
    at(Rational(k, count - 1));
  }
}

// first^(1-t) last^t, to 480 bits.
Real logarithmic_point(const Algebraic& first, const Algebraic& last, const Rational& t) {
  return first.to_real() * power((last / first).to_real(), Real(t));
}

// first (1-t) + last t: exact where both ends are rational, else to 500 bits.
double linear_point(const Algebraic& first, const Algebraic& last, const Rational& t) {
  if (first.is_rational() && last.is_rational()) {
    return to_double(Rational(first.radicand() * (1 - t) + last.radicand() * t));
  }
  return to_double(Real(first.to_real() * Real(1 - t) + last.to_real() * Real(t)));
}

std::vector<Algebraic> points_of(const RangeText& range, const Interruption& interruption) {
  const Algebraic first = parse_positive(range.first);
  const Algebraic last = parse_positive(range.last);
  std::vector<Algebraic> points{first};
  for_inner_points(range.count, interruption, [&](const Rational& t) {
    const double point = range.logarithmic ? to_double(logarithmic_point(first, last, t))
                                           : linear_point(first, last, t);
    points.emplace_back(to_rational(point));
  });
  if (range.count > 1) points.push_back(last);
  return points;
}

// Rounded to nearest, ties to even.
long long nearest_integer(const Rational& x) {
  Integer floor = numerator(x) / denominator(x);
  if (x < floor) --floor;
  const Rational rest = x - floor;
  const bool up = rest > Rational(1, 2) || (rest == Rational(1, 2) && floor % 2 != 0);
  return static_cast<long long>(up ? Integer(floor + 1) : floor);
}

// A root of a whole number is whole or irrational, so there is no tie; and one so close to
// a whole number that 480 bits do not tell them apart is rounded the same way.
long long nearest_integer(const Real& x) { return static_cast<long long>(round(x)); }

std::vector<long long> integers_of(const RangeText& range, long long least, long long most,
                                   const Interruption& interruption) {
  const long long first = parse_integer(range.first, least, most);
  const long long last = parse_integer(range.last, least, most);
  if (range.logarithmic && (first <= 0 || last <= 0)) {
    throw std::invalid_argument(fmt::format("'{}:{}:{}:log' does not have two positive ends",
                                            range.first, range.last, range.count));
  }
  std::vector<long long> points{first};
  const auto add = [&points](long long point) {
    if (points.back() != point) points.push_back(point);
  };
  for_inner_points(range.count, interruption, [&](const Rational& t) {
    add(range.logarithmic ? nearest_integer(logarithmic_point(Algebraic(Rational(first)),
                                                              Algebraic(Rational(last)), t))
                          : nearest_integer(Rational(first + (last - first) * t)));
  });
  if (range.count > 1) add(last);
  return points;
}

// Reads every item with `parse_one` or, if it is a range, with `parse_points`.
template <typename ParseOne, typename ParsePoints>
auto parse_items(std::string_view text, ParseOne parse_one, ParsePoints parse_points) {
  decltype(parse_points(RangeText{})) values;
  const auto add = [&](const std::string& item) {
    if (item.find(':') == std::string::npos) return values.push_back(parse_one(item));
    const auto points = parse_points(parse_range(item));
    values.insert(values.end(), points.begin(), points.end());
  };
  const auto items = split_list(text);
  try {
    for (const std::string& item : items) add(item);
  } catch (const std::invalid_argument& error) {
    if (items.size() == 1) throw;
    // Whoever writes 0,5 for a half should see why it is two values here.
    throw std::invalid_argument(fmt::format("{} (in the list '{}')", error.what(), text));
  }
  return values;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  if (trimmed(text).empty()) throw std::invalid_argument("there is no value");
  std::vector<std::string> items;
  for (const std::string_view item : split(text, ",")) {
    if (item.empty()) {
      throw std::invalid_argument(fmt::format("the list '{}' has an empty item", text));
    }
    items.emplace_back(item);
  }
  return items;
}

std::vector<Algebraic> parse_positive_values(std::string_view text,
                                             const Interruption& interruption) {
  return parse_items(text, parse_positive,
                     [&](const RangeText& range) { return points_of(range, interruption); });
}

std::vector<long long> parse_integer_values(std::string_view text, long long least, long long most,
                                            const Interruption& interruption) {
  return parse_items(
      text, [&](std::string_view item) { return parse_integer(item, least, most); },
      [&](const RangeText& range) { return integers_of(range, least, most, interruption); });
}

}  // namespace ropelab
