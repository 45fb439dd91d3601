// Files of text, as a whole.
#pragma once

#include <cstddef>
#include <string>

namespace ropelab {

// The most bytes that are read of a file, 1 GiB: what is no file, /dev/zero, may never end.
inline constexpr std::size_t kMostBytesOfFile = std::size_t{1} << 30;

// What is in the file, byte by byte. Throws std::invalid_argument with the system's reason
// ("No such file or directory") where it cannot be read, and where it is longer than
// kMostBytesOfFile.
std::string read_text_file(const std::string& path);

// Its first so many bytes, at most kMostBytesOfFile, or all that it has. Nothing behind them is
// read. Throws likewise.
std::string read_beginning_of_file(const std::string& path, std::size_t bytes);

// Throws std::invalid_argument where there is no such file, and where it is no regular file: a
// pipe would be waited for. `wanted` is what would be right ("a file of JSON").
void require_regular_file(const std::string& path, const std::string& wanted);

}  // namespace ropelab
