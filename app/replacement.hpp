// What `ropelab bloom` puts in the place of a model's own position encoding.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/design_file.hpp"
#include "ropelab/checkpoint/bloom_config.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/simulation/construction.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/transformer/attention_bias.hpp"
#include "ropelab/transformer/rotary.hpp"

namespace ropelab::app {

enum class ReplacementKind {
  native,           // nothing: the model as it is
  native_absolute,  // +m j
  native_relative,  // -m (i - j)
  none,             // no bias
  pair,             // the construction
  design,           // what a model file of `ropelab design` says
  rotary            // the model's own rotation, computed in a format
};

// What --bias takes: names, and design:FILE.
struct BiasWord {
  ReplacementKind kind;
  std::string text;                 // as the user wrote it
  std::vector<DesignedHead> heads;  // of a design: every head of the model in turn
};
// One item. Throws std::invalid_argument where there is no such bias or the file is refused.
BiasWord parse_bias_word(const std::string& item);
// Of a design, the heads in order. Throws std::invalid_argument where the word has no meaning for
// a model of this kind (one that adds vectors to its embeddings has nothing to replace), or the
// design is of another.
void fit_to_model(BiasWord& word, const BloomConfig& model);

// Whether it has a dtype and a pipeline of its own; and a max phase.
bool is_computed(ReplacementKind kind);

// One replacement in windows of one length.
struct Replacement {
  const BiasWord* word;
  std::optional<Format> dtype;
  std::optional<Pipeline> pipeline;
  std::optional<Algebraic> theta, max_phase;
  Split split;
  std::string pipeline_cell;
};

// What a run of the model is handed in place of its own: either may be null.
template <class Scalar>
struct Encoding {
  std::unique_ptr<AttentionBias<Scalar>> bias;
  std::unique_ptr<Rotary<Scalar>> rotary;
};
// For positions first_position ... first_position + window - 1. A bias in the place of a rotation
// leaves queries and keys as they are. Throws std::invalid_argument where
// a design cannot be made there, std::domain_error as rotated_table, and Interrupted.
template <class Scalar>
Encoding<Scalar> make_encoding(const Replacement& replacement, const BloomConfig& model,
                               long long first_position, std::size_t window,
                               const Interruption& interruption);

}  // namespace ropelab::app
