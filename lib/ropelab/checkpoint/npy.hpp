// NumPy's .npy files of whole numbers; internal to this room.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ropelab {

bool is_npy(std::string_view file);

// A row of token ids, each at least 0 and below `vocabulary`. Throws std::invalid_argument, in one
// sentence, where the file is not as read_token_ids says; `right` is what it says of an id that is
// out of range ("whole numbers from 0 to 255 would be right").
std::vector<std::int32_t> parse_npy_ids(std::string_view file, long long vocabulary,
                                        std::string_view right);

}  // namespace ropelab
