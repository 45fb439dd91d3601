#include "ropelab/exact/parse.hpp"

#include <clocale>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "exact/printing.hpp"

namespace {

using ropelab::Algebraic;
using ropelab::Integer;
using ropelab::parse_integer;
using ropelab::parse_positive;
using ropelab::parse_rational;
using ropelab::Rational;

Rational power_of_two(unsigned exponent) { return Rational(1, Integer(1) << exponent); }

std::string quoted(const char* text) {
  std::string result = "'";
  result += text;
  result += "'";
  return result;
}

std::string refusal(const std::string& text) {
  try {
    parse_rational(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("What users write for a number is read exactly") {
  struct Row {
    const char* text;
    Rational value;
  };
  for (const Row& row : {Row{"0.1", Rational(1, 10)},
                         Row{"+0.5", Rational(1, 2)},
                         Row{"-0.5", Rational(-1, 2)},
                         Row{"007", 7},
                         Row{"-0", 0},
                         Row{"0e999999", 0},
                         Row{".5", Rational(1, 2)},
                         Row{"5.", 5},
                         Row{" 5\t\n", 5},
                         Row{"1e-6", Rational(1, 1000000)},
                         Row{"1E+3", 1000},
                         Row{"1.25e2", 125},
                         Row{"1/3", Rational(1, 3)},
                         Row{"-1/3", Rational(-1, 3)},
                         Row{"0.1/65536", Rational(1, 655360)},
                         Row{"1/64K", power_of_two(16)},
                         Row{"0.1/64K", Rational(1, 655360)},
                         Row{"1e-400/1e-400", 1},
                         Row{"2^-20", power_of_two(20)},
                         Row{"2^10", 1024},
                         Row{"2^+10", 1024},
                         Row{"-2^10", -1024},
                         Row{"2^(-20)", power_of_two(20)},
                         Row{"2^(4/2)", 4},
                         Row{"2^(0.5e1)", 32},
                         Row{"2^-1074", power_of_two(1074)},
                         Row{"0x1p-13", power_of_two(13)},
                         Row{"0x1.8p-3", Rational(3, 16)},
                         Row{"0X1.8P+1", 3},
                         Row{"0xff", 255},
                         Row{"-0x.8", Rational(-1, 2)},
                         Row{"0x1.00000000000000000000000000000001p0", 1 + power_of_two(128)},
                         Row{"64K", 65536},
                         Row{"1M", 1048576},
                         Row{"0.5K", 512},
                         Row{"1.5M", 1572864},
                         Row{"5e-324", Rational(1, 2) / pow(Integer(10), 323)},
                         Row{"1.7976931348623157e308",
                             Rational(Integer("17976931348623157") * pow(Integer(10), 292))},
                         Row{"16777217", 16777217},
                         Row{"0.30000000000000000000000000000000000000000001",
                             Rational(Integer("30000000000000000000000000000000000000000001"),
                                      pow(Integer(10), 44))}}) {
    INFO(row.text);
    CHECK(parse_rational(row.text) == row.value);
  }
}

TEST_CASE("Irrational powers of two are positive numbers but not rationals") {
  CHECK(parse_positive("2^(-1/2)") == Algebraic(Rational(1, 2), 2));
  CHECK(parse_positive("2^(0.5)") == Algebraic(2, 2));
  CHECK(parse_positive("2^(-8/112)") == Algebraic::power(2, -1, 14));
  CHECK(parse_positive("2^(1/4096)").root() == 4096);
  CHECK(parse_positive("2^-20").to_rational() == power_of_two(20));
  CHECK(parse_positive("1/3").to_rational() == Rational(1, 3));
  CHECK(refusal("2^(1/2)") ==
        "'2^(1/2)' is irrational; write a fraction or a power of two with a whole exponent");
}

TEST_CASE("What is not a number is refused with a sentence that quotes it and shows what is") {
  for (const char* text : {"",
                           " ",
                           "0,5",
                           "0.5x",
                           "nan",
                           "NaN",
                           "inf",
                           "-inf",
                           "infinity",
                           "--5",
                           "+-5",
                           "-",
                           "+",
                           "1e",
                           "1e+",
                           "1e1.5",
                           "e5",
                           ".",
                           "..5",
                           "1.2.3",
                           "0x",
                           "0x.",
                           "0xp3",
                           "0x1p",
                           "0x1g",
                           "1 000",
                           "1_000",
                           "1'000",
                           "1e3K",
                           "64k",
                           "1G",
                           "64KK",
                           "K",
                           "1/",
                           "/2",
                           "1/2/3",
                           "1/-2",
                           "2^",
                           "2^()",
                           "2^(",
                           "2^(1",
                           "2^1)",
                           "2^(1/2)x",
                           "2^x",
                           "3^2",
                           "2^2^2",
                           "2^^2",
                           "2**3",
                           "1e-6f",
                           "0.5%",
                           "1;2",
                           "true",
                           "\xe2\x88\x92"
                           "5",
                           "\xd9\xa1"}) {
    const std::string message = refusal(text);
    INFO(text << ": " << message);
    CHECK(message.rfind(quoted(text) + " ", 0) == 0);
    CHECK(message.find("; write ") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    CHECK_THROWS_AS(parse_positive(text), std::invalid_argument);
    CHECK_THROWS_AS(parse_integer(text, -1000, 1000), std::invalid_argument);
  }
  CHECK(refusal("0,5") ==
        "'0,5' is not a number; write 0.5, 1e-6, 1/3, 2^-20, 2^(-1/2), 0x1p-13 or 64K");
}

TEST_CASE("A bare power with a fraction is refused as ambiguous") {
  for (const char* text : {"2^-1/2", "2^1/2", "-2^1/2"}) {
    CHECK(refusal(text).find("is ambiguous; write 2^(") != std::string::npos);
  }
  CHECK(refusal("2^0.5").find("in brackets") != std::string::npos);
}

TEST_CASE("Division by zero is refused as such") {
  for (const char* text : {"1/0", "0/0", "1/0.000", "-1/0x0", "2^(1/0)"}) {
    CHECK(refusal(text).find("divides by zero") != std::string::npos);
  }
}

TEST_CASE("Numbers that float64 cannot hold are refused, and quickly") {
  const std::clock_t start = std::clock();
  for (const char* text :
       {"1e999", "-1e999", "1e309", "1.7976931348623158e308", "4.9e-324", "1e-400", "1e999999",
        "1e-999999", "1e999999/1e999998", "2^1024", "2^-1075", "2^999999", "2^(1e999)", "0x1p1024",
        "0x1p-1075", "0x1p999999", "1e308/1e-10", "2^(-2149/2)"}) {
    const std::string message = refusal(text);
    INFO(text << ": " << message);
    CHECK(message.find("is out of range; write 0 or a number between 5e-324 and 1.79") !=
          std::string::npos);
  }
  for (const char* text : {"1e9999999", "1e-99999999999999999999", "2^12345678", "0x1p1234567"}) {
    CHECK(refusal(text).find("exponent of more than 6 digits") != std::string::npos);
  }
  CHECK(refusal("2^(1/4097)").find("denominator above 4096") != std::string::npos);
  CHECK(refusal("2^(0.123456789)").find("denominator above 4096") != std::string::npos);
  CHECK(refusal(std::string(100000, '9')).find("longer than any number") != std::string::npos);
  CHECK(refusal("0." + std::string(1500, '0') + "1").find("out of range") != std::string::npos);
  const double seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;  // of the processor
  CHECK(seconds < 2);
}

TEST_CASE("A long text is quoted by its beginning") {
  const std::string message = refusal("x" + std::string(500, 'y'));
  CHECK(message.size() < 200);
  CHECK(message.find("yyy...' is not a number") != std::string::npos);
}

TEST_CASE("Zero and negative numbers are refused where positive ones are needed") {
  for (const char* text : {"0", "-1", "0.0", "-0", "0/5", "-1/3", "-2^-20", "-2^(1/2)"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_positive(text),
                      quoted(text) + " is not positive; write a number above 0");
  }
}

TEST_CASE("Whole numbers are read in every notation and held to their range") {
  CHECK(parse_integer("64K", 1, 1 << 30) == 65536);
  CHECK(parse_integer("1e3", 1, 1 << 30) == 1000);
  CHECK(parse_integer("2^10", 1, 1 << 30) == 1024);
  CHECK(parse_integer("0.5K", 1, 1 << 30) == 512);
  CHECK(parse_integer("4/2", 1, 1 << 30) == 2);
  CHECK(parse_integer("-3", -5, 5) == -3);
  CHECK(parse_integer("9223372036854775807", 0, std::numeric_limits<long long>::max()) ==
        std::numeric_limits<long long>::max());
  CHECK_THROWS_WITH(parse_integer("1.5", 1, 9),
                    "'1.5' is not a whole number; write a whole number from 1 to 9");
  CHECK_THROWS_WITH(parse_integer("0", 1, 9),
                    "'0' is out of range; write a whole number from 1 to 9");
  CHECK_THROWS_WITH(parse_integer("10", 1, 9),
                    "'10' is out of range; write a whole number from 1 to 9");
  CHECK_THROWS_AS(parse_integer("1e300", 1, 9), std::invalid_argument);
  CHECK_THROWS_AS(parse_integer("2^(1/2)", 1, 9), std::invalid_argument);
}

TEST_CASE("A locale with a decimal comma changes nothing") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;  // not on every machine
    CHECK(parse_rational("0.5") == Rational(1, 2));
    CHECK(refusal("0,5").find("is not a number") != std::string::npos);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("Products of powers are read back as they were written") {
  const Rational third(1, 3);
  for (const Algebraic& x :
       {Algebraic(), Algebraic(2), Algebraic(Rational(1, 655360)), Algebraic(8, 2),
        Algebraic(Rational(2, 3), 5), Algebraic::power(10, -126, 128),
        Algebraic::power(Rational(500000), -2 * 31, 64) * Algebraic::power(7, -62, 62),
        Algebraic(ropelab::to_rational(0.1)), Algebraic(ropelab::to_rational(5e-324)),
        Algebraic(ropelab::to_rational(std::numeric_limits<double>::max())),
        Algebraic(Rational(pow(Integer(10), 300) + 1, pow(Integer(10), 301) + 7)),
        Algebraic(third) * Algebraic(Rational(15, 7), 3)}) {
    INFO(x.to_powers());
    CHECK(ropelab::parse_powers(x.to_powers()) == x);
  }
  CHECK(Algebraic().to_powers() == "1");
  CHECK(Algebraic(Rational(1, 655360)).to_powers() == "2^-17*5^-1");
  CHECK((Algebraic(15) / ropelab::square_root(Rational(2))).to_powers() == "2^(-1/2)*3*5");
  CHECK(ropelab::parse_powers(" 4^(3/6)*9^2*1 ") == Algebraic(162));
}

TEST_CASE("What is no product of powers, or none of a number in range, is refused") {
  using ropelab::parse_powers;
  for (const char* text : {"",
                           "*",
                           "2*",
                           "*2",
                           "2**3",
                           "2^",
                           "2^-",
                           "2^()",
                           "2^(1/2",
                           "2^1/2)",
                           "2^(1)",
                           "2^(1/0)",
                           "2^(1/-2)",
                           "2^(/2)",
                           "2^+1",
                           "-2",
                           "0",
                           "0^2",
                           "2.5",
                           "2 * 3",
                           "x",
                           "2^x",
                           "2^^2",
                           "2^2000",
                           "2^-1080",
                           "2^999999999",
                           "3^(999999999/2)",
                           "2^1024",
                           "2^99999999999999999999",
                           "2^5000*3^-3000",
                           "2^(1/9999999999)"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_powers(text), std::invalid_argument);
  }
  CHECK_THROWS_AS(parse_powers(std::string(1001, '7')), std::invalid_argument);
  CHECK_THROWS_AS(parse_powers(std::string(9000, '7')), std::invalid_argument);
  CHECK(parse_powers("2^2000*4^-1000") == Algebraic());
}
