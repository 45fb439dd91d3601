#include "app/head_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

std::vector<int> parse_ints(const std::string& text, int most, const Interruption& interruption) {
  std::vector<int> values;
  for (const long long value : parse_integer_values(text, 1, most, interruption)) {
    values.push_back(static_cast<int>(value));
  }
  return values;
}

std::string of_heads(int heads) { return heads == 1 ? "1 head" : fmt::format("{} heads", heads); }

// The heads that --head means among so many.
std::vector<int> parse_heads(const std::string& text, int heads, const Interruption& interruption) {
  std::vector<int> chosen;
  for (const std::string& item : split_list(text)) {
    try {
      const auto some =
          parse_ints(item == "all" ? fmt::format("1:{0}:{0}", heads) : item, heads, interruption);
      chosen.insert(chosen.end(), some.begin(), some.end());
    } catch (const std::invalid_argument&) {
      throw std::invalid_argument(
          heads == 1
              ? fmt::format("'{}' is not 1, the only head there is; 1 or all would be right", item)
              : fmt::format(
                    "'{}' is none of {} heads; write a number from 1 to {}, a range, or all", item,
                    heads, heads));
    }
  }
  return chosen;
}

}  // namespace

void HeadOptions::add_to(CLI::App& app, const std::string& default_head) {
  heads_.add_to(app, "--heads", kIntegers, "Numbers of heads", "16");
  head_.add_to(app, "--head", kHeads, "Heads, counted from 1, or all", default_head);
  slope_.add_to(app, "--slope", kNumbers, "Slopes instead of heads, logits per position");
  slope_.option()->excludes(heads_.option(), head_.option());
}

void HeadOptions::take_defaults(const ModelConfig& model) {
  if (fixes_slope()) return;
  if (parse_rational(model.alibi_bias_max) != 8) {
    refuse(model, fmt::format("alibi_bias_max is {}, and slopes of heads here are those of 8; give "
                              "--slope",
                              model.alibi_bias_max));
  }
  heads_.set_default(fmt::format("{}", model.heads));
}

std::vector<HeadChoice> HeadOptions::read(const Interruption& interruption) const {
  std::vector<HeadChoice> choices;
  if (slope_.given()) {
    const auto slopes = [&](const auto& text) { return parse_positive_values(text, interruption); };
    for (const Algebraic& slope : slope_.read(slopes)) choices.push_back({{}, {}, slope});
    return choices;
  }
  const auto numbers = [&](const auto& text) { return parse_ints(text, kMostHeads, interruption); };
  for (const int heads : heads_.read(numbers)) {
    for (const int head : chosen_of(heads, interruption)) {
      interruption.check();
      choices.push_back({heads, head, alibi_slope(heads, head)});
    }
  }
  return choices;
}

std::vector<int> HeadOptions::read_among(int heads, const std::string& file,
                                         const Interruption& interruption) const {
  const std::string columns = fmt::format("'{}' has {} for {}", file,
                                          heads == 1 ? "one column" : "columns", of_heads(heads));
  if (heads_.given()) {
    heads_.read([&](const std::string& text) {
      if (parse_ints(text, kMostHeads, interruption) != std::vector<int>{heads}) {
        throw std::invalid_argument(fmt::format(
            "'{}' is not what the file has: {}; {} would be right", text, columns, heads));
      }
      return 0;
    });
  }
  return head_.read([&](const std::string& text) {
    try {
      return parse_heads(text, heads, interruption);
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("{} ({})", problem.what(), columns));
    }
  });
}

std::vector<int> HeadOptions::chosen_of(int heads, const Interruption& interruption) const {
  return head_.read([&](const auto& text) { return parse_heads(text, heads, interruption); });
}

std::vector<std::string> HeadOptions::given() const {
  std::vector<std::string> names;
  for (const TextOption* option : {&heads_, &head_, &slope_}) {
    if (option->given()) names.push_back(option->name());
  }
  return names;
}

}  // namespace ropelab::app
