#include "app/files_in_use.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

// Where a name leads, whether there is such a file yet or not.
std::filesystem::path place_of(const std::string& path) {
  std::error_code error;
  const auto place =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? std::filesystem::path(path) : place;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::is_character_file(a, error)) return false;
  if (std::filesystem::is_regular_file(a, error) && std::filesystem::equivalent(a, b, error)) {
    return true;
  }
  return place_of(a) == place_of(b);
}

}  // namespace

FilesInUse::FilesInUse(const std::vector<std::string>& read) {
  for (const std::string& path : read) files_.push_back({path, ""});
}

void FilesInUse::add_written(const std::string& option, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    for (const File& file : files_) {
      if (!is_same_file(path, file.path)) continue;
      throw UsageError(
          option, file.writer.empty()
                      ? fmt::format("'{}' would replace '{}', which is read; name another file",
                                    path, file.path)
                      : fmt::format("'{}' is a file that {} writes as well; name another file",
                                    path, file.writer));
    }
  }
  for (const std::string& path : paths) files_.push_back({path, option});
}

}  // namespace ropelab::app
