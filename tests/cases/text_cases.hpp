// Cases about numbers in text: read by parse_rational, printed by the table writer.
#pragma once

#include <clocale>
#include <limits>
#include <locale>

#include "cases/case.hpp"
#include "ropelab/table/writer.hpp"

namespace cases {

// A decimal comma for C, where the machine has such a locale, and for C++ streams everywhere.
class CommaLocale {
 public:
  explicit CommaLocale(const std::string& name)
      : c_(std::setlocale(LC_ALL, nullptr)),
        streams_(std::locale::global(std::locale(std::locale::classic(), new Comma))) {
    std::setlocale(LC_ALL, name.c_str());
  }
  ~CommaLocale() {
    std::locale::global(streams_);
    std::setlocale(LC_ALL, c_.c_str());
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::string c_;
  std::locale streams_;
};

// The number, or what kind of refusal it is.
inline Value read(const std::string& text) {
  try {
    return ropelab::to_real(ropelab::parse_rational(text));
  } catch (const std::invalid_argument& refusal) {
    const bool range = std::string(refusal.what()).find("is out of range") != std::string::npos;
    return range ? "error: out of range" : "error";
  }
}

inline Value parse(const Case& c) {
  const CommaLocale comma(c.has("locale") ? c.text("locale") : "C");
  return read(c.text("text"));
}

inline Value parse_hex(const Case& c) {
  return ropelab::to_hexadecimal(ropelab::to_double(ropelab::parse_rational(c.text("text"))));
}

// The double that a case names; -0.0, infinities and NaN are no rationals.
inline double double_of(const std::string& text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "nan")
    return -std::numeric_limits<double>::quiet_NaN();  // either sign is printed nan
  if (text == "inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  const double magnitude = std::abs(ropelab::to_double(ropelab::parse_rational(text)));
  return text.front() == '-' ? -magnitude : magnitude;
}

// As the only field of a table in CSV.
inline std::string field(double x) {
  ropelab::Table table({"value"});
  table.add_row({x});
  return split(ropelab::to_text(table, ropelab::TableFormat::csv), '\n').at(1);
}

inline Value csv_field(const Case& c) { return field(double_of(c.text("value"))); }

// The naive path prints 16 digits.
inline Value print_parse(const Case& c) {
  const double x = double_of(c.text("value"));
  if (c.naive()) return ropelab::to_decimal(ropelab::to_rational(x), 16);
  const std::string text = field(x);
  return double_of(text) == x ? text : text + " does not read back";
}

}  // namespace cases
