// Names out of files that nobody vouches for, as a sentence can show them.
#pragma once

#include <string>
#include <string_view>

namespace ropelab {

// 'the name': control characters as \x1b, a long one cut off after a hundred bytes.
std::string shown_name(std::string_view name);

}  // namespace ropelab
