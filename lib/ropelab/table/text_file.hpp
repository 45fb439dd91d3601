// Files of text, as a whole.
#pragma once

#include <string>

namespace ropelab {

// What is in the file, byte by byte. Throws std::invalid_argument with the system's reason
// ("No such file or directory") where it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace ropelab
