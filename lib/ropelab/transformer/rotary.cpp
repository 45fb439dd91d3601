#include "ropelab/transformer/rotary.hpp"

#include <algorithm>
#include <cmath>

#include "ropelab/formats/rounder.hpp"

namespace ropelab {
namespace {

std::optional<Rounder> rounder_to(const std::optional<Format>& format) {
  return format ? std::optional<Rounder>(*format) : std::nullopt;
}

template <class Scalar>
Scalar rounded(const std::optional<Rounder>& rounder, Scalar x) {
  return rounder ? static_cast<Scalar>((*rounder)(static_cast<double>(x))) : x;
}

}  // namespace

template <class Scalar>
void Rotary<Scalar>::rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
                            std::span<Scalar> components) const {
  const std::size_t pairs = cosines.size();
  Scalar* const first = components.data();
  Scalar* const second = first + pairs;
  for (std::size_t r = 0; r < pairs; ++r) {
    const Scalar u = first[r], v = second[r];
    first[r] = u * cosines[r] - v * sines[r];
    second[r] = v * cosines[r] + u * sines[r];
  }
}

template <class Scalar>
PlainRotary<Scalar>::PlainRotary(double base, int head_dim) {
  for (int r = 0; r < head_dim / 2; ++r) {
    frequencies_.push_back(std::pow(base, -2.0 * r / head_dim));
  }
}

template <class Scalar>
void PlainRotary<Scalar>::tables(long long position, std::span<Scalar> cosines,
                                 std::span<Scalar> sines) const {
  for (std::size_t r = 0; r < frequencies_.size(); ++r) {
    const double angle = static_cast<double>(position) * frequencies_[r];
    cosines[r] = static_cast<Scalar>(std::cos(angle));
    sines[r] = static_cast<Scalar>(std::sin(angle));
  }
}

template <class Scalar>
void NoRotary<Scalar>::tables(long long, std::span<Scalar> cosines, std::span<Scalar> sines) const {
  std::fill(cosines.begin(), cosines.end(), Scalar{1});
  std::fill(sines.begin(), sines.end(), Scalar{0});
}

template <class Scalar>
RoundedRotation<Scalar>::RoundedRotation(const std::optional<Format>& rotation,
                                         const std::optional<Format>& storage)
    : rotation_(rounder_to(rotation)), storage_(rounder_to(storage)) {}

template <class Scalar>
void RoundedRotation<Scalar>::operator()(std::span<const Scalar> cosines,
                                         std::span<const Scalar> sines,
                                         std::span<Scalar> components) const {
  const auto step = [&](Scalar x) { return rounded(rotation_, x); };
  const std::size_t pairs = cosines.size();
  for (std::size_t r = 0; r < pairs; ++r) {
    const Scalar u = step(components[r]), v = step(components[r + pairs]);
    const Scalar c = step(cosines[r]), s = step(sines[r]);
    components[r] = rounded(storage_, step(step(u * c) - step(v * s)));
    components[r + pairs] = rounded(storage_, step(step(v * c) + step(u * s)));
  }
}

template <class Scalar>
RoundedRotary<Scalar>::RoundedRotary(const Rotary<Scalar>& exact, const Formats& formats)
    : exact_(exact),
      table_(rounder_to(formats.table)),
      rotation_(formats.rotation, formats.storage) {}

template <class Scalar>
void RoundedRotary<Scalar>::tables(long long position, std::span<Scalar> cosines,
                                   std::span<Scalar> sines) const {
  exact_.tables(position, cosines, sines);
  for (Scalar& x : cosines) x = rounded(table_, x);
  for (Scalar& x : sines) x = rounded(table_, x);
}

template <class Scalar>
void RoundedRotary<Scalar>::rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
                                   std::span<Scalar> components) const {
  rotation_(cosines, sines, components);
}

template class Rotary<float>;
template class Rotary<double>;
template class PlainRotary<float>;
template class PlainRotary<double>;
template class NoRotary<float>;
template class NoRotary<double>;
template class RoundedRotation<float>;
template class RoundedRotation<double>;
template class RoundedRotary<float>;
template class RoundedRotary<double>;

}  // namespace ropelab
