// How this room refuses what it reads; internal to it.
#pragma once

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace ropelab {

// Throws std::invalid_argument with the sentence; who opened the file puts its name before it.
template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> sentence, Parts&&... parts) {
  throw std::invalid_argument(fmt::format(sentence, std::forward<Parts>(parts)...));
}

}  // namespace ropelab
