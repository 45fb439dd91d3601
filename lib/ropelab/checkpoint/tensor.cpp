#include "ropelab/checkpoint/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace ropelab {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read as they are stored");

struct NamedType {
  std::string_view name;
  int bits;
};

// In the order of TensorType.
constexpr std::array<NamedType, 22> kTypes = {{
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
}};

const NamedType& entry(TensorType type) { return kTypes[static_cast<std::size_t>(type)]; }

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// All ones where a < b, else zero; both below 2^31.
std::uint32_t mask_less(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(-static_cast<std::int32_t>(a < b));
}

// All three cases are computed and one is picked by masks, so that compilers make vectors of it:
// they make none of a floating-point operation that may be left out.
float from_float16(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const std::uint32_t normal = (magnitude << 13) + ((127u - 15u) << 23);
  // 2^-24 is both the unit of float16's subnormals and the last place of the floats from 1/2 to 1.
  const auto subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(0x3f000000u + magnitude) - 0.5f);
  const std::uint32_t is_subnormal = mask_less(magnitude, 0x0400u);
  const std::uint32_t is_finite = mask_less(magnitude, 0x7c00u);
  const std::uint32_t widened = (subnormal & is_subnormal) | (normal & ~is_subnormal);
  const std::uint32_t special = 0x7f800000u & ~is_finite;  // the largest exponent
  return std::bit_cast<float>(widened | special |
                              (static_cast<std::uint32_t>(bits & 0x8000u) << 16));
}

// Loads by memcpy: no address is aligned.
template <class Stored, class Scalar, class Convert>
void convert_all(const std::byte* from, std::span<Scalar> out, Convert convert) {
  Scalar* const to = out.data();
  const std::size_t count = out.size();
  for (std::size_t n = 0; n < count; ++n) {
    Stored stored;
    std::memcpy(&stored, from + n * sizeof(Stored), sizeof(Stored));
    to[n] = static_cast<Scalar>(convert(stored));
  }
}

void require_elements(const Tensor& tensor, std::size_t first, std::size_t count) {
  if (first <= tensor.count() && count <= tensor.count() - first) return;
  throw std::invalid_argument(fmt::format("{} elements from {} on are asked for of tensor '{}' {}",
                                          count, first, tensor.name, shown_shape(tensor.shape)));
}

}  // namespace

std::optional<TensorType> find_tensor_type(std::string_view name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const NamedType& type) { return type.name == name; });
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<TensorType>(found - kTypes.begin());
}

std::string_view name_of(TensorType type) { return entry(type).name; }
int bits_of(TensorType type) { return entry(type).bits; }

std::string tensor_type_names() {
  std::string names;
  for (const NamedType& type : kTypes) {
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

bool is_real(TensorType type) {
  return type == TensorType::float16 || type == TensorType::bfloat16 ||
         type == TensorType::float32 || type == TensorType::float64;
}

std::size_t Tensor::count() const {
  std::size_t product = 1;
  for (const std::size_t size : shape) product *= size;
  return product;
}

std::string shown_shape(std::span<const std::size_t> shape) {
  constexpr std::size_t most = 8;
  const auto start = shape.first(std::min(shape.size(), most));
  return fmt::format("[{}{}]", fmt::join(start, ", "), shape.size() > most ? ", ..." : "");
}

template <class Scalar>
void widen(const Tensor& tensor, std::size_t first, std::span<Scalar> out) {
  require_elements(tensor, first, out.size());
  const std::size_t size = static_cast<std::size_t>(bits_of(tensor.type)) / 8;
  const std::byte* const from = tensor.bytes.data() + first * size;
  switch (tensor.type) {
    case TensorType::float16:
      return convert_all<std::uint16_t>(from, out, from_float16);
    case TensorType::bfloat16:
      return convert_all<std::uint16_t>(from, out, from_bfloat16);
    case TensorType::float32:
      return convert_all<float>(from, out, [](float x) { return x; });
    case TensorType::float64:
      return convert_all<double>(from, out, [](double x) { return x; });
    default:
      throw std::invalid_argument(
          fmt::format("tensor '{}' is of type {}; F16, BF16, F32 or F64 would be right",
                      tensor.name, name_of(tensor.type)));
  }
}

template <class Scalar>
void widen(const Tensor& tensor, std::span<Scalar> out) {
  if (out.size() != tensor.count()) require_elements(tensor, 0, tensor.count() + 1);
  widen(tensor, 0, out);
}

template void widen(const Tensor&, std::size_t, std::span<float>);
template void widen(const Tensor&, std::size_t, std::span<double>);
template void widen(const Tensor&, std::span<float>);
template void widen(const Tensor&, std::span<double>);

}  // namespace ropelab
