#include "ropelab/table/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace ropelab {

std::string read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Reading an empty file into a stream fails too, though nothing is wrong with it.
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf())) ||
      file.bad()) {
    throw std::invalid_argument(std::generic_category().message(errno));
  }
  return text.str();
}

}  // namespace ropelab
