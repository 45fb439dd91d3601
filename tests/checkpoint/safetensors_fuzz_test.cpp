// Small files broken at random, the same way each time: each is either refused in a sentence or
// loaded as the format has it.
#include <algorithm>
#include <cctype>
#include <random>
#include <stdexcept>
#include <tuple>

#include "catch.hpp"
#include "checkpoint/safetensors_text.hpp"
#include "ropelab/checkpoint/safetensors.hpp"

using namespace ropelab;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return random() % end; }

std::vector<std::string> sound_files() {
  return {
      safetensors(R"({"__metadata__":{"format":"pt"},)"
                  R"("h.0.ln.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                  R"("h.0.ln.bias":{"dtype":"BF16","shape":[5],"data_offsets":[24,34]},)"
                  R"("word":{"dtype":"F16","shape":[3,2,1],"data_offsets":[34,46]}}   )",
                  46),
      safetensors(R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)"
                  R"("b":{"dtype":"I64","shape":[0],"data_offsets":[1,1]},)"
                  R"("c":{"dtype":"F64","shape":[1,1,1],"data_offsets":[1,9]}})",
                  9),
      safetensors("{}", 0),
  };
}

void flip_bytes(std::string& file, Random& random) {
  for (std::size_t n = 1 + below(random, 3); n > 0 && !file.empty(); --n) {
    const std::size_t place = below(random, file.size());
    file[place] = static_cast<char>(random());
  }
}

void truncate(std::string& file, Random& random) { file.resize(below(random, file.size() + 1)); }

void append(std::string& file, Random& random) { file.append(1 + below(random, 9), '\x20'); }

// Replaces a piece of the header by another, and sets its length right.
void edit_header(std::string& file, Random& random) {
  static const std::vector<std::string> pieces = {
      "",     "0",      "1",     "4",        "-1",     "1e3",          "18446744073709551615",
      ",",    "[",      "]",     "{",        "}",      "\"",           ":",
      "[]",   "{}",     "null",  "\"F32\"",  "\"U8\"", "\"shape\":",   "[4294967296,4294967296]",
      "\\u0", "\"a\":", "[0,0]", "\"BF16\"", "\x01",   "\"F6_E2M3\"",  std::string(1, '\0'),
      " ",    "9",      "24",    "\xc3",     "\"b\"",  "__metadata__", "data_offsets"};
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  std::string header = file.substr(8, length);
  const std::string data = file.substr(8 + header.size());
  const std::size_t begin = below(random, header.size() + 1);
  const std::size_t length_out = below(random, 4);  // in this order with every compiler
  header.replace(begin, length_out, pieces[below(random, pieces.size())]);
  file = safetensors(header, 0) + data;
}

// Puts another number where one stands, which leaves the JSON sound.
void edit_number(std::string& file, Random& random) {
  std::vector<std::size_t> digits;
  for (std::size_t n = 8; n < file.size(); ++n) {
    if (std::isdigit(static_cast<unsigned char>(file[n])) != 0) digits.push_back(n);
  }
  if (digits.empty()) return;
  const std::size_t place = digits[below(random, digits.size())];
  file[place] = static_cast<char>('0' + below(random, 10));
}

std::string mutated(std::string file, Random& random) {
  for (std::size_t n = 1 + below(random, 2); n > 0 && file.size() >= 8; --n) {
    switch (below(random, 8)) {
      case 0:
        flip_bytes(file, random);
        break;
      case 1:
        truncate(file, random);
        break;
      case 2:
        append(file, random);
        break;
      case 3:
      case 4:
        edit_number(file, random);
        break;
      default:
        edit_header(file, random);
    }
  }
  return file;
}

// What the format promises, said anew: the tensors tile the data, and each shape has its bytes.
bool is_consistent(const std::vector<Tensor>& tensors, const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  std::vector<std::tuple<const char*, const char*>> ranges;
  for (const Tensor& tensor : tensors) {
    const auto begin = reinterpret_cast<const char*>(tensor.bytes.data());
    ranges.emplace_back(begin, begin + tensor.bytes.size());
    long double bits = bits_of(tensor.type);
    for (const std::size_t size : tensor.shape) bits *= static_cast<long double>(size);
    if (bits != static_cast<long double>(tensor.bytes.size()) * 8) return false;
  }
  std::sort(ranges.begin(), ranges.end());
  const char* end = file.data() + 8 + length;
  for (const auto& [first, last] : ranges) {
    if (first != end) return false;
    end = last;
  }
  return end == file.data() + file.size();
}

// Reads every byte of every tensor, for the sanitizers to see, and widens what can be.
void use(const std::vector<Tensor>& tensors) {
  std::vector<float> numbers;
  unsigned sum = 0;
  for (const Tensor& tensor : tensors) {
    for (const std::byte byte : tensor.bytes) sum += static_cast<unsigned>(byte);
    if (!is_real(tensor.type)) continue;
    numbers.resize(tensor.count());
    widen(tensor, std::span(numbers));
  }
  CHECK(sum < 1u << 16);
}

bool is_sentence(const std::string& text) {
  return text.size() > 10 && text.size() < 2000 && text.find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("files broken at random are refused in a sentence or loaded soundly") {
  Random random(20240607);
  const auto sound = sound_files();
  std::size_t loaded = 0, refused = 0, inconsistent = 0, wordless = 0;
  for (int n = 0; n < 20000; ++n) {
    const std::string file = mutated(sound[below(random, sound.size())], random);
    try {
      const auto tensors = parse_safetensors(bytes_of(file));
      ++loaded;
      inconsistent += is_consistent(tensors, file) ? 0 : 1;
      use(tensors);
    } catch (const std::invalid_argument& problem) {
      ++refused;
      wordless += is_sentence(problem.what()) ? 0 : 1;
    }
  }
  CHECK(inconsistent == 0);
  CHECK(wordless == 0);
  // Neither is rare, or the test would see little.
  CHECK(loaded > 500);
  CHECK(refused > 10000);
}
