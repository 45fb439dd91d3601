// An empty folder that goes away with the test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ropelab {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("ropelab-checkpoint-" + std::to_string(getpid()) + "-" + std::to_string(made_++))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  // Writes a file in it and gives its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return *this / name;
  }

 private:
  static inline int made_ = 0;  // tells those of one test from each other
  std::filesystem::path path_;
};

}  // namespace ropelab
