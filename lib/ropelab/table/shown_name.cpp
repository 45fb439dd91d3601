#include "ropelab/table/shown_name.hpp"

#include <fmt/format.h>

namespace ropelab {
namespace {

constexpr std::size_t kMostBytes = 100;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Whether a character of UTF-8 goes on there.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string cut_off(std::string_view text) {
  if (text.size() <= kMostBytes) return std::string(text);
  std::size_t end = kMostBytes;
  while (end > kMostBytes - 4 && continues(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string shown_name(std::string_view name) {
  std::string text = "'";
  for (const char c : cut_off(name)) {
    text +=
        is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text + "'";
}

}  // namespace ropelab
