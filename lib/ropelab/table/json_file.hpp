// JSON files whose numbers are kept as they are written, so that they can be read exactly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ropelab {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;                // a number as it stands, true or false, or what a string holds
  std::string name;                // as a member of an object
  std::vector<JsonValue> members;  // of an object or an array, in order

  // A member, or one of a member ("rope_scaling.factor"). Nothing where it is not there.
  const JsonValue* find(std::string_view path) const;
};

// As a sentence shows a value: 4096, "yarn", null, "a list", "an object". A long one is cut off.
std::string shown(const JsonValue& value);

// Throws std::invalid_argument, in one sentence that begins with the path, where the file cannot be
// read, is not JSON (with the line), holds no object, nests too deeply, or names something twice.
JsonValue read_json_file(const std::string& path);
// The same of regular files alone, for names that nobody gives a pipe.
JsonValue read_regular_json_file(const std::string& path);

// The reason alone, of what nlohmann::json's exceptions say: "[json.exception.parse_error.101]
// parse error at line 2, column 3: the reason".
std::string json_reason(std::string_view message);

}  // namespace ropelab
