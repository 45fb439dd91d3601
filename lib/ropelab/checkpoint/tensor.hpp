// Tensors as a checkpoint stores them, and their elements as numbers to compute with.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropelab {

// The element types of the safetensors format. Those that hold no real numbers of 16 bits or more
// can be listed, but not widened.
enum class TensorType {
  boolean,
  float4,
  float6_e2m3,
  float6_e3m2,
  uint8,
  int8,
  float8_e5m2,
  float8_e4m3,
  float8_e8m0,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  int16,
  uint16,
  float16,
  bfloat16,
  int32,
  uint32,
  float32,
  complex64,
  float64,
  int64,
  uint64,
};

// The type that files call so ("BF16"); nothing where there is none.
std::optional<TensorType> find_tensor_type(std::string_view name);

// What files call it, and how many bits an element takes.
std::string_view name_of(TensorType type);
int bits_of(TensorType type);

// All names, for sentences: "BOOL, F4, ...".
std::string tensor_type_names();

// Whether widen takes it: float16, bfloat16, float32 and float64.
bool is_real(TensorType type);

// A view of bytes that something else holds, the mapped file of a SafetensorsFile as a rule, and
// valid as long as that. `bytes` may begin at any address: nothing is aligned.
struct Tensor {
  std::string name;
  TensorType type;
  std::vector<std::size_t> shape;    // empty for a scalar
  std::span<const std::byte> bytes;  // little-endian, row-major, without gaps

  // The product of the shape: how many elements there are.
  std::size_t count() const;
};

// "[2, 3]"; a long one is cut off after eight numbers.
std::string shown_shape(std::span<const std::size_t> shape);

// The elements first, first+1, ... of the tensor in row-major order, as many as `out` takes. Every
// float16, bfloat16 and float32 is a float and every one of the four types a double, so that
// nothing is rounded but float64 to float, which goes to nearest, ties to even. Subnormals,
// infinities and the sign of zero are kept; NaN stays NaN. Where the processor is set to flush
// subnormal numbers, float16 is widened all the same. `out` must not overlap the tensor's bytes.
// Throws std::invalid_argument if the type is none of these or the tensor has not so many elements.
// Scalar is float or double.
template <class Scalar>
void widen(const Tensor& tensor, std::size_t first, std::span<Scalar> out);

// The whole tensor; `out` must have its count().
template <class Scalar>
void widen(const Tensor& tensor, std::span<Scalar> out);

}  // namespace ropelab
