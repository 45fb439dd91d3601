#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "ropelab/checkpoint/refusal.hpp"
#include "ropelab/checkpoint/safetensors.hpp"
#include "ropelab/table/json_file.hpp"
#include "ropelab/table/shown_name.hpp"

namespace ropelab {
namespace {

constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

// What the header says of a tensor, as it is read.
struct Entry {
  std::string name;
  std::optional<TensorType> type;
  std::optional<std::vector<std::size_t>> shape, offsets;
};

// Takes the header as the parser comes across its parts, and refuses whatever has no place there.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> take() { return std::move(entries_); }

  bool null() override { return value("null"); }
  bool boolean(bool is_true) override { return value(is_true ? "true" : "false"); }
  // Only what is written with a minus comes here.
  bool number_integer(number_integer_t number) override {
    return value(number == 0 ? "-0" : fmt::format("{}", number));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return value(cut_off(written));
  }
  bool binary(binary_t&) override { return false; }  // JSON has none

  bool number_unsigned(number_unsigned_t number) override {
    static_assert(sizeof(std::size_t) == sizeof(number_unsigned_t));
    if (place_ != Place::list) return value(fmt::format("{}", number));
    list().push_back(number);
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::tensor || key_ != "dtype") return value(shown_name(text));
    entries_.back().type = find_tensor_type(text);
    if (!entries_.back().type) value(shown_name(text));
    return true;
  }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::outside:
        place_ = Place::header;
        return true;
      case Place::header:
        place_ = key_ == kMetadata ? Place::metadata : Place::tensor;
        return true;
      default:
        return value("an object");
    }
  }

  bool end_object() override {
    if (place_ == Place::tensor) require_complete(entries_.back());
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") return value("a list");
    place_ = Place::list;
    list().clear();
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& name) override {
    switch (place_) {
      case Place::header:
        name_tensor(name);
        break;
      case Place::metadata:
        if (!texts_.insert(name).second) {
          refuse("{} has {} more than once; once would be right", kMetadata, shown_name(name));
        }
        break;
      default:
        name_part(name);
    }
    key_ = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& problem) override {
    refuse("its header is not JSON at byte {}: {}; one object of JSON would be right", position,
           json_reason(problem.what()));
  }

 private:
  enum class Place { outside, header, metadata, tensor, list };

  void name_tensor(const std::string& name) {
    if (!names_.insert(name).second) {
      refuse("its header has {} more than once; once would be right", shown_name(name));
    }
    if (name != kMetadata) entries_.emplace_back().name = name;
  }

  void name_part(const std::string& name) {
    const Entry& entry = entries_.back();
    const bool is_type = name == "dtype", is_shape = name == "shape";
    if (!is_type && !is_shape && name != "data_offsets") {
      refuse("tensor {} has {}; dtype, shape and data_offsets alone would be right",
             shown_name(entry.name), shown_name(name));
    }
    if (is_type ? entry.type.has_value() : (is_shape ? entry.shape : entry.offsets).has_value()) {
      refuse("tensor {} has {} more than once; once would be right", shown_name(entry.name), name);
    }
  }

  std::vector<std::size_t>& list() {
    auto& numbers = key_ == "shape" ? entries_.back().shape : entries_.back().offsets;
    if (!numbers) numbers.emplace();
    return *numbers;
  }

  // Refuses a value where another is wanted.
  bool value(const std::string& shown) const {
    switch (place_) {
      case Place::outside:
        refuse("its header is {}; an object, {{...}}, would be right", shown);
      case Place::metadata:
        refuse("{} has {} for {}; a text would be right", kMetadata, shown, shown_name(key_));
      case Place::header:
        if (key_ == kMetadata) {
          refuse("{} is {}; an object of texts would be right", kMetadata, shown);
        }
        refuse("tensor {} is {}; an object of dtype, shape and data_offsets would be right",
               shown_name(key_), shown);
      case Place::list:
        refuse("tensor {}: {} holds {}; whole numbers from 0 to {} would be right",
               shown_name(entries_.back().name), key_, shown,
               std::numeric_limits<std::size_t>::max());
      case Place::tensor:
        break;
    }
    if (key_ == "dtype") {
      refuse("tensor {}: dtype is {}; one of {} would be right", shown_name(entries_.back().name),
             shown, tensor_type_names());
    }
    refuse("tensor {}: {} is {}; a list of whole numbers would be right",
           shown_name(entries_.back().name), key_, shown);
  }

  static void require_complete(const Entry& entry) {
    const std::string_view missing = !entry.type      ? "dtype"
                                     : !entry.shape   ? "shape"
                                     : !entry.offsets ? "data_offsets"
                                                      : "";
    if (!missing.empty()) {
      refuse("tensor {} has no {}; dtype, shape and data_offsets would be right",
             shown_name(entry.name), missing);
    }
    if (entry.offsets->size() != 2) {
      refuse("tensor {}: data_offsets holds {} numbers; two, begin and end, would be right",
             shown_name(entry.name), entry.offsets->size());
    }
  }

  Place place_ = Place::outside;
  std::string key_;  // the last one
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_, texts_;  // of tensors, and in the metadata
};

std::string_view header_of(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    refuse("it holds {} bytes; at least {}, the length of the header, would be right", file.size(),
           kLengthBytes);
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kLongestHeader) {
    refuse("its header is said to take {} bytes; at most {} would be right", length,
           kLongestHeader);
  }
  if (length > file.size() - kLengthBytes) {
    refuse("its header is said to take {} bytes, but only {} follow; as many would be right",
           length, file.size() - kLengthBytes);
  }
  return {reinterpret_cast<const char*>(file.data()) + kLengthBytes,
          static_cast<std::size_t>(length)};
}

std::vector<Entry> entries_of(std::string_view header) {
  if (header.empty()) refuse("its header is empty; an object, {{...}}, would be right");
  if (header.front() != '{') {
    refuse("its header begins with the byte 0x{:02x}; 0x7b, {{, would be right",
           static_cast<unsigned char>(header.front()));
  }
  // The parser would take it for the end.
  if (const auto zero = header.find('\0'); zero != std::string_view::npos) {
    refuse("its header has a zero at byte {}; JSON, which has none, would be right", zero + 1);
  }
  HeaderReader reader;
  nlohmann::json::sax_parse(header.begin(), header.end(), &reader);
  return reader.take();
}

// The bytes that the shape takes.
std::size_t bytes_of(const Entry& entry) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t bits = static_cast<std::size_t>(bits_of(*entry.type));
  const auto& shape = *entry.shape;
  for (const std::size_t size : shape) {
    if (size != 0 && bits > most / size) {
      refuse("tensor {}: its shape {} takes more bytes than can be counted; fewer would be right",
             shown_name(entry.name), shown_shape(shape));
    }
    bits *= size;
  }
  if (bits % 8 != 0) {
    refuse("tensor {}: its shape {} of {} takes {} bits; a whole number of bytes would be right",
           shown_name(entry.name), shown_shape(shape), name_of(*entry.type), bits);
  }
  return bits / 8;
}

void require_sound(const Entry& entry, std::size_t data_bytes) {
  const std::size_t begin = entry.offsets->front(), end = entry.offsets->back();
  if (begin > end) {
    refuse(
        "tensor {}: data_offsets is [{}, {}]; an end that is not before the begin would be right",
        shown_name(entry.name), begin, end);
  }
  if (end > data_bytes) {
    refuse(
        "tensor {}: data_offsets is [{}, {}], but the file has {} bytes of data; "
        "an end up to that would be right",
        shown_name(entry.name), begin, end, data_bytes);
  }
  const std::size_t bytes = bytes_of(entry);
  if (bytes == end - begin) return;
  refuse(
      "tensor {}: its shape {} of {} takes {} bytes, but data_offsets [{}, {}] hold {}; "
      "as many would be right",
      shown_name(entry.name), shown_shape(*entry.shape), name_of(*entry.type), bytes, begin, end,
      end - begin);
}

// That entries in the order of their data cover it, each byte once.
void require_cover(const std::vector<Entry>& entries, std::size_t data_bytes) {
  const auto refuse_gap = [](std::size_t begin, std::size_t end) {
    refuse("bytes {} to {} of its data belong to no tensor; every byte in one would be right",
           begin, end - 1);
  };
  std::size_t covered = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    const std::size_t begin = entry.offsets->front();
    if (begin > covered) refuse_gap(covered, begin);
    if (begin < covered) {
      refuse("tensor {} begins at byte {} of the data, inside tensor {}; behind it would be right",
             shown_name(entry.name), begin, shown_name(before->name));
    }
    covered = entry.offsets->back();
    before = &entry;
  }
  if (covered < data_bytes) refuse_gap(covered, data_bytes);
}

}  // namespace

std::vector<Tensor> parse_safetensors(std::span<const std::byte> file) {
  const std::string_view header = header_of(file);
  const auto data = file.subspan(kLengthBytes + header.size());
  std::vector<Entry> entries = entries_of(header);
  for (const Entry& entry : entries) require_sound(entry, data.size());
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(*a.offsets, a.name) < std::tie(*b.offsets, b.name);
  });
  require_cover(entries, data.size());
  std::vector<Tensor> tensors;
  tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    const std::size_t begin = entry.offsets->front(), end = entry.offsets->back();
    tensors.push_back({std::move(entry.name), *entry.type, std::move(*entry.shape),
                       data.subspan(begin, end - begin)});
  }
  return tensors;
}

}  // namespace ropelab
