#include "ropelab/checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "ropelab/table/text_file.hpp"

namespace ropelab {

class SafetensorsFile::Mapping {
 public:
  explicit Mapping(const std::string& path) {
    namespace ipc = boost::interprocess;
    require_regular_file(path, "a safetensors file");
    if (std::filesystem::file_size(path) == 0) return;  // which cannot be mapped
    try {
      region_ = ipc::mapped_region(ipc::file_mapping(path.c_str(), ipc::read_only), ipc::read_only);
    } catch (const ipc::interprocess_exception& problem) {
      throw std::invalid_argument(std::generic_category().message(problem.get_native_error()));
    }
  }

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(region_.get_address()), region_.get_size()};
  }

 private:
  boost::interprocess::mapped_region region_;
};

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  try {
    mapping_ = std::make_unique<Mapping>(path);
    tensors_ = parse_safetensors(mapping_->bytes());
  } catch (const std::exception& problem) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, problem.what()));
  }
  for (const Tensor& tensor : tensors_) by_name_.emplace(tensor.name, &tensor);
}

SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

const Tensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace ropelab
