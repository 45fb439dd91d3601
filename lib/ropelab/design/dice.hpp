// Random numbers that are the same on every machine; internal to this room.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

namespace ropelab {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  // Uniform; `end` is positive.
  double between(double least, double greatest) {
    return least + (greatest - least) * std::ldexp(static_cast<double>(random_() >> 11), -53);
  }
  std::size_t below(std::size_t end) {
    return boost::random::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  bool with_chance(double chance) { return between(0, 1) < chance; }

  // From -1 to 1: uniform, and of so many octaves, each as often.
  double signed_unit() {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random_())), -63);
  }
  double of_octaves(std::size_t octaves) {
    const auto octave = static_cast<int>(below(octaves));
    return std::ldexp(signed_unit(), -octave);
  }

 private:
  boost::random::mt19937_64 random_;
};

}  // namespace ropelab
