// Number formats: the one table of them, and what each does to a number.
//
// A format is described as in IEEE 754: a significand of `precision` bits (the hidden bit
// counted), normal exponents from `min_exponent` on, subnormals below. Every format here is
// a subset of float64, so a value of any of them is handed around as a double, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ropelab {

// What becomes of a value that rounds past the largest number.
enum class Overflow { infinity, nan, saturate };

struct Format {
  std::string_view name;  // PyTorch's name
  int bits;               // width of an encoding
  int precision;          // bits of the significand, the hidden one counted
  int min_exponent;       // exponent of the smallest normal number, 2^min_exponent
  double largest;         // the largest finite number
  Overflow overflow;

  friend bool operator==(const Format&, const Format&) = default;
};

// float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, in this order.
std::span<const Format> all_formats();

// The format with this name. Throws std::invalid_argument, naming those that exist.
const Format& find_format(std::string_view name);

// Shorthands for the formats that the library itself computes in.
const Format& float32_format();
const Format& float64_format();

// The same format clamping to its largest number instead of overflowing. Only the 8-bit
// formats are ever saturated in practice; the others are returned unchanged.
Format saturating(const Format& format);

// `x` rounded once to the nearest number of the format, ties to even, subnormals kept.
// A value whose rounding, were the exponents unlimited, lies beyond `largest` follows
// `format.overflow`. That is so from half an ulp beyond it on, but for float8_e4m3fn, whose
// tie at 464 goes to the even neighbour 448. An infinity follows it too (float8_e4m3fn has
// none: it becomes NaN, or the largest number if saturating). NaN stays NaN. The sign of
// zero is kept.
double round_to(const Format& format, double x);

// The same for the exact sum high + low, where high is that sum rounded to double.
double round_to(const Format& format, double high, double low);

// The same for the start of a longer expansion: significand * 2^exponent, plus, if `more`,
// an unknown positive amount less than 2^exponent; then the significand must be at least 2^54.
double round_truncated(const Format& format, bool negative, std::uint64_t significand,
                       long long exponent, bool more);

// Whether x is a number, infinity or NaN of the format. float8_e5m2 has infinities also when
// saturating: rounding does not make them, but they can be stored.
bool is_member(const Format& format, double x);

// Spacing of the format at x: 2^(max(e, min_exponent) - precision + 1), 2^e <= |x| < 2^(e+1),
// also beyond the largest number; the spacing of the subnormals at 0. NaN for an infinity or NaN.
double ulp(const Format& format, double x);

// The neighbours of a member of the format (an infinity beyond the largest where the format
// has one; NaN where it has not; NaN of NaN). Both zeros have the same neighbours.
double next_below(const Format& format, double x);
double next_above(const Format& format, double x);

// The encoding of a member of the format, and back. A NaN is encoded as the format's
// positive quiet NaN (0x7f for float8_e4m3fn). Encoding anything but a member throws
// std::invalid_argument. `bits` above the width of the format are ignored.
std::uint64_t encode(const Format& format, double x);
double decode(const Format& format, std::uint64_t bits);

// C's hexadecimal notation ("0x1.8p+1", "-0x0p+0", "inf", "nan"): exact, the same everywhere.
// The digits after the point are the shortest; float64 subnormals are normalised.
std::string to_hexadecimal(double x);

}  // namespace ropelab
