#include "ropelab/formats/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace ropelab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The table of formats. largest = (2 - 2^(1-p)) * 2^emax, but for float8_e4m3fn, which spends
// the topmost significand on NaN: 1.75 * 2^8.
constexpr std::array<Format, 6> kFormats = {{
    {"float16", 16, 11, -14, 0x1.ffcp+15, Overflow::infinity},
    {"bfloat16", 16, 8, -126, 0x1.fep+127, Overflow::infinity},
    {"float32", 32, 24, -126, 0x1.fffffep+127, Overflow::infinity},
    {"float64", 64, 53, -1022, std::numeric_limits<double>::max(), Overflow::infinity},
    {"float8_e4m3fn", 8, 4, -6, 448, Overflow::nan},
    {"float8_e5m2", 8, 3, -14, 57344, Overflow::infinity},
}};

// floor(log2|x|) of a normal double; -1023 for 0 and subnormals, 1024 for infinity and NaN.
int exponent_field(double x) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023;
}

// 2^exponent for a normal result.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

std::uint64_t low_bits(int count) { return (std::uint64_t{1} << count) - 1; }

int exponent_bits(const Format& format) { return format.bits - format.precision; }

// Whether the topmost exponent is kept for infinities and NaN, as IEEE 754 has it.
bool has_infinity(const Format& format) {
  const std::uint64_t largest_field =
      static_cast<std::uint64_t>(exponent_field(format.largest) + 1 - format.min_exponent);
  return largest_field < low_bits(exponent_bits(format));
}

double overflowed(const Format& format, bool negative) {
  const double magnitude = format.overflow == Overflow::saturate   ? format.largest
                           : format.overflow == Overflow::infinity ? kInfinity
                                                                   : kNaN;
  return negative ? -magnitude : magnitude;
}

// The neighbour above of a finite member that is 0 or positive.
double above_positive(const Format& format, double x) {
  const double next = x + ulp(format, x);
  if (next <= format.largest) return next;
  return has_infinity(format) ? kInfinity : kNaN;
}

// The neighbour below of a positive member, infinity included.
double below_positive(const Format& format, double x) {
  if (std::isinf(x)) return format.largest;
  return x - ulp(format, std::nextafter(x, 0.0));
}

std::uint64_t encode_positive(const Format& format, double x) {
  const int stored = format.precision - 1;
  const std::uint64_t top = low_bits(exponent_bits(format)) << stored;
  if (std::isinf(x)) return top;
  // The integer significand, hidden bit included: that bit carries into the exponent field.
  const int exponent = x == 0 ? format.min_exponent : std::max(std::ilogb(x), format.min_exponent);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(x, stored - exponent));
  return (static_cast<std::uint64_t>(exponent - format.min_exponent) << stored) + significand;
}

std::uint64_t encode_nan(const Format& format) {
  const std::uint64_t magnitude = low_bits(format.bits - 1);
  if (!has_infinity(format)) return magnitude;
  return magnitude & ~low_bits(format.precision - 2);
}

double decode_positive(const Format& format, std::uint64_t bits) {
  const int stored = format.precision - 1;
  const auto field = bits >> stored;
  const std::uint64_t fraction = bits & low_bits(stored);
  if (field == low_bits(exponent_bits(format)) && has_infinity(format)) {
    return fraction == 0 ? kInfinity : kNaN;
  }
  if (!has_infinity(format) && bits == low_bits(format.bits - 1)) return kNaN;
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << stored;
  const int exponent = format.min_exponent + (field == 0 ? 0 : static_cast<int>(field) - 1);
  return std::ldexp(static_cast<double>(hidden + fraction), exponent - stored);
}

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

const Format& find_format(std::string_view name) {
  std::string names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  throw std::invalid_argument(fmt::format("'{}' is not a dtype; there are {}", name, names));
}

const Format& float32_format() { return kFormats[2]; }
const Format& float64_format() { return kFormats[3]; }

Format saturating(const Format& format) {
  Format result = format;
  if (format.bits == 8) result.overflow = Overflow::saturate;
  return result;
}

double round_to(const Format& format, double x) {
  if (format.precision == 53) return x;
  const double magnitude = std::fabs(x);
  if (!(magnitude <= 2 * format.largest)) {
    return std::isnan(x) ? x : overflowed(format, std::signbit(x));
  }
  // Adding 1.5 * 2^52 ulps leaves only whole ulps, rounded to nearest even by the hardware.
  const int e = std::max(exponent_field(magnitude), format.min_exponent);
  const double shifter = 1.5 * power_of_two(e - format.precision + 1 + 52);
  const double rounded = (magnitude + shifter) - shifter;
  if (rounded > format.largest) return overflowed(format, std::signbit(x));
  return std::copysign(rounded, x);
}

double round_to(const Format& format, double high, double low) {
  // high + low and high lie on the same side of every double but high itself. So low matters
  // only where high is a tie, which has at most precision + 1 <= 25 bits.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(high);
  if (format.precision == 53 || low == 0 || (bits & low_bits(28)) != 0 || !std::isfinite(high)) {
    return round_to(format, high);
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(high), &exponent);
  auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  if ((high < 0) != (low < 0)) --significand;
  return round_truncated(format, high < 0, significand, exponent - 64, true);
}

double round_truncated(const Format& format, bool negative, std::uint64_t significand,
                       long long exponent, bool more) {
  if (significand == 0) return negative ? -0.0 : 0.0;
  const int zeros = std::countl_zero(significand);
  significand <<= zeros;
  const long long top = exponent - zeros + 63;  // 2^top <= |x| < 2^(top+1)
  if (top > 1024) return overflowed(format, negative);
  const int last = static_cast<int>(std::max<long long>(top, format.min_exponent)) -
                   format.precision + 1;           // exponent of an ulp
  const long long dropped = last - (top - 63);     // at least 11
  if (dropped > 64) return negative ? -0.0 : 0.0;  // below half the smallest number
  const std::uint64_t kept = dropped == 64 ? 0 : significand >> dropped;
  const std::uint64_t rest = significand << (64 - dropped);
  const std::uint64_t half = std::uint64_t{1} << 63;
  const bool up = rest > half || (rest == half && (more || (kept & 1) != 0));
  const double magnitude = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), last);
  if (magnitude > format.largest) return overflowed(format, negative);
  return negative ? -magnitude : magnitude;
}

bool is_member(const Format& format, double x) {
  if (std::isnan(x)) return true;
  if (std::isinf(x)) return has_infinity(format);
  return std::fabs(x) <= format.largest && round_to(format, x) == x;
}

double ulp(const Format& format, double x) {
  if (!std::isfinite(x)) return kNaN;
  const int exponent = std::max(exponent_field(x), format.min_exponent);
  return std::ldexp(1.0, exponent - format.precision + 1);
}

double next_above(const Format& format, double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  return x < 0 ? -below_positive(format, -x) : above_positive(format, x);
}

double next_below(const Format& format, double x) { return -next_above(format, -x); }

std::uint64_t encode(const Format& format, double x) {
  if (!is_member(format, x)) {
    throw std::invalid_argument(fmt::format("{} is not a number of {}", x, format.name));
  }
  if (std::isnan(x)) return encode_nan(format);
  const std::uint64_t sign = std::signbit(x) ? std::uint64_t{1} << (format.bits - 1) : 0;
  return sign | encode_positive(format, std::fabs(x));
}

double decode(const Format& format, std::uint64_t bits) {
  const bool negative = (bits >> (format.bits - 1) & 1) != 0;
  const double magnitude = decode_positive(format, bits & low_bits(format.bits - 1));
  return negative ? -magnitude : magnitude;
}

std::string to_hexadecimal(double x) {
  if (std::isnan(x)) return "nan";
  const char* sign = std::signbit(x) ? "-" : "";
  if (std::isinf(x)) return fmt::format("{}inf", sign);
  if (x == 0) return fmt::format("{}0x0p+0", sign);
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // in [1/2, 1)
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  std::string digits = fmt::format("{:013x}", significand & low_bits(52));
  digits.erase(digits.find_last_not_of('0') + 1);
  return fmt::format("{}0x1{}{}p{:+d}", sign, digits.empty() ? "" : ".", digits, exponent - 1);
}

}  // namespace ropelab
