// Random numbers that fill every bit of a Real or DoubleDouble.
#pragma once

#include <cstdint>
#include <random>

#include "ropelab/exact/double_double.hpp"

namespace sample {

using Random = std::mt19937_64;

// A whole number of so many 64-bit words.
inline ropelab::Integer words(Random& random, int count) {
  ropelab::Integer result = 0;
  for (int i = 0; i < count; ++i) result = (result << 64) + random();
  return result;
}

// In [1, 2), all 512 bits random.
inline ropelab::Real one_to_two(Random& random) {
  ropelab::Integer bits = words(random, 8);
  bit_set(bits, 511);
  return ldexp(ropelab::to_real(ropelab::Rational(bits)), -511);
}

// Magnitudes 2^least ... 2^most, evenly in the exponent.
inline ropelab::Real real(Random& random, int least, int most) {
  const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(most - least));
  return ldexp(one_to_two(random), exponent);
}

inline ropelab::DoubleDouble double_double(Random& random, int least, int most) {
  return ropelab::to_double_double(real(random, least, most));
}

}  // namespace sample
