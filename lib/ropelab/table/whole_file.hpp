// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ropelab {

// A file to be. Until commit() it stands under a temporary name in the folder it is meant
// for, so that another one of that name stays as it was; unless committed, it is removed.
// A character device (/dev/null, say) has no such name and is written directly. A pipe is
// refused: to open it would wait for a reader.
class WholeFile {
 public:
  // Takes hold of the path before there is anything to write. Throws std::runtime_error, in
  // one sentence that quotes the path, where no file of that name can be written: an empty
  // path, a folder, a pipe, a missing folder, a lack of permission. Leaves nothing behind then.
  explicit WholeFile(std::string path);
  ~WholeFile();
  WholeFile(WholeFile&& other) noexcept;
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  WholeFile& operator=(WholeFile&&) = delete;

  const std::string& path() const { return path_; }

  // Writes the whole text. Throws std::runtime_error, quoting the path, where that fails.
  void write(std::string_view text);
  // Gives the file its name; nothing can be written after. Throws std::runtime_error.
  void commit();

 private:
  void close_and_remove() noexcept;

  std::string path_;
  std::string temporary_;  // empty for devices, and once committed
  int descriptor_ = -1;
};

// Removes every temporary file there is at this moment. Safe to call in a signal handler,
// after which the process must end.
void remove_unfinished_files() noexcept;

// Writes all of the text to an open file descriptor. Throws std::system_error, whose text is
// the system's reason.
void write_all(int descriptor, std::string_view text);

}  // namespace ropelab
