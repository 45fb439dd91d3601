// Formats are held against three judges: a plain definition in this file, every encoding of
// the small formats, and Eigen's half and bfloat16.
#include "ropelab/formats/format.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <Eigen/Core>

#include "catch.hpp"

namespace {

using ropelab::all_formats;
using ropelab::decode;
using ropelab::encode;
using ropelab::find_format;
using ropelab::Format;
using ropelab::next_above;
using ropelab::next_below;
using ropelab::round_to;
using ropelab::ulp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Format> small_formats() {
  std::vector<Format> result;
  for (const Format& format : all_formats()) {
    if (format.bits <= 16) result.push_back(format);
  }
  return result;
}

// All numbers of a small format that are 0 or positive, in increasing order. Their encodings
// count up from 0.
std::vector<double> numbers_of(const Format& format) {
  std::vector<double> result;
  for (std::uint64_t bits = 0;; ++bits) {
    const double x = decode(format, bits);
    if (!std::isfinite(x)) return result;
    result.push_back(x);
    if (x == format.largest) return result;
  }
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// What rounding makes of a value beyond the largest number.
double beyond(const Format& format) {
  return format.overflow == ropelab::Overflow::infinity ? kInfinity
         : format.overflow == ropelab::Overflow::nan    ? kNaN
                                                        : format.largest;
}

// The value of an encoding by its fields, written out as the standards do.
double by_fields(std::uint64_t bits, int exponent_width, int fraction_width, bool ieee) {
  const int bias = (1 << (exponent_width - 1)) - 1;
  const int field = static_cast<int>(bits >> fraction_width) & ((1 << exponent_width) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_width) - 1);
  const double sign = (bits >> (exponent_width + fraction_width) & 1) != 0 ? -1.0 : 1.0;
  const int top = (1 << exponent_width) - 1;
  if (ieee && field == top) return fraction == 0 ? sign * kInfinity : kNaN;
  if (!ieee && field == top && fraction == (1 << fraction_width) - 1) return kNaN;
  const double scale = std::pow(2.0, -fraction_width);
  if (field == 0) return sign * fraction * scale * std::pow(2.0, 1 - bias);
  return sign * (1 + fraction * scale) * std::pow(2.0, field - bias);
}

}  // namespace

TEST_CASE("The table lists the formats in order with their widths and largest numbers") {
  struct Row {
    const char* name;
    int bits;
    double largest;
    double smallest;
  };
  const Row rows[] = {{"float16", 16, 65504, 0x1p-24},
                      {"bfloat16", 16, 0x1.fep127, 0x1p-133},
                      {"float32", 32, std::numeric_limits<float>::max(), 0x1p-149},
                      {"float64", 64, std::numeric_limits<double>::max(), 0x1p-1074},
                      {"float8_e4m3fn", 8, 448, 0x1p-9},
                      {"float8_e5m2", 8, 57344, 0x1p-16}};
  REQUIRE(all_formats().size() == std::size(rows));
  std::size_t i = 0;
  for (const Row& row : rows) {
    const Format& format = all_formats()[i++];
    CHECK(format.name == row.name);
    CHECK(find_format(row.name) == format);
    CHECK(format.bits == row.bits);
    CHECK(format.largest == row.largest);
    CHECK(ulp(format, 0) == row.smallest);
    CHECK(next_above(format, 0) == row.smallest);
    CHECK(next_below(format, -0.0) == -row.smallest);
  }
}

TEST_CASE("An unknown format is refused with the names of those that exist") {
  CHECK_THROWS_AS(find_format("fp16"), std::invalid_argument);
  CHECK_THROWS_WITH(find_format("fp16"),
                    "'fp16' is not a dtype; there are float16, bfloat16, float32, float64, "
                    "float8_e4m3fn, float8_e5m2");
}

TEST_CASE("Every encoding of the small formats means what its fields say") {
  struct Row {
    const char* name;
    int exponent_width;
    int fraction_width;
    bool ieee;
  };
  for (const Row& row : {Row{"float16", 5, 10, true}, Row{"bfloat16", 8, 7, true},
                         Row{"float8_e4m3fn", 4, 3, false}, Row{"float8_e5m2", 5, 2, true}}) {
    const Format& format = find_format(row.name);
    int wrong = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << format.bits; ++bits) {
      const double x = by_fields(bits, row.exponent_width, row.fraction_width, row.ieee);
      if (!same(decode(format, bits), x)) ++wrong;
    }
    INFO(row.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("Every encoding of the small formats survives decoding, rounding and encoding") {
  for (const Format& format : small_formats()) {
    int wrong = 0;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << format.bits; ++bits) {
      const double x = decode(format, bits);
      if (!is_member(format, x)) ++wrong;
      if (!same(round_to(format, x), x)) ++wrong;
      if (std::isnan(x) ? !std::isnan(decode(format, encode(format, x)))
                        : encode(format, x) != bits) {
        ++wrong;
      }
    }
    INFO(format.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("NaN is encoded as the positive quiet NaN, and bits above the width do not matter") {
  CHECK(encode(find_format("float16"), kNaN) == 0x7e00);
  CHECK(encode(find_format("bfloat16"), -kNaN) == 0x7fc0);
  CHECK(encode(find_format("float32"), kNaN) == 0x7fc00000);
  CHECK(encode(find_format("float64"), kNaN) == 0x7ff8000000000000);
  CHECK(encode(find_format("float8_e4m3fn"), kNaN) == 0x7f);
  CHECK(encode(find_format("float8_e5m2"), kNaN) == 0x7e);
  CHECK(std::isnan(decode(find_format("float8_e4m3fn"), 0xff)));
  CHECK(decode(find_format("float16"), 0xabcd'0000'3c00) == 1);
}

TEST_CASE("What a format does not hold cannot be encoded") {
  CHECK_THROWS_AS(encode(find_format("float16"), 0.1), std::invalid_argument);
  CHECK_THROWS_AS(encode(find_format("float16"), 65536.0), std::invalid_argument);
  CHECK_THROWS_AS(encode(find_format("float8_e4m3fn"), kInfinity), std::invalid_argument);
  CHECK_THROWS_AS(encode(find_format("float8_e4m3fn"), 480.0), std::invalid_argument);
}

TEST_CASE("float32 and float64 encode as the machine's own types") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto d = std::bit_cast<double>(bits);
    if (!std::isnan(f)) {
      REQUIRE(encode(find_format("float32"), f) == static_cast<std::uint32_t>(bits));
      REQUIRE(same(decode(find_format("float32"), bits), f));
    }
    if (!std::isnan(d)) {
      REQUIRE(encode(find_format("float64"), d) == bits);
      REQUIRE(same(decode(find_format("float64"), bits), d));
    }
  }
  CHECK(encode(find_format("float64"), 5e-324) == 1);
  CHECK(encode(find_format("float32"), 0x1p-149) == 1);
}

TEST_CASE("Neighbours and ulp of the small formats are those of the sorted list of numbers") {
  for (const Format& format : small_formats()) {
    const std::vector<double> numbers = numbers_of(format);
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const double low = numbers[i];
      const double high = numbers[i + 1];
      if (next_above(format, low) != high || next_below(format, high) != low) ++wrong;
      if (next_below(format, -low) != -high || next_above(format, -high) != -low) ++wrong;
      if (ulp(format, low) != high - low || ulp(format, -low) != high - low) ++wrong;
      // Anywhere between, too.
      if (ulp(format, std::nextafter(high, 0.0)) != high - low) ++wrong;
    }
    INFO(format.name);
    CHECK(wrong == 0);
    CHECK(numbers.back() == format.largest);
  }
}

TEST_CASE("Beyond the largest number stands an infinity, or NaN where there is none") {
  for (const Format& format : all_formats()) {
    INFO(format.name);
    const bool finite_only = format.name == "float8_e4m3fn";
    CHECK(same(next_above(format, format.largest), finite_only ? kNaN : kInfinity));
    CHECK(same(next_below(format, -format.largest), finite_only ? kNaN : -kInfinity));
    if (!finite_only) {
      CHECK(next_below(format, kInfinity) == format.largest);
      CHECK(next_above(format, -kInfinity) == -format.largest);
      CHECK(next_above(format, kInfinity) == kInfinity);
    }
    CHECK(std::isnan(next_above(format, kNaN)));
    CHECK(std::isnan(next_below(format, kNaN)));
  }
}

TEST_CASE("ulp goes on beyond the largest number and is NaN where there is no spacing") {
  CHECK(ulp(find_format("float16"), 65536) == 64);
  CHECK(ulp(find_format("float16"), 3707276.0) == 2048);
  CHECK(ulp(find_format("float8_e4m3fn"), 500) == 32);
  CHECK(ulp(find_format("float8_e4m3fn"), 512) == 64);
  CHECK(ulp(find_format("float64"), 5e-324) == 5e-324);
  CHECK(ulp(find_format("float64"), 1) == 0x1p-52);
  CHECK(std::isnan(ulp(find_format("float16"), kInfinity)));
  CHECK(std::isnan(ulp(find_format("float16"), kNaN)));
}

TEST_CASE("Ties of the small formats go to even, and a hair decides either way") {
  for (const Format& format : small_formats()) {
    std::vector<double> numbers = numbers_of(format);
    numbers.push_back(format.largest + ulp(format, format.largest));
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const double low = numbers[i];
      const double high = i + 2 < numbers.size() ? numbers[i + 1] : beyond(format);
      const double tie = (numbers[i] + numbers[i + 1]) / 2;
      const double even = i % 2 == 0 ? low : high;  // encodings count up from 0
      for (const double sign : {1.0, -1.0}) {
        if (!same(round_to(format, sign * tie), sign * even)) ++wrong;
        if (!same(round_to(format, sign * std::nextafter(tie, 0.0)), sign * low)) ++wrong;
        if (!same(round_to(format, sign * std::nextafter(tie, kInfinity)), sign * high)) ++wrong;
        // The hair as the second part of a sum.
        if (!same(round_to(format, sign * tie, 0), sign * even)) ++wrong;
        if (!same(round_to(format, sign * tie, sign * -1e-300), sign * low)) ++wrong;
        if (!same(round_to(format, sign * tie, sign * 1e-300), sign * high)) ++wrong;
        // One double beside the tie it must not.
        const double beside = std::nextafter(tie, 0.0);
        if (!same(
                round_to(format, sign * beside, sign * ulp(ropelab::float64_format(), beside) / 4),
                sign * low)) {
          ++wrong;
        }
      }
    }
    INFO(format.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("float16 and bfloat16 round every kind of float as Eigen does") {
  const Format& float16 = find_format("float16");
  const Format& bfloat16 = find_format("bfloat16");
  std::mt19937 random(2);
  int wrong = 0;
  for (int i = 0; i < 1000000; ++i) {
    // Every second one within the range of float16.
    float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    int exponent = 0;
    if (i % 2 == 0 && std::isfinite(x)) x = std::ldexp(std::frexp(x, &exponent), i / 2 % 44 - 27);
    const auto half = static_cast<double>(static_cast<float>(Eigen::half(x)));
    const auto brain = static_cast<double>(static_cast<float>(Eigen::bfloat16(x)));
    if (std::isnan(x)) continue;
    if (!same(round_to(float16, x), half)) ++wrong;
    if (!same(round_to(bfloat16, x), brain)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("float32 rounds every kind of double as the machine does") {
  const Format& float32 = find_format("float32");
  std::mt19937_64 random(3);
  int wrong = 0;
  for (int i = 0; i < 1000000; ++i) {
    double x = std::bit_cast<double>(random());
    int exponent = 0;
    if (i % 4 != 0 && std::isfinite(x)) x = std::ldexp(std::frexp(x, &exponent), i % 290 - 155);
    if (std::isnan(x)) continue;
    if (!same(round_to(float32, x), static_cast<double>(static_cast<float>(x)))) ++wrong;
    if (!same(round_to(ropelab::float64_format(), x), x)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("Overflow follows the format, and saturating clamps the 8-bit formats only") {
  const Format& float16 = find_format("float16");
  const Format& e4m3 = find_format("float8_e4m3fn");
  const Format& e5m2 = find_format("float8_e5m2");
  CHECK(round_to(float16, 65519.99) == 65504);
  CHECK(round_to(float16, 65520) == kInfinity);
  CHECK(round_to(float16, -1e300) == -kInfinity);
  CHECK(round_to(float16, -kInfinity) == -kInfinity);
  CHECK(round_to(e4m3, 464) == 448);
  CHECK(std::isnan(round_to(e4m3, 464.0001)));
  CHECK(std::isnan(round_to(e4m3, 1e300)));
  CHECK(std::isnan(round_to(e4m3, kInfinity)));
  CHECK(round_to(e5m2, 61440) == kInfinity);
  CHECK(round_to(e5m2, 61439.99) == 57344);
  for (const Format& format : {saturating(e4m3), saturating(e5m2)}) {
    CHECK(round_to(format, 1e300) == format.largest);
    CHECK(round_to(format, -kInfinity) == -format.largest);
    CHECK(round_to(format, -61440) == -format.largest);
    CHECK(std::isnan(round_to(format, kNaN)));
    CHECK(round_to(format, 1.0625) == 1);
  }
  CHECK(saturating(float16) == float16);
  CHECK(saturating(ropelab::float64_format()) == ropelab::float64_format());
  CHECK(decode(saturating(e5m2), 0x7c) == kInfinity);
}

TEST_CASE("The sign of zero is kept, also by numbers that round to it") {
  for (const Format& format : all_formats()) {
    INFO(format.name);
    CHECK(same(round_to(format, -0.0), -0.0));
    CHECK(same(round_to(format, 0.0), 0.0));
    CHECK(std::isnan(round_to(format, kNaN)));
    if (format.bits < 64) {
      CHECK(same(round_to(format, -5e-324), -0.0));
      CHECK(same(round_to(format, -ulp(format, 0) / 2), -0.0));
    }
  }
}

TEST_CASE("A truncated expansion rounds like the value it starts") {
  const Format& float16 = find_format("float16");
  const std::uint64_t one = std::uint64_t{1} << 63;
  CHECK(round_truncated(float16, false, one, -63, false) == 1);
  CHECK(round_truncated(float16, false, 3, -1, false) == 1.5);
  CHECK(round_truncated(float16, false, one + (one >> 11), -63, false) == 1);
  CHECK(round_truncated(float16, false, one + (one >> 11), -63, true) == 1 + 0x1p-10);
  CHECK(round_truncated(float16, true, one, -63 - 25, false) == 0);
  CHECK(round_truncated(float16, true, one, -63 - 25, true) == -0x1p-24);
  CHECK(same(round_truncated(float16, true, one, -1000000000000, true), -0.0));
  CHECK(round_truncated(float16, true, one, 1000000000000, true) == -kInfinity);
  CHECK(same(round_truncated(float16, true, 0, 5, false), -0.0));
  // All ones: rounding carries into the next power of two.
  CHECK(round_truncated(float16, false, ~std::uint64_t{0}, -64, true) == 1);
}

TEST_CASE("Hexadecimal notation is C's with the shortest digits") {
  using ropelab::to_hexadecimal;
  CHECK(to_hexadecimal(3) == "0x1.8p+1");
  CHECK(to_hexadecimal(-0.0) == "-0x0p+0");
  CHECK(to_hexadecimal(0) == "0x0p+0");
  CHECK(to_hexadecimal(0.1) == "0x1.999999999999ap-4");
  CHECK(to_hexadecimal(1) == "0x1p+0");
  CHECK(to_hexadecimal(-65504) == "-0x1.ffcp+15");
  CHECK(to_hexadecimal(5e-324) == "0x1p-1074");
  CHECK(to_hexadecimal(1.5e-323) == "0x1.8p-1073");
  CHECK(to_hexadecimal(std::numeric_limits<double>::max()) == "0x1.fffffffffffffp+1023");
  CHECK(to_hexadecimal(kInfinity) == "inf");
  CHECK(to_hexadecimal(-kInfinity) == "-inf");
  CHECK(to_hexadecimal(-kNaN) == "nan");
}
