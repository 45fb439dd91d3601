// The tokens of a text, out of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ropelab {

// The token ids in the file, each at least 0 and below `vocabulary`, at least one of them. The file
// is either
// - NumPy's .npy, told by its first bytes: version 1, 2 or 3, int8 to int64 or uint8 to uint64,
//   little-endian, of shape [L] or [1, L] in C order, and nothing behind it [NPY]; or
// - text: whole numbers in decimal digits, with white space, or one comma and white space, between
//   them,
// and no longer than 1 GiB (table/text_file.hpp).
// Throws std::invalid_argument, in one sentence that begins with the path, on anything else; of
// text it names the line, of .npy the place of the first id that is out of range. [NPY]
// numpy/lib/format.py, "Format Version 1.0" and on.
std::vector<std::int32_t> read_token_ids(const std::string& path, long long vocabulary);

// The bytes of the file as token ids, for models whose vocabulary is the 256 bytes; with `most`, at
// most 1 GiB, only the first so many, and nothing behind them is read. Throws likewise where the
// file cannot be read or is empty.
std::vector<std::int32_t> read_bytes_as_ids(const std::string& path,
                                            std::optional<std::size_t> most = {});

}  // namespace ropelab
