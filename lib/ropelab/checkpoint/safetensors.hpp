// Files in the safetensors format: a length, a JSON header of that many bytes, the data.
//
// [ST] github.com/huggingface/safetensors, README.md, "Format": what the format is and forbids.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/checkpoint/tensor.hpp"

namespace ropelab {

// The tensors of a whole file in memory, as views into it, in the order of their data (of their
// names where they have none). Throws std::invalid_argument, in one sentence, unless
// - eight bytes give the length of the header, which is at most 100,000,000 and fits the file;
// - the header is one JSON object from its first byte on, spaces after it aside, which holds no
//   name twice: __metadata__, an object of texts, and tensors, objects of exactly dtype, shape and
//   data_offsets;
// - each dtype is known, and each shape takes just the bytes from one data offset to the other;
// - each byte of the data belongs to just one tensor.
std::vector<Tensor> parse_safetensors(std::span<const std::byte> file);

// Such a file, mapped into memory: opening it reads the header alone, and of the data the system
// reads what is used, when it is used. A file that is made shorter meanwhile raises SIGBUS, as
// with every mapped file.
class SafetensorsFile {
 public:
  // Throws std::invalid_argument, in one sentence that begins with the path, where it is no regular
  // file that can be read, and where parse_safetensors refuses it.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  const std::string& path() const { return path_; }

  // As parse_safetensors gives them; their bytes are valid as long as this object, or what it was
  // moved to, lives.
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // The tensor of that name; null where there is none.
  const Tensor* find(std::string_view name) const;

 private:
  class Mapping;

  std::string path_;
  std::unique_ptr<Mapping> mapping_;
  std::vector<Tensor> tensors_;
  std::map<std::string_view, const Tensor*> by_name_;
};

}  // namespace ropelab
