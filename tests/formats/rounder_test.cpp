// Rounder against round_to, to the bit.
#include "ropelab/formats/rounder.hpp"

#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using ropelab::all_formats;
using ropelab::Format;
using ropelab::Rounder;

int differences(const Format& format, const std::vector<double>& numbers) {
  const Rounder rounder(format);
  int count = 0;
  for (const double x : numbers) {
    const double found = rounder(x), expected = round_to(format, x);
    const bool same = std::isnan(found)
                          ? std::isnan(expected)
                          : found == expected && std::signbit(found) == std::signbit(expected);
    if (!same) ++count;
  }
  return count;
}

// Powers of two, their ties and the doubles beside them, of both signs, in every binade.
std::vector<double> telling_numbers(const Format& format) {
  std::vector<double> numbers = {0, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::max(), format.largest};
  for (int e = -1074; e < 1024; ++e) {
    const double power = std::ldexp(1.0, e), ulp = ropelab::ulp(format, power);
    for (const double steps : {0.0, 0.5, 1.0, 1.5, 2.5}) numbers.push_back(power + steps * ulp);
  }
  numbers.push_back(format.largest + ropelab::ulp(format, format.largest) / 2);
  for (std::size_t n = numbers.size(); n-- > 0;) {
    numbers.push_back(std::nextafter(numbers[n], 0.0));
    numbers.push_back(std::nextafter(numbers[n], 2 * numbers[n]));
  }
  for (std::size_t n = numbers.size(); n-- > 0;) numbers.push_back(-numbers[n]);
  return numbers;
}

TEST_CASE("a rounder rounds as its format does") {
  std::mt19937_64 random(1);
  for (const Format& format : all_formats()) {
    std::vector<double> numbers = telling_numbers(format);
    for (int n = 0; n < 100000; ++n) numbers.push_back(std::bit_cast<double>(random()));
    const int around = std::ilogb(format.largest);
    for (int n = 0; n < 100000; ++n) {  // in and about the range of the format
      const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * around)) - around;
      numbers.push_back(std::ldexp(static_cast<double>(random() >> 11), exponent - 52));
    }
    INFO(format.name);
    CHECK(differences(format, numbers) == 0);
    CHECK(differences(saturating(format), numbers) == 0);
  }
}

}  // namespace
