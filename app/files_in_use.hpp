// The files of one run: none is written twice, and none that is read is written.
#pragma once

#include <string>
#include <vector>

namespace ropelab::app {

class FilesInUse {
 public:
  FilesInUse() = default;
  // Those that are read.
  explicit FilesInUse(const std::vector<std::string>& read);

  // Keeps the files that an option ("-o") writes, the one it names first. Throws UsageError of that
  // option where one of them is read, or is what another option writes, by whatever name. Devices
  // can be written twice.
  void add_written(const std::string& option, const std::vector<std::string>& paths);

 private:
  struct File {
    std::string path;
    std::string writer;  // the option; empty for a file that is read
  };
  std::vector<File> files_;
};

}  // namespace ropelab::app
