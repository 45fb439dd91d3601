// NumPy's .npy files of whole numbers; internal to this room.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ropelab {

bool is_npy(std::string_view file);

// A row of whole numbers: as they are, but for those from 2^63 on, which become 2^63 - 1.
// Throws std::invalid_argument, in one sentence, where the file is not as read_token_ids says.
std::vector<std::int64_t> parse_npy_row(std::string_view file);

}  // namespace ropelab
