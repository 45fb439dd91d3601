#include "ropelab/rope/scaling_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ropelab/exact/parse.hpp"
#include "ropelab/exact/split.hpp"

namespace ropelab {
namespace {

constexpr long long most_positions = 1LL << 53;

Rational positive(std::string_view text) {
  Rational value = parse_rational(text);
  if (value > 0) return value;
  throw std::invalid_argument(fmt::format("'{}' is not positive; write a number above 0", text));
}

Rational not_negative(std::string_view text) {
  Rational value = parse_rational(text);
  if (value >= 0) return value;
  throw std::invalid_argument(fmt::format("'{}' is negative; write 0 or a number above it", text));
}

long long positions(std::string_view text) { return parse_integer(text, 1, most_positions); }

std::vector<Rational> positives(std::string_view text) {
  std::vector<Rational> list;
  for (const std::string_view item : split(text, " \t\n\r")) {
    if (!item.empty()) list.push_back(positive(item));
  }
  if (!list.empty()) return list;
  throw std::invalid_argument("it has no numbers; write them with blanks between");
}

bool truth(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw std::invalid_argument(fmt::format("'{}' is neither true nor false", text));
}

constexpr std::string_view rule_names[] = {"default", "ratio"};

std::string_view rule_name(AttentionRule rule) { return rule_names[static_cast<int>(rule)]; }

AttentionRule rule(std::string_view text) {
  for (const AttentionRule one : {AttentionRule::standard, AttentionRule::ratio}) {
    if (rule_name(one) == text) return one;
  }
  throw std::invalid_argument(fmt::format("'{}' is neither default nor ratio", text));
}

// The parameters behind a scaling's name, to be taken one by one.
class Parameters {
 public:
  Parameters(std::string_view name, std::string_view text) : name_(name) {
    if (trimmed(text).empty()) return;
    for (const std::string_view item : split(text, ",:")) add(item);
  }

  bool has(std::string_view parameter) const { return find(parameter) != given_.end(); }

  // What `read` makes of it; nothing where it is not given.
  template <class Read>
  auto optional(std::string_view parameter, Read read)
      -> std::optional<decltype(read(std::string_view()))> {
    known_.push_back(parameter);
    const auto found = find(parameter);
    if (found == given_.end()) return std::nullopt;
    try {
      return read(found->second);
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("{}: {}: {}", name_, parameter, problem.what()));
    }
  }

  template <class Read>
  auto required(std::string_view parameter, Read read) {
    auto value = optional(parameter, read);
    if (value) return std::move(*value);
    refuse(fmt::format("it lacks {0}; write {1}:{0}=...", parameter, name_));
  }

  // For what several parameters together cannot mean.
  [[noreturn]] void refuse(const std::string& problem) const {
    throw std::invalid_argument(fmt::format("{}: {}", name_, problem));
  }

  // All that may be given have been asked for by now.
  void require_no_others() const {
    for (const auto& [parameter, value] : given_) {
      if (std::find(known_.begin(), known_.end(), parameter) != known_.end()) continue;
      refuse(known_.empty() ? fmt::format("'{}' is no parameter of it; it takes none", parameter)
                            : fmt::format("'{}' is no parameter of it; it takes {}", parameter,
                                          fmt::join(known_, ", ")));
    }
  }

 private:
  using Given = std::vector<std::pair<std::string_view, std::string_view>>;

  Given::const_iterator find(std::string_view parameter) const {
    return std::find_if(given_.begin(), given_.end(),
                        [&](const auto& one) { return one.first == parameter; });
  }

  void add(std::string_view item) {
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) {
      refuse(fmt::format("'{}' is no parameter; write NAME=VALUE, as in factor=4", item));
    }
    const std::string_view parameter = trimmed(item.substr(0, equals));
    if (has(parameter)) refuse(fmt::format("'{}' is given twice", parameter));
    given_.emplace_back(parameter, trimmed(item.substr(equals + 1)));
  }

  std::string_view name_;
  Given given_;
  std::vector<std::string_view> known_;
};

Scaling none(Parameters&) { return {}; }

Scaling linear(Parameters& parameters) {
  return LinearScaling{parameters.required("factor", positive)};
}

Scaling ntk(Parameters& parameters) { return NtkScaling{parameters.required("factor", positive)}; }

Scaling dynamic_ntk(Parameters& parameters) {
  DynamicNtkScaling scaling;
  scaling.factor = parameters.required("factor", positive);
  scaling.original = parameters.required("original", positions);
  scaling.length = parameters.optional("length", positions);
  return scaling;
}

// Which rule it is where that is not said. Practice reads one of mscale and mscale_all_dim without
// the other in more than one way.
AttentionRule implied_rule(const Parameters& parameters, const YarnScaling& scaling) {
  const bool both = parameters.has("mscale") && parameters.has("mscale_all_dim");
  if (both && scaling.mscale != 0 && scaling.mscale_all_dim != 0) return AttentionRule::ratio;
  if (parameters.has("mscale") || scaling.mscale_all_dim != 0) {
    parameters.refuse(
        "mscale and mscale_all_dim mean something together; with one of them, or 0, some programs "
        "leave it out; write rule=default (0.1*mscale*ln(factor) + 1) or rule=ratio (that over "
        "0.1*mscale_all_dim*ln(factor) + 1) to say what they do");
  }
  return AttentionRule::standard;
}

Scaling yarn(Parameters& parameters) {
  YarnScaling scaling;
  scaling.factor = parameters.required("factor", positive);
  scaling.original = parameters.required("original", positions);
  scaling.beta_fast = parameters.optional("beta_fast", positive).value_or(scaling.beta_fast);
  scaling.beta_slow = parameters.optional("beta_slow", positive).value_or(scaling.beta_slow);
  scaling.truncate = parameters.optional("truncate", truth).value_or(scaling.truncate);
  const auto named_rule = parameters.optional("rule", rule);
  scaling.mscale = parameters.optional("mscale", not_negative).value_or(scaling.mscale);
  scaling.mscale_all_dim =
      parameters.optional("mscale_all_dim", not_negative).value_or(scaling.mscale_all_dim);
  scaling.attention_factor = parameters.optional("attention_factor", positive);
  if (!scaling.attention_factor) {
    scaling.rule = named_rule ? *named_rule : implied_rule(parameters, scaling);
  } else if (named_rule || parameters.has("mscale")) {
    parameters.refuse("attention_factor leaves nothing to rule and mscale; write only one of them");
  }
  return scaling;
}

Scaling llama3(Parameters& parameters) {
  Llama3Scaling scaling;
  scaling.factor = parameters.required("factor", positive);
  scaling.original = parameters.required("original", positions);
  scaling.low_freq_factor =
      parameters.optional("low_freq_factor", positive).value_or(scaling.low_freq_factor);
  scaling.high_freq_factor =
      parameters.optional("high_freq_factor", positive).value_or(scaling.high_freq_factor);
  return scaling;
}

Scaling longrope(Parameters& parameters) {
  LongRopeScaling scaling;
  scaling.original = parameters.required("original", positions);
  scaling.short_factor = parameters.required("short_factor", positives);
  scaling.long_factor = parameters.required("long_factor", positives);
  scaling.length = parameters.optional("length", positions);
  scaling.factor = parameters.optional("factor", positive);
  scaling.attention_factor = parameters.optional("attention_factor", positive);
  if (scaling.factor.has_value() == scaling.attention_factor.has_value()) {
    parameters.refuse("it takes one of factor and attention_factor");
  }
  return scaling;
}

// In the order of Scaling's alternatives.
constexpr std::pair<std::string_view, Scaling (*)(Parameters&)> readers[] = {
    {"none", none}, {"linear", linear}, {"ntk", ntk},          {"dynamic-ntk", dynamic_ntk},
    {"yarn", yarn}, {"llama3", llama3}, {"longrope", longrope}};

Scaling parse_scaling(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = trimmed(text.substr(0, colon));
  for (const auto& [known, read] : readers) {
    if (known != name) continue;
    Parameters parameters(
        name, colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
    Scaling scaling = read(parameters);
    parameters.require_no_others();
    return scaling;
  }
  throw std::invalid_argument(
      fmt::format("'{}' is no scaling; there are {}", name, fmt::join(scaling_names(), ", ")));
}

// The shortest decimal that is the number, or a fraction.
std::string to_text(const Rational& x) {
  constexpr int most_digits = 40;
  for (int digits = 1; digits <= most_digits; ++digits) {
    std::string text = to_decimal(x, digits);
    if (parse_rational(text) == x) return text;
  }
  return x.str();
}
std::string to_text(long long x) { return fmt::format("{}", x); }
std::string to_text(bool x) { return x ? "true" : "false"; }
std::string to_text(AttentionRule x) { return std::string(rule_name(x)); }
std::string to_text(const std::vector<Rational>& list) {
  std::vector<std::string> texts;
  for (const Rational& x : list) texts.push_back(to_text(x));
  return fmt::format("{}", fmt::join(texts, " "));
}

class Text {
 public:
  explicit Text(std::string_view name) : text_(name) {}
  template <class Value>
  Text& add(std::string_view parameter, const Value& value) {
    text_ += fmt::format(":{}={}", parameter, to_text(value));
    return *this;
  }
  template <class Value>
  Text& add(std::string_view parameter, const std::optional<Value>& value) {
    return value ? add(parameter, *value) : *this;
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

void add_to(Text&, std::monostate) {}
void add_to(Text& text, const LinearScaling& scaling) { text.add("factor", scaling.factor); }
void add_to(Text& text, const NtkScaling& scaling) { text.add("factor", scaling.factor); }
void add_to(Text& text, const DynamicNtkScaling& scaling) {
  text.add("factor", scaling.factor)
      .add("original", scaling.original)
      .add("length", scaling.length);
}
void add_to(Text& text, const YarnScaling& scaling) {
  text.add("factor", scaling.factor)
      .add("original", scaling.original)
      .add("beta_fast", scaling.beta_fast)
      .add("beta_slow", scaling.beta_slow)
      .add("truncate", scaling.truncate);
  if (!scaling.attention_factor) text.add("rule", scaling.rule).add("mscale", scaling.mscale);
  if (scaling.mscale_all_dim != 0) text.add("mscale_all_dim", scaling.mscale_all_dim);
  text.add("attention_factor", scaling.attention_factor);
}
void add_to(Text& text, const Llama3Scaling& scaling) {
  text.add("factor", scaling.factor)
      .add("original", scaling.original)
      .add("low_freq_factor", scaling.low_freq_factor)
      .add("high_freq_factor", scaling.high_freq_factor);
}
void add_to(Text& text, const LongRopeScaling& scaling) {
  text.add("original", scaling.original)
      .add("short_factor", scaling.short_factor)
      .add("long_factor", scaling.long_factor)
      .add("length", scaling.length)
      .add("factor", scaling.factor)
      .add("attention_factor", scaling.attention_factor);
}

}  // namespace

std::vector<std::string_view> scaling_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, read] : readers) names.push_back(name);
  return names;
}

std::vector<Scaling> parse_scalings(std::string_view list) {
  std::vector<std::string> texts;
  for (const std::string_view item : split(list, ",")) {
    const auto mark = item.find_first_of(":=");
    const bool belongs = mark != std::string_view::npos && item[mark] == '=';
    if (!belongs) {
      texts.emplace_back(item);
    } else if (texts.empty()) {
      throw std::invalid_argument(
          fmt::format("'{}' has no scaling before it; write NAME:{}", item, item));
    } else {
      // "yarn,factor=4" is as good as "yarn:factor=4".
      texts.back().append(":").append(item);
    }
  }
  std::vector<Scaling> scalings;
  for (const std::string& text : texts) scalings.push_back(parse_scaling(text));
  return scalings;
}

std::string text_of(const Scaling& scaling) {
  Text text(readers[scaling.index()].first);
  std::visit([&](const auto& one) { add_to(text, one); }, scaling);
  return text.text();
}

}  // namespace ropelab
