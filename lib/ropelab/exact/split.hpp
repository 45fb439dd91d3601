// Lists as users write them: parts with blanks around them.
#pragma once

#include <string_view>
#include <vector>

namespace ropelab {

// Without the blanks (spaces, tabs and ends of lines) around it.
std::string_view trimmed(std::string_view text);

// The parts between any of the separators, trimmed: always one more than there are separators.
// They refer to the text.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

}  // namespace ropelab
