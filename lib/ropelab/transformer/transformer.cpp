#include "ropelab/transformer/transformer.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <stdexcept>
#include <string>

#include "ropelab/transformer/products.hpp"

namespace ropelab {
namespace {

template <class Scalar>
LayerNorm<Scalar> layer_norm(const Checkpoint& checkpoint, const std::string& name) {
  return {weight_vector<Scalar>(checkpoint.tensor(name + ".weight")),
          weight_vector<Scalar>(checkpoint.tensor(name + ".bias")),
          checkpoint.config().layer_norm_epsilon};
}

template <class Scalar>
Linear<Scalar> linear(const Checkpoint& checkpoint, const std::string& name) {
  return {WeightMatrix<Scalar>(checkpoint.tensor(name + ".weight")),
          weight_vector<Scalar>(checkpoint.tensor(name + ".bias"))};
}

template <class Scalar>
void append_rows(std::vector<Scalar>& to, const ConstMatrixView<Scalar>& fused,
                 Eigen::Index first_column, const BloomConfig& config) {
  const Eigen::Index head_dim = config.head_dim();
  for (Eigen::Index row = 0; row < fused.rows(); ++row) {
    for (Eigen::Index head = 0; head < config.heads; ++head) {
      const Scalar* const from =
          const_row_of<Scalar>(fused, row).data() + head * 3 * head_dim + first_column;
      to.insert(to.end(), from, from + head_dim);
    }
  }
}

template <class Scalar>
ConstMappedMatrix<Scalar> as_matrix(const std::vector<Scalar>& rows, Eigen::Index columns) {
  return {rows.data(), static_cast<Eigen::Index>(rows.size()) / columns, columns,
          Eigen::OuterStride<>(columns)};
}

}  // namespace

// The cosines and sines of a run's positions.
template <class Scalar>
struct Transformer<Scalar>::Turns {
  const Rotary<Scalar>& rotary;
  Matrix<Scalar> cosines, sines;

  Turns(const Rotary<Scalar>& rotary_of_run, long long first, Eigen::Index tokens,
        Eigen::Index pairs)
      : rotary(rotary_of_run), cosines(tokens, pairs), sines(tokens, pairs) {
    tbb::parallel_for(Eigen::Index{0}, tokens, [&](Eigen::Index token) {
      rotary.tables(first + token, row_of<Scalar>(cosines, token), row_of<Scalar>(sines, token));
    });
  }

  // All queries and keys of the fused projection.
  void apply(MatrixView<Scalar> fused) const {
    const Eigen::Index head_dim = 2 * cosines.cols();
    tbb::parallel_for(Eigen::Index{0}, fused.rows(), [&](Eigen::Index token) {
      const std::span<const Scalar> c = const_row_of<Scalar>(cosines, token);
      const std::span<const Scalar> s = const_row_of<Scalar>(sines, token);
      for (Eigen::Index head = 0; head < fused.cols(); head += 3 * head_dim) {
        for (const Eigen::Index first : {head, head + head_dim}) {
          rotary.rotate(c, s, {&fused(token, first), static_cast<std::size_t>(head_dim)});
        }
      }
    });
  }
};

// One run: its tokens on their way through the layers.
template <class Scalar>
class Transformer<Scalar>::Run {
 public:
  Run(const Transformer& model, std::span<const Token> tokens, const RunOptions<Scalar>& options)
      : model_(model),
        config_(model.config_),
        options_(options),
        tokens_(tokens),
        cached_(options.cache == nullptr ? 0 : options.cache->size()),
        first_(options.first_position + cached_) {
    check();
    const Eigen::Index size = config_.hidden_size;
    states_.resize(count(), size);
    normed_.resize(count(), size);
    fused_.resize(count(), 3 * size);
    means_.resize(count(), size);
    inner_.resize(count(), 4 * size);
    const Rotary<Scalar>* rotary = options.rotary ? options.rotary : model.native_rotary_.get();
    if (rotary) turns_ = std::make_unique<Turns>(*rotary, first_, count(), config_.head_dim() / 2);
    if (options.cache != nullptr) options.cache->layers_.resize(model.layers_.size());
    if (options.statistics != nullptr) {
      options.statistics->layers_.resize(
          model.layers_.size(),
          std::vector<HeadStatistics>(static_cast<std::size_t>(config_.heads)));
    }
  }

  Matrix<Scalar> hidden_states() && {
    embed();
    show(0);
    try {
      for (std::size_t n = 0; n < model_.layers_.size(); ++n) {
        options_.interruption.check();
        pass(n);
        show(static_cast<int>(n) + 1);
      }
    } catch (...) {
      forget();
      throw;
    }
    model_.final_norm_.apply(states_, states_);
    show(static_cast<int>(model_.layers_.size()) + 1);
    if (options_.cache != nullptr) options_.cache->tokens_ += count();
    return std::move(states_);
  }

 private:
  Eigen::Index count() const { return static_cast<Eigen::Index>(tokens_.size()); }

  void check() const {
    for (const Token token : tokens_) {
      if (token < 0 || token >= config_.vocabulary) {
        throw std::invalid_argument(fmt::format("token {} is not in the vocabulary of {}, 0 to {}",
                                                token, config_.vocabulary, config_.vocabulary - 1));
      }
    }
    model_.position_vectors_.check(first_, count());
    if (options_.rotary && !model_.native_rotary_) {
      throw std::invalid_argument("the model does not turn its queries and keys");
    }
  }

  void embed() {
    tbb::parallel_for(Eigen::Index{0}, count(), [&](Eigen::Index row) {
      const std::span<Scalar> embedding = row_of<Scalar>(states_, row);
      const auto token = static_cast<std::size_t>(tokens_[static_cast<std::size_t>(row)]);
      widen<Scalar>(model_.words_, token * embedding.size(), embedding);
      model_.position_vectors_.add_to(embedding, first_ + row);
    });
    model_.embedding_norm_.apply(states_, states_);
  }

  void pass(std::size_t n) {
    const Layer& layer = model_.layers_[n];
    layer.input_norm.apply(states_, normed_);
    layer.query_key_value.apply(normed_, fused_);
    if (turns_) turns_->apply(fused_);
    attend(n);
    if (config_.residual_after_layer_norm) states_ = normed_;
    layer.dense.add(means_, states_);
    layer.post_attention_norm.apply(states_, normed_);
    layer.inner.apply_with_gelu(normed_, inner_);
    if (config_.residual_after_layer_norm) states_ = normed_;
    layer.outer.add(inner_, states_);
  }

  void attend(std::size_t n) {
    const AttentionBias<Scalar>& bias = options_.bias ? *options_.bias : *model_.native_bias_;
    HeadStatistics* statistics =
        options_.statistics ? options_.statistics->layers_[n].data() : nullptr;
    ropelab::attend<Scalar>(options_.cache ? input_with_cache(n) : input_alone(), bias, means_,
                            statistics, options_.interruption);
  }

  HeadsInput<Scalar> input_alone() const {
    const Eigen::Index head_dim = config_.head_dim(), step = 3 * head_dim;
    return {fused_,
            fused_.rightCols(fused_.cols() - head_dim),
            fused_.rightCols(fused_.cols() - 2 * head_dim),
            step,
            step,
            static_cast<int>(config_.heads),
            head_dim,
            first_};
  }

  HeadsInput<Scalar> input_with_cache(std::size_t n) const {
    const Eigen::Index head_dim = config_.head_dim();
    auto& [keys, values] = options_.cache->layers_[n];
    append_rows<Scalar>(keys, fused_, head_dim, config_);
    append_rows<Scalar>(values, fused_, 2 * head_dim, config_);
    return {fused_,
            as_matrix(keys, config_.hidden_size),
            as_matrix(values, config_.hidden_size),
            3 * head_dim,
            head_dim,
            static_cast<int>(config_.heads),
            head_dim,
            options_.first_position};
  }

  // What this run has put into the cache.
  void forget() {
    if (options_.cache == nullptr) return;
    const auto size = static_cast<std::size_t>(cached_ * config_.hidden_size);
    for (auto& [keys, values] : options_.cache->layers_) {
      keys.resize(std::min(size, keys.size()));
      values.resize(std::min(size, values.size()));
    }
  }

  void show(int n) const {
    if (options_.show_states) options_.show_states(n, states_);
  }

  const Transformer& model_;
  const BloomConfig& config_;
  const RunOptions<Scalar>& options_;
  std::span<const Token> tokens_;
  long long cached_, first_;
  Matrix<Scalar> states_, normed_, fused_, means_, inner_;
  std::unique_ptr<Turns> turns_;
};

template <class Scalar>
Transformer<Scalar>::Transformer(const Checkpoint& checkpoint)
    : config_(checkpoint.config()),
      words_(checkpoint.tensor("word_embeddings.weight")),
      output_layer_(checkpoint.output_layer()),
      position_vectors_(checkpoint),
      embedding_norm_(layer_norm<Scalar>(checkpoint, "word_embeddings_layernorm")),
      final_norm_(layer_norm<Scalar>(checkpoint, "ln_f")),
      native_bias_(ropelab::native_bias<Scalar>(checkpoint)) {
  prepare_blas();
  for (long long n = 0; n < config_.layers; ++n) {
    const std::string layer = fmt::format("h.{}.", n);
    layers_.push_back({layer_norm<Scalar>(checkpoint, layer + "input_layernorm"),
                       linear<Scalar>(checkpoint, layer + "self_attention.query_key_value"),
                       linear<Scalar>(checkpoint, layer + "self_attention.dense"),
                       layer_norm<Scalar>(checkpoint, layer + "post_attention_layernorm"),
                       linear<Scalar>(checkpoint, layer + "mlp.dense_h_to_4h"),
                       linear<Scalar>(checkpoint, layer + "mlp.dense_4h_to_h")});
  }
  if (config_.encoding == PositionEncoding::rotary) {
    native_rotary_ = std::make_unique<PlainRotary<Scalar>>(config_.rope_base,
                                                           static_cast<int>(config_.head_dim()));
  }
}

template <class Scalar>
Transformer<Scalar>::~Transformer() = default;

template <class Scalar>
Matrix<Scalar> Transformer<Scalar>::run(std::span<const Token> tokens,
                                        const RunOptions<Scalar>& options) const {
  return Run(*this, tokens, options).hidden_states();
}

template <class Scalar>
void Transformer<Scalar>::logits(const ConstMatrixView<Scalar>& hidden_states,
                                 MatrixView<Scalar> logits) const {
  apply<Scalar>(output_layer_, hidden_states, logits);
}

template <class Scalar>
Matrix<Scalar> Transformer<Scalar>::logits(const ConstMatrixView<Scalar>& hidden_states) const {
  Matrix<Scalar> logits(hidden_states.rows(), config_.vocabulary);
  this->logits(hidden_states, logits);
  return logits;
}

template class Transformer<float>;
template class Transformer<double>;

}  // namespace ropelab
