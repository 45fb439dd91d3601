#include "ropelab/checkpoint/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "ropelab/checkpoint/refusal.hpp"
#include "ropelab/table/shown_name.hpp"

namespace ropelab {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The header is a dictionary as Python writes it: text, True or False, and tuples of numbers.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!take('}')) {
      const std::string key = text();
      expect(':');
      if (key == "descr") {
        once(header.descr, key) = text();
      } else if (key == "fortran_order") {
        once(header.fortran_order, key) = truth();
      } else if (key == "shape") {
        once(header.shape, key) = tuple();
      } else {
        refuse("its header has {}; descr, fortran_order and shape alone would be right",
               shown_name(key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (place_ != text_.size()) broken();
    return header;
  }

 private:
  template <class Value>
  static std::optional<Value>& once(std::optional<Value>& value, const std::string& key) {
    if (value) refuse("its header has {} more than once; once would be right", key);
    return value.emplace(), value;
  }

  [[noreturn]] void broken() const {
    refuse("its header is no dictionary of descr, fortran_order and shape, from byte {} on: {}",
           place_ + 1, shown_name(text_.substr(place_)));
  }

  void skip_space() {
    while (place_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[place_]) != std::string_view::npos) {
      ++place_;
    }
  }

  bool take(char c) {
    skip_space();
    if (place_ == text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) broken();
  }

  std::string text() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote, place_);
    if (end == std::string_view::npos) broken();
    std::string result(text_.substr(place_, end - place_));
    place_ = end + 1;
    return result;
  }

  bool truth() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(place_, word.size()) != word) continue;
      place_ += word.size();
      return value;
    }
    broken();
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> numbers;
    expect('(');
    while (!take(')')) {
      numbers.push_back(number());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  std::uint64_t number() {
    skip_space();
    std::uint64_t value = 0;
    const char* const begin = text_.data() + place_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (problem != std::errc()) broken();
    place_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

template <class Stored>
std::vector<std::int32_t> ids_of(std::string_view data, long long vocabulary,
                                 std::string_view right) {
  std::vector<std::int32_t> ids(data.size() / sizeof(Stored));
  for (std::size_t n = 0; n < ids.size(); ++n) {
    Stored stored;
    std::memcpy(&stored, data.data() + n * sizeof(Stored), sizeof(Stored));
    if (std::cmp_less(stored, 0) || std::cmp_greater_equal(stored, vocabulary)) {
      refuse("number {} of {} is {}; {}", n + 1, ids.size(), stored, right);
    }
    ids[n] = static_cast<std::int32_t>(stored);
  }
  return ids;
}

struct NumberKind {
  std::string_view descr;  // without the byte order
  std::size_t bytes;
  std::vector<std::int32_t> (*read)(std::string_view, long long, std::string_view);
};

constexpr std::array<NumberKind, 8> kKinds = {{
    {"i1", 1, ids_of<std::int8_t>},
    {"i2", 2, ids_of<std::int16_t>},
    {"i4", 4, ids_of<std::int32_t>},
    {"i8", 8, ids_of<std::int64_t>},
    {"u1", 1, ids_of<std::uint8_t>},
    {"u2", 2, ids_of<std::uint16_t>},
    {"u4", 4, ids_of<std::uint32_t>},
    {"u8", 8, ids_of<std::uint64_t>},
}};

const NumberKind& kind_of(const std::string& descr) {
  const std::string_view kind =
      std::string_view(descr).substr(std::min<std::size_t>(1, descr.size()));
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const NumberKind& each) { return each.descr == kind; });
  const bool orderless = found != kKinds.end() && found->bytes == 1 && descr[0] == '|';
  if (found == kKinds.end() || (descr[0] != '<' && !orderless)) {
    refuse(
        "it holds numbers of type {}; whole numbers, little-endian (such as '<i8' or '<i4'), "
        "would be right",
        shown_name(descr));
  }
  return *found;
}

// The header, and where the data begins.
std::pair<std::string_view, std::size_t> header_of(std::string_view file) {
  const std::size_t version_end = kMagic.size() + 2;
  const char* const cut = "it ends within its header; a whole .npy file would be right";
  if (file.size() < version_end) refuse("{}", cut);
  const int major = static_cast<unsigned char>(file[kMagic.size()]);
  const int minor = static_cast<unsigned char>(file[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    refuse("it is of version {}.{} of .npy; 1.0, 2.0 or 3.0 would be right", major, minor);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::uint32_t length = 0;
  if (file.size() < version_end + length_bytes) refuse("{}", cut);
  std::memcpy(&length, file.data() + version_end, length_bytes);
  const std::size_t begin = version_end + length_bytes;
  if (length > file.size() - begin) refuse("{}", cut);
  return {file.substr(begin, length), begin + length};
}

}  // namespace

bool is_npy(std::string_view file) { return file.substr(0, kMagic.size()) == kMagic; }

std::vector<std::int32_t> parse_npy_ids(std::string_view file, long long vocabulary,
                                        std::string_view right) {
  const auto [text, data_begin] = header_of(file);
  const Header header = HeaderParser(text).parse();
  if (!header.descr || !header.fortran_order || !header.shape) {
    refuse("its header has no {}; descr, fortran_order and shape would be right",
           !header.descr           ? "descr"
           : !header.fortran_order ? "fortran_order"
                                   : "shape");
  }
  const NumberKind& kind = kind_of(*header.descr);
  if (*header.fortran_order) refuse("it is in Fortran order; C order would be right");
  const auto& shape = *header.shape;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[0] != 1)) {
    refuse("its shape is ({}); (L,) or (1, L) would be right", fmt::join(shape, ", "));
  }
  const std::string_view data = file.substr(data_begin);
  if (shape.back() != data.size() / kind.bytes || data.size() % kind.bytes != 0) {
    refuse("its shape is ({}) of {} bytes each, but {} bytes follow; as many would be right",
           fmt::join(shape, ", "), kind.bytes, data.size());
  }
  return kind.read(data, vocabulary, right);
}

}  // namespace ropelab
