// Safetensors files put together by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace ropelab {

// The length of the header, the header, and so many bytes of data: 0, 1, 2, ...
inline std::string safetensors(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  file += header;
  for (std::size_t n = 0; n < data_bytes; ++n) file += static_cast<char>(n);
  return file;
}

inline std::span<const std::byte> bytes_of(const std::string& file) {
  return std::as_bytes(std::span(file.data(), file.size()));
}

}  // namespace ropelab
