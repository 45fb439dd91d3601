#include "ropelab/table/whole_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "catch.hpp"
#include "temporary_folder.hpp"

using namespace ropelab;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("a file has its name only once it is complete") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.csv";
  WholeFile file(path);
  file.write("a,b\n");
  CHECK(!fs::exists(path));
  file.commit();
  CHECK(contents(path) == "a,b\n");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("a file that is given up leaves nothing, and the one before as it was") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.csv";
  put(path, "before");
  {
    WholeFile file(path);
    file.write("half");
  }
  CHECK(contents(path) == "before");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("a moved file is still committed once") {
  const TemporaryFolder folder;
  WholeFile first(folder / "x.csv");
  WholeFile second(std::move(first));
  second.write("x");
  second.commit();
  CHECK(contents(folder / "x.csv") == "x");
}

TEST_CASE("a symbolic link stays, and its target is replaced") {
  const TemporaryFolder folder;
  put(folder / "target.csv", "before");
  fs::create_symlink("target.csv", folder / "link.csv");
  WholeFile file(folder / "link.csv");
  file.write("after");
  file.commit();
  CHECK(fs::is_symlink(folder / "link.csv"));
  CHECK(contents(folder / "target.csv") == "after");
}

TEST_CASE("paths that cannot be written are refused and nothing is left behind") {
  const TemporaryFolder folder;
  put(folder / "file", "");
  const std::string too_long(300, 'x');
  for (const std::string& path :
       {std::string(), folder / "", folder / ".", folder / "missing/x.csv", folder / "new/",
        folder / "file/x.csv", folder / too_long.c_str()}) {
    CAPTURE(path);
    CHECK_THROWS_AS(WholeFile(path), std::runtime_error);
  }
  CHECK(folder.names().size() == 1);
}

TEST_CASE("a folder or file without permission is refused") {
  if (geteuid() == 0) return;  // root may write everywhere
  const TemporaryFolder folder;
  put(folder / "read-only.csv", "before");
  fs::permissions(folder / "read-only.csv", fs::perms::owner_read);
  CHECK_THROWS_AS(WholeFile(folder / "read-only.csv"), std::runtime_error);
  fs::create_directory(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THROWS_AS(WholeFile(folder / "closed/x.csv"), std::runtime_error);
}

TEST_CASE("a device is written directly, and its failure is reported") {
  WholeFile null("/dev/null");
  null.write("x");
  null.commit();
  WholeFile full("/dev/full");
  CHECK_THROWS_AS(full.write("x"), std::runtime_error);
}

TEST_CASE("unfinished files can be removed from a signal handler") {
  const TemporaryFolder folder;
  WholeFile file(folder / "x.csv");
  CHECK(folder.names().size() == 1);
  remove_unfinished_files();
  CHECK(folder.names().size() == 0);
}
