#include "ropelab/table/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace ropelab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_with_reason(int error) {
  throw std::invalid_argument(std::generic_category().message(error));
}

[[noreturn]] void refuse_length() {
  throw std::invalid_argument(
      fmt::format("it is longer than {} bytes, the most that is read; a shorter one would be right",
                  kMostBytesOfFile));
}

}  // namespace

std::string read_beginning_of_file(const std::string& path, std::size_t bytes) {
  constexpr std::size_t at_a_time = std::size_t{1} << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_with_reason(errno);
  std::string text;
  while (file && text.size() < bytes) {
    const std::size_t read = text.size(), more = std::min(at_a_time, bytes - read);
    text.resize(read + more);
    file.read(text.data() + read, static_cast<std::streamsize>(more));
    text.resize(read + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) refuse_with_reason(errno);
  return text;
}

std::string read_text_file(const std::string& path) {
  std::error_code problem;
  const bool is_regular = fs::is_regular_file(path, problem);
  const auto size = is_regular ? fs::file_size(path, problem) : 0;
  if (!problem && size > kMostBytesOfFile) refuse_length();
  std::string text = read_beginning_of_file(path, kMostBytesOfFile + 1);
  if (text.size() > kMostBytesOfFile) refuse_length();
  return text;
}

void require_regular_file(const std::string& path, const std::string& wanted) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::not_found) refuse_with_reason(ENOENT);
  if (problem) throw std::invalid_argument(problem.message());
  if (fs::is_regular_file(status)) return;
  throw std::invalid_argument(fmt::format("this is not a file; {} would be right", wanted));
}

}  // namespace ropelab
