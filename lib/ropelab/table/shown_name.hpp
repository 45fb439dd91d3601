// Names and values out of files that nobody vouches for, as a sentence can show them.
#pragma once

#include <string>
#include <string_view>

namespace ropelab {

// The text, or its first hundred bytes or so (no character of UTF-8 is cut in two) and "...".
std::string cut_off(std::string_view text);

// 'the name': cut off; control characters, byte order marks and what is no UTF-8 as \x1b.
std::string shown_name(std::string_view name);

}  // namespace ropelab
