#include "ropelab/checkpoint/tensor.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "catch.hpp"
#include "ropelab/formats/format.hpp"

using namespace ropelab;

namespace {

// All encodings of 16 bits, from an odd address on.
class AllEncodings {
 public:
  explicit AllEncodings(TensorType type) : bytes_(1 + 2 * count) {
    for (std::size_t n = 0; n < count; ++n) {
      const auto bits = static_cast<std::uint16_t>(n);
      std::memcpy(bytes_.data() + 1 + 2 * n, &bits, 2);
    }
    tensor = {"all", type, {256, 256}, std::span(bytes_).subspan(1)};
  }

  static constexpr std::size_t count = 65536;
  Tensor tensor;

 private:
  std::vector<std::byte> bytes_;
};

template <class Scalar>
bool same(Scalar a, double b) {
  if (std::isnan(b)) return std::isnan(a);
  return static_cast<double>(a) == b && std::signbit(a) == std::signbit(b);
}

template <class Scalar>
std::size_t mistaken(TensorType type, const char* format) {
  const AllEncodings all(type);
  std::vector<Scalar> out(AllEncodings::count);
  widen(all.tensor, std::span(out));
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < out.size(); ++n) {
    wrong += same(out[n], decode(find_format(format), n)) ? 0 : 1;
  }
  return wrong;
}

template <class Stored>
Tensor tensor_of(const std::vector<Stored>& values, TensorType type) {
  return {"t", type, {values.size()}, std::as_bytes(std::span(values))};
}

}  // namespace

TEST_CASE("every float16 and bfloat16 is widened exactly, at any address") {
  CHECK(mistaken<float>(TensorType::float16, "float16") == 0);
  CHECK(mistaken<double>(TensorType::float16, "float16") == 0);
  CHECK(mistaken<float>(TensorType::bfloat16, "bfloat16") == 0);
  CHECK(mistaken<double>(TensorType::bfloat16, "bfloat16") == 0);
}

#ifdef __SSE2__
TEST_CASE("float16 is widened exactly where subnormal numbers are flushed, too") {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  const AllEncodings all(TensorType::float16);
  std::vector<float> out(AllEncodings::count);
  widen(all.tensor, std::span(out));
  _mm_setcsr(before);
  std::vector<float> wanted(AllEncodings::count);
  widen(all.tensor, std::span(wanted));
  CHECK(std::memcmp(out.data(), wanted.data(), out.size() * sizeof(float)) == 0);
}
#endif

TEST_CASE("float32 and float64 are widened, float64 to float rounded to nearest even") {
  const std::vector<float> floats = {1.5f, -0.0f, 1e-45f, std::numeric_limits<float>::infinity()};
  const std::vector<double> doubles = {1.5,          -0.0, 0x1.000001p0, 0x1.0000010000001p0,
                                       0x1.000003p0, 1e300};
  const Tensor float32 = tensor_of(floats, TensorType::float32);
  const Tensor float64 = tensor_of(doubles, TensorType::float64);

  std::vector<float> floats_out(4), doubles_as_floats(6);
  std::vector<double> floats_as_doubles(4), doubles_out(6);
  widen(float32, std::span(floats_out));
  widen(float32, std::span(floats_as_doubles));
  widen(float64, std::span(doubles_out));
  widen(float64, std::span(doubles_as_floats));

  CHECK(floats_out == floats);
  CHECK(std::signbit(floats_out[1]));
  CHECK(floats_as_doubles == std::vector<double>(floats.begin(), floats.end()));
  CHECK(doubles_out == doubles);
  CHECK(doubles_as_floats == std::vector<float>{1.5f, -0.0f, 1.0f, 0x1.000002p0f, 0x1.000004p0f,
                                                std::numeric_limits<float>::infinity()});
}

TEST_CASE("a part of a tensor is widened, and nothing beyond it") {
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6};
  const Tensor tensor = tensor_of(values, TensorType::float32);
  std::vector<double> out(4, -1);
  widen(tensor, 3, std::span(out).first(3));
  CHECK(out == std::vector<double>{3, 4, 5, -1});
  widen(tensor, 7, std::span(out).first(0));

  std::vector<double> many(8);
  const auto sentence = ContainsSubstring("of tensor 't' [7]");
  CHECK_THROWS_WITH(widen(tensor, 4, std::span(out)), sentence);
  CHECK_THROWS_WITH(widen(tensor, 8, std::span(out).first(0)), sentence);
  CHECK_THROWS_WITH(widen(tensor, std::size_t{0} - 1, std::span(out)), sentence);
  CHECK_THROWS_WITH(widen(tensor, std::span(many)), sentence);
  CHECK_THROWS_WITH(widen(tensor, std::span(many).first(6)), sentence);
}

TEST_CASE("types that hold no real numbers of 16 bits or more are listed, not widened") {
  const std::vector<std::int32_t> values = {1, 2};
  std::vector<float> out(2);
  CHECK_THROWS_WITH(widen(tensor_of(values, TensorType::int32), std::span(out)),
                    "tensor 't' is of type I32; F16, BF16, F32 or F64 would be right");
  CHECK(find_tensor_type("U64") == TensorType::uint64);
  CHECK(find_tensor_type("F8_E5M2FNUZ") == TensorType::float8_e5m2fnuz);
  CHECK(find_tensor_type("float32") == std::nullopt);
  CHECK(name_of(TensorType::bfloat16) == "BF16");
  CHECK(bits_of(TensorType::float6_e2m3) == 6);
  CHECK(bits_of(TensorType::complex64) == 64);
}

TEST_CASE("a scalar has one element, a shape with a zero none") {
  Tensor tensor{"t", TensorType::float32, {}, {}};
  CHECK(tensor.count() == 1);
  tensor.shape = {5, 0, 7};
  CHECK(tensor.count() == 0);
  CHECK(shown_shape(std::vector<std::size_t>(9, 1)) == "[1, 1, 1, 1, 1, 1, 1, 1, ...]");
}
