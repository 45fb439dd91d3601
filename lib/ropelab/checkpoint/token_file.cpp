#include "ropelab/checkpoint/token_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "ropelab/checkpoint/npy.hpp"
#include "ropelab/table/shown_name.hpp"
#include "ropelab/table/text_file.hpp"

namespace ropelab {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string right_ids(long long vocabulary) {
  return fmt::format("whole numbers from 0 to {} would be right", vocabulary - 1);
}

// Reads ids one after the other and knows the line that it is in.
class TextReader {
 public:
  TextReader(std::string_view text, long long vocabulary) : text_(text), vocabulary_(vocabulary) {}

  std::vector<std::int32_t> read() {
    std::vector<std::int32_t> ids;
    skip_space();
    while (place_ < text_.size()) {
      ids.push_back(id());
      skip_space();
      if (place_ == text_.size() || text_[place_] != ',') continue;
      ++place_;
      skip_space();
      if (place_ == text_.size()) refuse("there is a comma behind the last id");
    }
    return ids;
  }

 private:
  std::int32_t id() {
    const auto end = std::min(text_.find_first_of(" \t\r\n\v\f,", place_), text_.size());
    const std::string_view word = text_.substr(place_, end - place_);
    if (word.empty()) refuse("there is a comma without an id before it");
    std::int32_t value = 0;
    const auto [stop, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || stop != word.data() + word.size() || word[0] == '-' ||
        value >= vocabulary_) {
      refuse(fmt::format("{} is no token id", shown_name(word)));
    }
    place_ = end;
    return value;
  }

  void skip_space() { place_ = std::min(text_.find_first_not_of(kSpace, place_), text_.size()); }

  [[noreturn]] void refuse(const std::string& problem) const {
    const auto here = text_.begin() + static_cast<std::ptrdiff_t>(place_);
    throw std::invalid_argument(fmt::format("line {}: {}; {}",
                                            1 + std::count(text_.begin(), here, '\n'), problem,
                                            right_ids(vocabulary_)));
  }

  std::string_view text_;
  long long vocabulary_;
  std::size_t place_ = 0;
};

// What `read` makes of the file, with the path before its complaints.
template <class Read>
std::vector<std::int32_t> read_ids(const std::string& path, Read read) {
  try {
    auto ids = read();
    if (ids.empty()) throw std::invalid_argument("there are no tokens in it; one would be right");
    return ids;
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
}

}  // namespace

std::vector<std::int32_t> read_token_ids(const std::string& path, long long vocabulary) {
  return read_ids(path, [&] {
    const std::string file = read_text_file(path);
    return is_npy(file) ? parse_npy_ids(file, vocabulary, right_ids(vocabulary))
                        : TextReader(file, vocabulary).read();
  });
}

std::vector<std::int32_t> read_bytes_as_ids(const std::string& path,
                                            std::optional<std::size_t> most) {
  return read_ids(path, [&] {
    const std::string file = most ? read_beginning_of_file(path, *most) : read_text_file(path);
    std::vector<std::int32_t> ids(file.size());
    std::transform(file.begin(), file.end(), ids.begin(),
                   [](char c) { return static_cast<std::int32_t>(static_cast<unsigned char>(c)); });
    return ids;
  });
}

}  // namespace ropelab
