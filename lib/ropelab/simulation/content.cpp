#include "ropelab/simulation/content.hpp"

namespace ropelab {
namespace {

// The finalizer of SplitMix64: every bit of x moves every bit of the result. Numbers made from
// their own places need no state that runs through all positions.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t step_of_state = 0x9e3779b97f4a7c15u;

constexpr int fraction_bits = 48, short_fraction_bits = 20;

// In units of 2^-48. Twelve numbers of 0 ... 2^16-1 add up to mean 393210 and variance 2^32 - 1;
// 32 more bits, of mean 2^31, fill the places below.
std::int64_t draw(std::uint64_t state) {
  std::int64_t sum = -393210;
  for (int word = 0; word < 3; ++word) {
    const std::uint64_t bits = mixed(state += step_of_state);
    for (int shift = 0; shift < 64; shift += 16) {
      sum += static_cast<std::int64_t>((bits >> shift) & 0xffff);
    }
  }
  const auto below = static_cast<std::int64_t>(mixed(state + step_of_state) >> 32);
  return sum * (std::int64_t{1} << 32) + below - (std::int64_t{1} << 31);
}

bool is_short(const Step& storage) { return storage && storage->precision <= 24; }

double drawn_number(std::int64_t drawn, const Step& storage) {
  if (!is_short(storage)) return std::ldexp(static_cast<double>(drawn), -fraction_bits);
  constexpr int cut = fraction_bits - short_fraction_bits;
  const std::int64_t rounded = (drawn + (std::int64_t{1} << (cut - 1))) >> cut;
  return std::ldexp(static_cast<double>(rounded), -short_fraction_bits);
}

}  // namespace

double content_quantum(const Step& storage) {
  return std::ldexp(1.0, is_short(storage) ? -short_fraction_bits : -fraction_bits);
}

std::vector<double> content_vector(std::uint64_t seed, Role role, long long position,
                                   std::size_t head_dim, const Step& storage) {
  const std::uint64_t place =
      2 * static_cast<std::uint64_t>(position) + (role == Role::query ? 0 : 1);
  const std::uint64_t state = mixed(mixed(seed + step_of_state) + place);
  std::vector<double> components(head_dim);
  for (std::size_t n = 0; n < head_dim; ++n) {
    const double x = drawn_number(draw(mixed(state + n)), storage);
    components[n] = storage ? round_to(*storage, x) : x;
  }
  return components;
}

std::size_t content_before(PairPlace place, std::size_t head_dim, std::size_t product) {
  switch (place) {
    case PairPlace::first:
      return 0;
    case PairPlace::last:
      return head_dim;
    case PairPlace::halves:
      break;
  }
  return product % 2 == 0 ? head_dim / 2 : head_dim;
}

}  // namespace ropelab
