#include "ropelab/exact/parse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ropelab/exact/decimal.hpp"
#include "ropelab/exact/split.hpp"
#include "ropelab/exact/wide.hpp"

namespace ropelab {
namespace {

// No exact decimal expansion of a double is longer; a text that is, is no number anyone meant.
constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestExponent = 6;  // digits
constexpr long long kLargestDenominator = 4096;

// What is wrong with a text; becomes one sentence that quotes it.
struct Fault {
  std::string sentence;  // with {} where the quoted text goes
};

[[noreturn]] void refuse_form() {
  throw Fault{"{} is not a number; write 0.5, 1e-6, 1/3, 2^-20, 2^(-1/2), 0x1p-13 or 64K"};
}

// Apart from the others, since what would be right depends on whether 0 and negative numbers are.
struct RangeFault : Fault {};
[[noreturn]] void refuse_range() {
  throw RangeFault{
      {"{} is out of range; write 0 or a number between 5e-324 and 1.7976931348623157e+308 in "
       "magnitude"}};
}

// Locale-independent, unlike <cctype>.
bool is_digit(char c) { return '0' <= c && c <= '9'; }
int hexadecimal_value(char c) {
  if (is_digit(c)) return c - '0';
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  if ('A' <= c && c <= 'F') return c - 'A' + 10;
  return 16;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// Takes a leading sign; true for a minus.
bool take_sign(std::string_view& text) { return take(text, '-') || (take(text, '+') && false); }

// All of the text as a short whole number: what follows an e, p or ^.
long long whole_exponent(std::string_view text) {
  const bool negative = take_sign(text);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) refuse_form();
  if (text.size() > kLongestExponent) {
    throw Fault{"{} has an exponent of more than 6 digits; write one that float64 can hold"};
  }
  long long value = 0;
  for (const char c : text) value = 10 * value + (c - '0');
  return negative ? -value : value;
}

// base^exponent as a rational.
Rational signed_power(unsigned base, long long exponent) {
  const Integer power = pow(Integer(base), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? Rational(1, power) : Rational(power);
}

// The digits of a positional number, the point taken out.
struct Digits {
  Integer value = 0;
  long long after_point = 0;  // how many digits
};

// Takes digits, with at most one point among them, from the front of the text.
Digits take_digits(std::string_view& text, unsigned base) {
  Digits result;
  bool point = false;
  std::size_t count = 0;
  for (;;) {
    if (!point && take(text, '.')) {
      point = true;
      continue;
    }
    const int digit = text.empty() ? 16 : hexadecimal_value(text.front());
    if (digit >= static_cast<int>(base)) break;
    text.remove_prefix(1);
    result.value = result.value * base + digit;
    result.after_point += point ? 1 : 0;
    ++count;
  }
  if (count == 0) refuse_form();
  return result;
}

// value * base^exponent; refuses what is far out of range before it takes time or memory.
Rational scaled(const Integer& value, unsigned base, long long exponent) {
  if (value == 0) return 0;
  const double logarithm = static_cast<double>(wide::bit_length(value)) +
                           static_cast<double>(exponent) * (base == 10 ? 3.3219 : 1.0);
  if (std::fabs(logarithm) > 3000) refuse_range();
  return Rational(value) * signed_power(base, exponent);
}

Rational hexadecimal_float(std::string_view text) {
  const Digits digits = take_digits(text, 16);
  long long exponent = 0;
  if (take(text, 'p') || take(text, 'P')) {
    exponent = whole_exponent(text);
  } else if (!text.empty()) {
    refuse_form();
  }
  return scaled(digits.value, 2, exponent - 4 * digits.after_point);
}

// A decimal, a binary multiple or a hexadecimal float, without a sign.
Rational unsigned_number(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    return hexadecimal_float(text.substr(2));
  }
  const Digits digits = take_digits(text, 10);
  long long exponent = 0;
  long long multiple = 1;
  if (take(text, 'e') || take(text, 'E')) {
    exponent = whole_exponent(text);
  } else if (text == "K") {
    multiple = 1024;
  } else if (text == "M") {
    multiple = 1024 * 1024;
  } else if (!text.empty()) {
    refuse_form();
  }
  return scaled(digits.value, 10, exponent - digits.after_point) * multiple;
}

// An unsigned number or a quotient of two.
Rational quotient(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return unsigned_number(text);
  const Rational divisor = unsigned_number(text.substr(slash + 1));
  const Rational dividend = unsigned_number(text.substr(0, slash));
  if (divisor == 0) throw Fault{"{} divides by zero; write a fraction with another denominator"};
  return dividend / divisor;
}

// The exponent of a power of two, as written.
Rational power_exponent(std::string_view text) {
  if (take(text, '(')) {
    if (text.empty() || text.back() != ')') refuse_form();
    text.remove_suffix(1);
    const bool negative = take_sign(text);
    const Rational value = quotient(text);
    return negative ? Rational(-value) : value;
  }
  if (text.find('/') != text.npos) {
    throw Fault{"{} is ambiguous; write 2^(-1/2) for a power with a fraction as its exponent"};
  }
  if (text.find('.') != text.npos) {
    throw Fault{"{} has an exponent that is not whole; write it in brackets, as in 2^(0.5)"};
  }
  return whole_exponent(text);
}

// 2^exponent. float64 ends at 2^-1074, and so close to 2^1024 that no denominator up to 4096
// comes between.
Algebraic power_of_two(const Rational& exponent) {
  if (denominator(exponent) > kLargestDenominator) {
    throw Fault{"{} has an exponent with a denominator above 4096; write a simpler fraction"};
  }
  if (exponent < -1074 || exponent >= 1024) refuse_range();
  return Algebraic::power(2, static_cast<long long>(numerator(exponent)),
                          static_cast<unsigned>(denominator(exponent)));
}

void require_range(const Rational& x) {
  static const Rational least = to_rational(std::numeric_limits<double>::denorm_min());
  static const Rational largest = to_rational(std::numeric_limits<double>::max());
  if (x != 0 && (abs(x) < least || abs(x) > largest)) refuse_range();
}

// A signed number: its sign, and either a rational magnitude or a power of two.
struct Number {
  bool negative = false;
  Rational magnitude = 0;
  Algebraic power;
  bool is_power = false;

  bool is_irrational() const { return is_power && !power.is_rational(); }
  Rational value() const {
    const Rational result = is_power ? power.to_rational() : magnitude;
    return negative ? Rational(-result) : result;
  }
};

Number number(std::string_view text) {
  if (text.size() > kLongestText) throw Fault{"{} is longer than any number needs to be"};
  if (text.empty()) refuse_form();
  Number result;
  result.negative = take_sign(text);
  if (text.substr(0, 2) == "2^") {
    result.is_power = true;
    result.power = power_of_two(power_exponent(text.substr(2)));
  } else {
    result.magnitude = quotient(text);
    require_range(result.magnitude);
  }
  return result;
}

Rational rational(std::string_view text) {
  const Number result = number(text);
  if (result.is_irrational()) {
    throw Fault{"{} is irrational; write a fraction or a power of two with a whole exponent"};
  }
  return result.value();
}

Number number_to_be_positive(std::string_view text) {
  try {
    return number(text);
  } catch (const RangeFault&) {
    throw Fault{"{} is out of range; write a number from 5e-324 to 1.7976931348623157e+308"};
  }
}

Algebraic positive(std::string_view text) {
  const Number result = number_to_be_positive(text);
  const bool is_zero = !result.is_power && result.magnitude == 0;
  if (result.negative || is_zero) throw Fault{"{} is not positive; write a number above 0"};
  return result.is_power ? result.power : Algebraic(result.magnitude);
}

long long integer(std::string_view text, long long least, long long most) {
  const std::string wanted = fmt::format("; write a whole number from {} to {}", least, most);
  const Rational value = [&] {
    try {
      return rational(text);
    } catch (const RangeFault&) {
      throw Fault{"{} is out of range" + wanted};
    } catch (const Fault&) {
      throw Fault{"{} is not a whole number" + wanted};
    }
  }();
  if (denominator(value) != 1) throw Fault{"{} is not a whole number" + wanted};
  if (value < least || value > most) throw Fault{"{} is out of range" + wanted};
  return static_cast<long long>(numerator(value));
}

[[noreturn]] void refuse_powers() {
  throw Fault{"{} is no product of powers; write whole numbers as in 2^(-1/2)*3*5^-1"};
}

// A whole number, of which so many digits at most are taken.
Integer whole_number(std::string_view text, std::size_t most_digits) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) refuse_powers();
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() > most_digits) {
    throw Fault{"{} has a number of more digits than any product of powers needs"};
  }
  return text.empty() ? Integer(0) : Integer(std::string(text));
}

// base^exponent, the exponent as whole_exponent and power_exponent take it, but of up to 9 digits.
Algebraic power_of_whole(std::string_view text) {
  constexpr std::size_t kBaseDigits = 1000, kExponentDigits = 9;
  constexpr double kMostBits = 8192;  // of a rational power
  const std::size_t caret = text.find('^');
  const Integer base = whole_number(text.substr(0, caret), kBaseDigits);
  std::string_view exponent = caret == text.npos ? "1" : text.substr(caret + 1);
  std::string_view divisor = "1";
  if (take(exponent, '(')) {
    const std::size_t slash = exponent.find('/');
    if (slash == exponent.npos || exponent.back() != ')') refuse_powers();
    divisor = exponent.substr(slash + 1, exponent.size() - slash - 2);
    exponent = exponent.substr(0, slash);
  }
  const bool negative = take(exponent, '-');
  const auto numerator = static_cast<long long>(whole_number(exponent, kExponentDigits));
  const auto denominator = static_cast<unsigned>(whole_number(divisor, kExponentDigits));
  if (base == 0 || denominator == 0) refuse_powers();
  if (static_cast<double>(wide::bit_length(base)) * static_cast<double>(numerator) >
      kMostBits * denominator) {
    refuse_range();
  }
  return Algebraic::power(Rational(base), negative ? -numerator : numerator, denominator);
}

Algebraic powers(std::string_view text) {
  constexpr std::size_t kLongestProduct = 8000;
  if (text.size() > kLongestProduct) throw Fault{"{} is longer than any number needs to be"};
  Algebraic product;
  for (;;) {
    const std::size_t star = text.find('*');
    product = product * power_of_whole(text.substr(0, star));
    if (star == text.npos) break;
    text.remove_prefix(star + 1);
  }
  const Real value = product.to_real();
  if (!(value >= Real(std::numeric_limits<double>::denorm_min()) &&
        value <= Real(std::numeric_limits<double>::max()))) {
    throw Fault{"{} is out of range; write a number from 5e-324 to 1.7976931348623157e+308"};
  }
  return product;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  if (text.size() <= kShown) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kShown));
}

// What the reader makes of the trimmed text; a fault becomes the promised exception.
template <class Reader>
auto read(std::string_view text, Reader reader) {
  try {
    return reader(trimmed(text));
  } catch (const Fault& fault) {
    std::string sentence = fault.sentence;
    throw std::invalid_argument(sentence.replace(sentence.find("{}"), 2, quoted(text)));
  }
}

}  // namespace

Rational parse_rational(std::string_view text) { return read(text, rational); }

Algebraic parse_positive(std::string_view text) { return read(text, positive); }

Algebraic parse_powers(std::string_view text) { return read(text, powers); }

long long parse_integer(std::string_view text, long long least, long long most) {
  return read(text, [&](std::string_view t) { return integer(t, least, most); });
}

}  // namespace ropelab
