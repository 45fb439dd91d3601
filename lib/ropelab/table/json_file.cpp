#include "ropelab/table/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "ropelab/table/shown_name.hpp"
#include "ropelab/table/text_file.hpp"

namespace ropelab {
namespace {

using Kind = JsonValue::Kind;

// Builds the value from what the parser comes across; only it sees how numbers are written.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  JsonValue take() { return std::move(root_); }

  bool null() override { return add(Kind::null, "null"); }
  bool boolean(bool value) override { return add(Kind::boolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return add(Kind::number, fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(Kind::number, fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return add(Kind::number, written);
  }
  bool string(string_t& value) override { return add(Kind::string, value); }
  bool binary(binary_t&) override { return false; }  // JSON has none

  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      throw std::invalid_argument(
          fmt::format("it has {} more than once; once would be right", shown_name(name)));
    }
    name_ = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& problem) override {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    throw std::invalid_argument(
        fmt::format("line {}: this is not JSON: {}; a file of JSON alone would be right",
                    1 + std::count(text_.begin(), end, '\n'), json_reason(problem.what())));
  }

 private:
  static constexpr std::size_t kMostLevels = 100;

  JsonValue& place() {
    if (open_.empty()) return root_;
    auto& members = open_.back()->members;
    members.emplace_back().name = std::exchange(name_, {});
    return members.back();
  }

  bool add(Kind kind, std::string text) {
    JsonValue& value = place();
    value.kind = kind;
    value.text = std::move(text);
    return true;
  }

  bool open(Kind kind) {
    if (open_.size() == kMostLevels) {
      throw std::invalid_argument(fmt::format(
          "it nests more than {} levels deep; such files have two or three", kMostLevels));
    }
    JsonValue& value = place();
    value.kind = kind;
    open_.push_back(&value);
    names_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  std::string_view text_;
  JsonValue root_;
  // From the outermost inwards. Only the innermost gains members, so that they stay where they are.
  std::vector<JsonValue*> open_;
  std::vector<std::unordered_set<std::string>> names_;  // of their members so far
  std::string name_;                                    // of the member to come
};

JsonValue parse(const std::string& text) {
  Builder builder(text);
  nlohmann::json::sax_parse(text, &builder);
  JsonValue value = builder.take();
  if (value.kind == Kind::object) return value;
  throw std::invalid_argument(
      fmt::format("it holds {}; an object, {{...}}, would be right", shown(value)));
}

// What `read` gives, with the path before its complaints.
template <class Read>
JsonValue with_path(const std::string& path, Read read) {
  try {
    return read();
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

}  // namespace

std::string json_reason(std::string_view message) {
  const auto end_of_name = message.find("] ");
  if (end_of_name != std::string_view::npos) message.remove_prefix(end_of_name + 2);
  if (message.rfind("parse error", 0) == 0) {
    const auto end_of_place = message.find(": ");
    if (end_of_place != std::string_view::npos) message.remove_prefix(end_of_place + 2);
  }
  // It ends with what was read last, which may be most of the file.
  return cut_off(message);
}

const JsonValue* JsonValue::find(std::string_view path) const {
  const auto dot = path.find('.');
  for (const JsonValue& member : members) {
    if (member.name != path.substr(0, dot)) continue;
    return dot == std::string_view::npos ? &member : member.find(path.substr(dot + 1));
  }
  return nullptr;
}

std::string shown(const JsonValue& value) {
  switch (value.kind) {
    case Kind::string:
      return fmt::format("\"{}\"", cut_off(value.text));
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
    default:
      return cut_off(value.text);
  }
}

JsonValue read_json_file(const std::string& path) {
  return with_path(path, [&] { return parse(read_text_file(path)); });
}

JsonValue read_regular_json_file(const std::string& path) {
  return with_path(path, [&] {
    require_regular_file(path, "a file of JSON");
    return parse(read_text_file(path));
  });
}

}  // namespace ropelab
