// Cases about numbers on their way into a format.
#pragma once

#include <set>

#include "cases/case.hpp"

namespace cases {

// The right path rounds once. A naive one that does not say more goes through float32.
inline Real converted(const Case& c, const Format& format, const Rational& x) {
  if (!c.naive()) return Real(ropelab::round_to(format, x));
  return Real(ropelab::round_to(format, ropelab::round_to(ropelab::float32_format(), x)));
}

inline Value round(const Case& c) { return converted(c, c.asked_format("fmt"), c.number("x")); }

inline Value ulp(const Case& c) {
  return Real(ropelab::ulp(c.asked_format("fmt"), ropelab::to_double(c.number("x"))));
}

// How many of the positions 0 ... n-1 stay apart.
inline Value distinct_positions(const Case& c) {
  std::set<Real> positions;
  for (long long n = 0; n < c.integer("n"); ++n) positions.insert(kept(c.kept_in("fmt"), Real(n)));
  return Real(positions.size());
}

// start + step*index in the format. The naive path fills vectors of 16 lanes: it rounds where a
// vector starts, and adds the lanes to that.
inline Value arange(const Case& c) {
  const Format& format = c.asked_format("fmt");
  const Rational step = c.number("step");
  const long long index = c.integer("index");
  const long long lane = c.naive() ? index % 16 : 0;
  const Rational first = c.number("start") + step * (index - lane);
  const double rounded = ropelab::round_to(format, first);
  return Real(ropelab::round_to(format, Rational(ropelab::to_rational(rounded) + step * lane)));
}

// An encoding of float32 brought to a shorter format: the naive path cuts it off.
inline Value bits(const Case& c) {
  const Format& float32 = ropelab::float32_format();
  const Format& format = c.asked_format("fmt");
  const std::uint64_t encoding = std::stoull(c.text("from_f32_bits"), nullptr, 16);
  if (c.naive()) return Real(ropelab::decode(format, encoding >> (float32.bits - format.bits)));
  return Real(ropelab::round_to(format, ropelab::decode(float32, encoding)));
}

}  // namespace cases
