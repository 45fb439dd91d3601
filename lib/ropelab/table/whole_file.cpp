#include "ropelab/table/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <forward_list>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ropelab {
namespace {

// Names that a signal handler may have to remove: all that it reads.
std::array<std::atomic<const char*>, 256> unfinished_files;

// A copy that is never freed, since a signal handler could be reading it.
const char* lasting_copy(const std::string& name) {
  static std::mutex mutex;
  static auto& names = *new std::forward_list<std::string>;
  const std::lock_guard lock(mutex);
  return names.emplace_front(name).c_str();
}

void remember(const std::string& temporary) {
  const char* name = lasting_copy(temporary);
  for (auto& slot : unfinished_files) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, name)) return;
  }
}

void forget(const std::string& temporary) noexcept {
  for (auto& slot : unfinished_files) {
    const char* name = slot.load();
    if (name != nullptr && temporary == name) slot.store(nullptr);
  }
}

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(fmt::format("'{}' cannot be written: {}", path, why));
}

// Where a symbolic link leads: the link is to stay and its target to be replaced.
std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

// A name beside `path`, different for every process and every file of it. Short, since
// `path` may be as long as names can be.
std::string temporary_beside(const std::string& path) {
  static std::atomic<int> count = 0;
  const auto folder = std::filesystem::path(path).parent_path();
  return (folder / fmt::format(".ropelab-{}-{}.tmp", getpid(), count++)).string();
}

int open_new(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

void refuse_impossible_name(const std::string& path) {
  const std::filesystem::path name(path);
  if (path.empty()) refuse(path, "it is no name");
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  if (std::filesystem::is_directory(status)) refuse(path, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_character_file(status)) {
    refuse(path,
           "it is a pipe or the like, and no file; write to standard output, redirected to it");
  }
  if (!name.has_filename()) refuse(path, "it names a folder that does not exist");
  if (status.type() == std::filesystem::file_type::none) refuse(path, error.message());
  if (std::filesystem::exists(status) && access(path.c_str(), W_OK) != 0) {
    refuse(path, reason(errno));
  }
  const auto folder = name.parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  const bool exists = std::filesystem::exists(folder, error);
  refuse(path, fmt::format("'{}' is {}", folder.string(),
                           exists ? "a file and no folder" : "a folder that does not exist"));
}

bool is_device(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_character_file(path, error);
}

}  // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path)) {
  refuse_impossible_name(path_);
  if (is_device(path_)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) refuse(path_, reason(errno));
    return;
  }
  temporary_ = temporary_beside(behind_links(path_));
  remember(temporary_);
  descriptor_ = open_new(temporary_);
  if (descriptor_ < 0) {
    const int error = errno;
    forget(temporary_);
    refuse(path_, reason(error));
  }
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

WholeFile::~WholeFile() { close_and_remove(); }

void WholeFile::close_and_remove() noexcept {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget(temporary_);
  temporary_.clear();
}

void WholeFile::write(std::string_view text) {
  try {
    write_all(descriptor_, text);
  } catch (const std::runtime_error& error) {
    refuse(path_, error.what());
  }
}

void WholeFile::commit() {
  if (close(std::exchange(descriptor_, -1)) != 0) refuse(path_, reason(errno));
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), behind_links(path_).c_str()) != 0) refuse(path_, reason(errno));
  forget(temporary_);
  temporary_.clear();
}

void remove_unfinished_files() noexcept {
  for (auto& slot : unfinished_files) {
    if (const char* name = slot.load()) unlink(name);
  }
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(std::error_code(errno, std::generic_category()));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace ropelab
