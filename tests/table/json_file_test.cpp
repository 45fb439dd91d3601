#include "ropelab/table/json_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "catch.hpp"
#include "ropelab/table/shown_name.hpp"

using namespace ropelab;

namespace {

// A file that goes away with the test.
class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { std::remove(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string path = (std::filesystem::temp_directory_path() /
                            ("ropelab-json-" + std::to_string(getpid()) + ".json"))
                               .string();
};

std::string json_refusal(const std::string& text) {
  const File file(text);
  try {
    read_json_file(file.path);
    return "it was taken";
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
}

}  // namespace

TEST_CASE("a JSON file keeps its numbers as they are written and its members in order") {
  const File file(R"({"b": {"x": 1.50, "y": [1e300]}, "a": "text", "c": null, "d": true})");
  const JsonValue root = read_json_file(file.path);
  REQUIRE(root.members.size() == 4);
  CHECK(root.members[0].name == "b");
  REQUIRE(root.find("b.x") != nullptr);
  CHECK(root.find("b.x")->text == "1.50");
  CHECK(root.find("b.z") == nullptr);
  CHECK(shown(*root.find("b")) == "an object");
  CHECK(shown(*root.find("b.y")) == "a list");
  CHECK(shown(*root.find("a")) == "\"text\"");
  CHECK(shown(*root.find("c")) == "null");
  CHECK(shown(*root.find("d")) == "true");
}

TEST_CASE("a JSON file with a name twice, no object, or too deep is refused") {
  CHECK_THAT(json_refusal(R"({"a": {"b": 1, "c": 2, "b": 1}})"),
             ContainsSubstring(".json': it has 'b' more than once; once would be right"));
  CHECK(json_refusal(R"({"a": {"b": 1}, "b": {"b": 1}})") == "it was taken");
  CHECK_THAT(json_refusal("[1]"), ContainsSubstring("it holds a list; an object"));
  CHECK_THAT(json_refusal("{\n\"a\": }"), ContainsSubstring("line 2: this is not JSON: "));
  CHECK_THAT(json_refusal("{\"a\": " + std::string(200, '[')),
             ContainsSubstring("it nests more than 100 levels deep"));
}

TEST_CASE("an object of many members is read in linear time, and refused in a short sentence") {
  std::string text = "{";
  for (int n = 0; n < 200000; ++n) text += "\"" + std::to_string(n) + "\":0,";
  CHECK_THAT(json_refusal(text + "\"77\":0}"), ContainsSubstring("it has '77' more than once"));
  CHECK(json_refusal("{\"a\": \"" + std::string(1000000, 'x')).size() < 400);
}

TEST_CASE("names are shown without control characters, long ones cut off") {
  CHECK(shown_name("a\x1b[31m\n") == "'a\\x1b[31m\\x0a'");
  CHECK(shown_name("\xef\xbb\xbf"
                   "1") == "'\\xef\\xbb\\xbf1'");
  CHECK(shown_name("\xc2\x9b") == "'\\xc2\\x9b'");
  CHECK(shown_name("1\xff\xc3"
                   "2") == "'1\\xff\\xc32'");
  // Longer than needed, half of a pair, past the last.
  CHECK(shown_name("\xe0\x80\xaf\xed\xa0\x80\xf4\x90\x80\x80") ==
        "'\\xe0\\x80\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80'");
  for (const std::string good : {"\xc2\xa0", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    CHECK(shown_name(good) == "'" + good + "'");
  }
  CHECK(cut_off(std::string(100, 'x')) == std::string(100, 'x'));
  CHECK(cut_off(std::string(99, 'x') + "\xe2\x82\xac") == std::string(99, 'x') + "...");
}
