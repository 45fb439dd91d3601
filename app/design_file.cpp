#include "app/design_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/construction_options.hpp"
#include "app/model_config.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/formats/format.hpp"
#include "ropelab/table/json_file.hpp"
#include "ropelab/table/shown_name.hpp"

namespace ropelab::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersion = "ropelab design 2";

std::vector<std::string> hexadecimal(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double x : numbers) texts.push_back(to_hexadecimal(x));
  return texts;
}

void set_numbers(Json& entry, const std::string& name, const std::vector<double>& numbers) {
  entry[name] = numbers;
  entry[name + "_hex"] = hexadecimal(numbers);
}

// A number that may be no double.
void set_exact(Json& entry, const std::string& name, const Algebraic& x) {
  entry[name] = x.to_double();
  entry[name + "_exact"] = x.to_powers();
}

std::string where_the_bias_enters(Method method) {
  switch (method) {
    case Method::native:
      return "-step * score_scale * distance is added to the scaled score";
    case Method::rank_two:
      return "as extra components that are not rotated: x = step / unit * position, in `terms` "
             "numbers of the dtype, each what the ones before left; products (-x_t) * unit and "
             "then "
             "unit * x_t, t by t, before the sum is multiplied by score_scale";
    default:
      return "as extra components: each pair (q0, q1) and (k0, k1) is rotated by position * "
             "inverse_frequency, and its two products join the dot product, pair by pair, before "
             "the sum is multiplied by score_scale";
  }
}

Json entry_of(const DesignedHead& head) {
  const HeadDesign& design = head.design;
  Json entry;
  if (!head.target.empty()) entry["target"] = head.target;
  if (head.head) {
    entry["heads"] = *head.heads;
    entry["head"] = *head.head;
  }
  if (head.slope) set_exact(entry, "slope", *head.slope);
  entry["context"] = head.context;
  entry["window"] = head.window;
  entry["head_dim"] = head.head_dim;
  entry["dtype"] = head.dtype;
  entry["pipeline"] = head.pipeline_cell;
  entry["steps"] = head.pipeline.name;
  entry["saturate"] = saturates(head.pipeline);
  entry["method"] = name_of(design.method);
  entry["extra_dimensions"] =
      2 * (design.pairs.size() + static_cast<std::size_t>(design.factor_terms));
  set_numbers(entry, "inverse_frequencies", frequencies_of(design));
  entry["inverse_frequencies_exact"] = Json::array();
  for (const RotatedPair& pair : design.pairs) {
    entry["inverse_frequencies_exact"].push_back(pair.theta.to_powers());
  }
  set_numbers(entry, "query", components_of(design, &RotatedPair::query));
  set_numbers(entry, "key", components_of(design, &RotatedPair::key));
  if (head.step) set_exact(entry, "step", *head.step);
  if (design.method == Method::rank_two) {
    entry["terms"] = design.factor_terms;
    entry["unit"] = std::ldexp(1.0, design.unit_exponent);
  }
  entry["offset"] = design.offset;
  entry["score_scale"] = score_scale(head).to_double();
  entry["bias_enters"] = where_the_bias_enters(design.method);
  return entry;
}

// One head of a file, its members checked one after the other.
class HeadReader {
 public:
  explicit HeadReader(const JsonValue& entry) : entry_(entry) {}

  DesignedHead read() const {
    DesignedHead head{};
    read_place(head);
    head.context = whole("context", 1, kMostPositions);
    head.window = whole("window", 1, head.context);
    head.head_dim = whole("head_dim", 1, kMostPositions);
    read_pipeline(head);
    head.slope = exact("slope");
    head.step = exact("step");
    head.design = design();
    require_same("score_scale", number("score_scale"), score_scale(head).to_double(),
                 "1/sqrt(head_dim)");
    if (!head.step && !rotates(head.design.method)) {
      refuse(fmt::format("it has no step; '{}' needs one", name_of(head.design.method)));
    }
    require_way_in(head.design.method);
    return head;
  }

 private:
  using Kind = JsonValue::Kind;
  static constexpr int kMostTerms = 64;

  [[noreturn]] static void refuse(const std::string& problem) {
    throw std::invalid_argument(problem);
  }

  const JsonValue& member(const std::string& name, Kind kind, std::string_view wanted) const {
    const JsonValue* found = entry_.find(name);
    if (found == nullptr) refuse(fmt::format("it has no {}; {} would be right", name, wanted));
    if (found->kind != kind) {
      refuse(fmt::format("{} is {}; {} would be right", name, shown(*found), wanted));
    }
    return *found;
  }

  const std::string& text(const std::string& name) const {
    return member(name, Kind::string, "a string").text;
  }

  // What `parse` makes of a text, or the member's name before what it refuses.
  template <class Parse>
  static auto parsed(const std::string& name, const Parse& parse) {
    try {
      return parse();
    } catch (const std::invalid_argument& problem) {
      refuse(fmt::format("{}: {}", name, problem.what()));
    }
  }

  long long whole(const std::string& name, long long least, long long most) const {
    const std::string& digits = member(name, Kind::number, "a whole number").text;
    return parsed(name, [&] { return parse_integer(digits, least, most); });
  }

  // A double as JSON or hexadecimal() writes it, the sign of zero included.
  static double number_in(const std::string& name, const std::string& written, bool hexadecimal) {
    std::string_view digits = written;
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative) digits.remove_prefix(1);
    const bool has_prefix = digits.substr(0, 2) == "0x";
    if (hexadecimal && has_prefix) digits.remove_prefix(2);
    double value = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value,
                        hexadecimal ? std::chars_format::hex : std::chars_format::general);
    if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value) ||
        digits.front() == '-' || hexadecimal != has_prefix) {
      refuse(fmt::format("{} holds '{}'; a number that float64 has, as in {}, would be right", name,
                         written, hexadecimal ? "0x1.8p+1" : "0.5"));
    }
    return negative ? -value : value;
  }

  double number(const std::string& name) const {
    return number_in(name, member(name, Kind::number, "a number").text, false);
  }

  std::vector<std::string> list(const std::string& name, Kind kind,
                                std::string_view of_what) const {
    std::vector<std::string> texts;
    for (const JsonValue& item :
         member(name, Kind::array, fmt::format("a list of {}", of_what)).members) {
      if (item.kind != kind) {
        refuse(fmt::format("{} holds {}; {} alone would be right", name, shown(item), of_what));
      }
      texts.push_back(item.text);
    }
    return texts;
  }

  // Numbers are there twice, and must say the same.
  static void require_same(const std::string& name, double number, double other,
                           std::string_view other_name) {
    if (number == other && std::signbit(number) == std::signbit(other)) return;
    refuse(fmt::format("{} has {} where {} is {}; the same would be right", name, number,
                       other_name, other));
  }

  void require_size(const std::string& name, std::size_t size, std::size_t wanted) const {
    if (size == wanted) return;
    refuse(fmt::format("{} holds {} numbers; {} would be right", name, size, wanted));
  }

  std::vector<double> numbers(const std::string& name, std::size_t count) const {
    const auto decimal = list(name, Kind::number, "numbers");
    const auto hexadecimal = list(name + "_hex", Kind::string, "strings");
    require_size(name, decimal.size(), count);
    require_size(name + "_hex", hexadecimal.size(), count);
    std::vector<double> values;
    for (std::size_t n = 0; n < count; ++n) {
      values.push_back(number_in(name, decimal[n], false));
      require_same(name, values.back(), number_in(name + "_hex", hexadecimal[n], true),
                   name + "_hex");
    }
    return values;
  }

  std::optional<Algebraic> exact(const std::string& name) const {
    if (entry_.find(name) == nullptr && entry_.find(name + "_exact") == nullptr) return {};
    const std::string& powers = text(name + "_exact");
    const Algebraic value = parsed(name + "_exact", [&] { return parse_powers(powers); });
    require_same(name, number(name), value.to_double(), name + "_exact");
    return value;
  }

  void read_place(DesignedHead& head) const {
    if (entry_.find("target") != nullptr) head.target = text("target");
    if (entry_.find("heads") == nullptr && entry_.find("head") == nullptr) return;
    head.heads = static_cast<int>(whole("heads", 1, kMostHeads));
    head.head = static_cast<int>(whole("head", 1, *head.heads));
  }

  void read_pipeline(DesignedHead& head) const {
    head.dtype = text("dtype");
    head.pipeline_cell = text("pipeline");
    const std::string& steps = text("steps");
    const bool clamps = member("saturate", Kind::boolean, "true or false").text == "true";
    const Format dtype = parsed("dtype", [&] { return find_format(head.dtype); });
    head.pipeline = parsed("steps", [&] {
      return parse_pipeline(steps, clamps ? saturating(dtype) : dtype,
                            clamps ? EightBit::saturates : EightBit::overflows);
    });
    require_cell(head);
  }

  // That the table's cell is the steps and, behind them, settings without a column of their own.
  void require_cell(const DesignedHead& head) const {
    const std::string& cell = head.pipeline_cell;
    std::string wanted(head.pipeline.name);
    if (saturates(head.pipeline)) wanted += ",saturate";
    const std::string_view rest =
        std::string_view(cell).substr(std::min(wanted.size(), cell.size()));
    const bool is_plain = std::all_of(rest.begin(), rest.end(),
                                      [](char c) { return c >= ' ' && c != 0x7f && c != '"'; });
    if (cell.starts_with(wanted) && (rest.empty() || rest.front() == ',') && is_plain) return;
    refuse(
        fmt::format("pipeline is {}; by steps and saturate, '{}', and settings such as "
                    "',window=64' behind it, would be right",
                    shown_name(cell), wanted));
  }

  void require_way_in(Method method) const {
    if (text("bias_enters") == where_the_bias_enters(method)) return;
    refuse(fmt::format("bias_enters is {}; for '{}', '{}' would be right",
                       shown_name(text("bias_enters")), name_of(method),
                       where_the_bias_enters(method)));
  }

  // What is added to all scores of a query, and so is a score.
  double offset() const {
    const double offset = number("offset");
    if (std::abs(offset) <= static_cast<double>(std::numeric_limits<float>::max())) return offset;
    refuse(fmt::format("offset is {}; a number that float32 has, as scores are, would be right",
                       offset));
  }

  Method method() const {
    const std::string& name = text("method");
    for (std::size_t n = 0; n < method_names.size(); ++n) {
      if (method_names[n] == name) return static_cast<Method>(n);
    }
    refuse(fmt::format("method is '{}'; one of {} would be right", name,
                       fmt::join(method_names, ", ")));
  }

  std::vector<RotatedPair> pairs() const {
    const auto powers = list("inverse_frequencies_exact", Kind::string, "strings");
    const auto thetas = numbers("inverse_frequencies", powers.size());
    const auto query = numbers("query", 2 * powers.size());
    const auto key = numbers("key", 2 * powers.size());
    std::vector<RotatedPair> pairs;
    for (std::size_t n = 0; n < powers.size(); ++n) {
      const Algebraic theta =
          parsed("inverse_frequencies_exact", [&] { return parse_powers(powers[n]); });
      require_same("inverse_frequencies", thetas[n], theta.to_double(),
                   "inverse_frequencies_exact");
      pairs.push_back({theta, {query[2 * n], query[2 * n + 1]}, {key[2 * n], key[2 * n + 1]}});
    }
    return pairs;
  }

  HeadDesign design() const {
    HeadDesign design;
    design.method = method();
    design.pairs = pairs();
    if (design.pairs.empty() == rotates(design.method)) {
      refuse(fmt::format("it has {} frequencies; '{}' has {}", design.pairs.size(),
                         name_of(design.method), rotates(design.method) ? "some" : "none"));
    }
    if (design.method == Method::rank_two) {
      design.factor_terms = static_cast<int>(whole("terms", 1, kMostTerms));
      design.unit_exponent = exponent_of_unit();
    }
    const auto dimensions = 2 * (static_cast<long long>(design.pairs.size()) + design.factor_terms);
    require_same("extra_dimensions", number("extra_dimensions"), static_cast<double>(dimensions),
                 "their number");
    design.offset = offset();
    return design;
  }

  int exponent_of_unit() const {
    const double unit = number("unit");
    int exponent = 0;
    if (!(unit > 0) || std::frexp(unit, &exponent) != 0.5) {
      refuse(fmt::format("unit is {}; a power of two would be right", unit));
    }
    return exponent - 1;
  }

  const JsonValue& entry_;
};

std::vector<DesignedHead> heads_of(const JsonValue& root) {
  const JsonValue* format = root.find("format");
  if (format == nullptr || format->text != kVersion) {
    throw std::invalid_argument(fmt::format(
        "{}; '{}', as ropelab design --model-file writes it, would be right",
        format == nullptr ? "it has no format" : fmt::format("its format is {}", shown(*format)),
        kVersion));
  }
  const JsonValue* entries = root.find("heads");
  if (entries == nullptr || entries->kind != JsonValue::Kind::array || entries->members.empty()) {
    throw std::invalid_argument("it has no list of heads; at least one head would be right");
  }
  std::vector<DesignedHead> heads;
  for (const JsonValue& entry : entries->members) {
    try {
      if (entry.kind != JsonValue::Kind::object) {
        throw std::invalid_argument(
            fmt::format("it is {}; an object, {{...}}, would be right", shown(entry)));
      }
      heads.push_back(HeadReader(entry).read());
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(
          fmt::format("head {} of its list: {}", heads.size() + 1, problem.what()));
    }
  }
  return heads;
}

}  // namespace

Algebraic score_scale(const DesignedHead& head) {
  return Algebraic() / square_root(Rational(head.head_dim));
}

std::optional<Algebraic> slope_of_score(const DesignedHead& head) {
  if (!head.step) return std::nullopt;
  return *head.step * score_scale(head);
}

ScoreTable score_table(const DesignedHead& head, long long first_position, std::size_t count) {
  switch (head.design.method) {
    case Method::native:
      throw std::invalid_argument("a native bias has no extra components");
    case Method::rank_two:
      return factor_table(head.pipeline, head.step.value(), head.design.factor_terms,
                          head.design.unit_exponent, first_position, count);
    default:
      return score_table(head.pipeline, head.design.pairs, first_position, count);
  }
}

std::vector<DesignedHead> read_design_file(const std::string& path) {
  const JsonValue root = read_json_file(path);
  try {
    return heads_of(root);
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

std::vector<double> frequencies_of(const HeadDesign& design) {
  std::vector<double> thetas;
  for (const RotatedPair& pair : design.pairs) thetas.push_back(pair.theta.to_double());
  return thetas;
}

std::vector<double> components_of(const HeadDesign& design,
                                  std::array<double, 2> RotatedPair::*part) {
  std::vector<double> numbers;
  for (const RotatedPair& pair : design.pairs) {
    numbers.insert(numbers.end(), (pair.*part).begin(), (pair.*part).end());
  }
  return numbers;
}

std::string design_file(const std::vector<DesignedHead>& heads) {
  Json file;
  file["format"] = kVersion;
  file["heads"] = Json::array();
  for (const DesignedHead& head : heads) file["heads"].push_back(entry_of(head));
  return file.dump(2) + "\n";
}

}  // namespace ropelab::app
