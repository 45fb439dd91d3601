#include "ropelab/transformer/position_vectors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "ropelab/transformer/weights.hpp"

namespace ropelab {

template <class Scalar>
PositionVectors<Scalar>::PositionVectors(const Checkpoint& checkpoint)
    : config_(checkpoint.config()) {
  if (config_.encoding == PositionEncoding::learned) {
    learned_ = weight_vector<Scalar>(checkpoint.tensor("position_embeddings.weight"));
  }
  if (config_.encoding != PositionEncoding::sinusoidal) return;
  const double size = static_cast<double>(config_.hidden_size);
  for (long long component = 0; component < config_.hidden_size; component += 2) {
    wavelengths_.push_back(std::pow(10000.0, static_cast<double>(component) / size));
  }
}

template <class Scalar>
void PositionVectors<Scalar>::check(long long first, long long count) const {
  const auto known = static_cast<long long>(learned_.size()) / config_.hidden_size;
  if (config_.encoding != PositionEncoding::learned || first + count <= known) return;
  throw std::invalid_argument(
      fmt::format("the model has learned {} positions, 0 to {}, and knows nothing of position {}",
                  known, known - 1, first + count - 1));
}

template <class Scalar>
void PositionVectors<Scalar>::add_to(std::span<Scalar> embedding, long long position) const {
  if (!learned_.empty()) {
    const Scalar* const row = &learned_[static_cast<std::size_t>(position) * embedding.size()];
    for (std::size_t k = 0; k < embedding.size(); ++k) embedding[k] += row[k];
  }
  for (std::size_t pair = 0; pair < wavelengths_.size(); ++pair) {
    const double angle = static_cast<double>(position) / wavelengths_[pair];
    embedding[2 * pair] += static_cast<Scalar>(std::sin(angle));
    if (2 * pair + 1 < embedding.size()) {
      embedding[2 * pair + 1] += static_cast<Scalar>(std::cos(angle));
    }
  }
}

template class PositionVectors<float>;
template class PositionVectors<double>;

}  // namespace ropelab
