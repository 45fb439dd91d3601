#include "ropelab/checkpoint/shown_name.hpp"

#include <fmt/format.h>

namespace ropelab {
namespace {

constexpr std::size_t kMostBytes = 100;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Whether a character of UTF-8 goes on there.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string_view shortened(std::string_view name) {
  if (name.size() <= kMostBytes) return name;
  std::size_t end = kMostBytes;
  while (end > kMostBytes - 4 && continues(name[end])) --end;
  return name.substr(0, end);
}

}  // namespace

std::string shown_name(std::string_view name) {
  const std::string_view start = shortened(name);
  std::string text = "'";
  for (const char c : start) {
    text +=
        is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return text + (start.size() < name.size() ? "...'" : "'");
}

}  // namespace ropelab
