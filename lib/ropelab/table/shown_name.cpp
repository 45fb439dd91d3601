#include "ropelab/table/shown_name.hpp"

#include <fmt/format.h>

namespace ropelab {
namespace {

constexpr std::size_t kMostBytes = 100;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Whether a character of UTF-8 goes on there.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// How many bytes the character takes that the text begins with, 1 to 4; 0 where it is no UTF-8
// (which also has no longer form than is needed, and nothing from U+D800 to U+DFFF or past
// U+10FFFF).
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t count = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < count) return 0;
  for (std::size_t n = 1; n < count; ++n) {
    if (!continues(text[n])) return 0;
  }
  const bool is_whole = !(lead == 0xe0 && byte(1) < 0xa0) && !(lead == 0xed && byte(1) > 0x9f) &&
                        !(lead == 0xf0 && byte(1) < 0x90) && !(lead == 0xf4 && byte(1) > 0x8f);
  return is_whole ? count : 0;
}

// Whether a terminal shows it as it is.
bool is_visible(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead >= 0x20 && lead < 0x7f;
  const bool is_control = lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return !is_control && character != kByteOrderMark;
}

}  // namespace

std::string cut_off(std::string_view text) {
  if (text.size() <= kMostBytes) return std::string(text);
  std::size_t end = kMostBytes;
  while (end > kMostBytes - 4 && continues(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string shown_name(std::string_view name) {
  const std::string cut = cut_off(name);
  std::string text = "'";
  for (std::string_view rest = cut; !rest.empty();) {
    const std::size_t valid = bytes_of_character(rest);
    const std::string_view here = rest.substr(0, valid == 0 ? 1 : valid);
    if (valid > 0 && is_visible(here)) {
      text += here;
    } else {
      for (const char c : here) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    rest.remove_prefix(here.size());
  }
  return text + "'";
}

}  // namespace ropelab
