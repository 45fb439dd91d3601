// The options that describe the construction, in groups that commands pick from.
//
// Every group adds its options, and afterwards reads them: exactly, as lists or ranges where
// a grid can be made of them, refusing with a UsageError what cannot be meant. What may be a
// long list is read with an interruption, which ends that with Interrupted.
//
// Groups with a take_defaults() take from a model what they are where the user does not say; it
// throws UsageError of --model where the model cannot tell, or tells what the group cannot take.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/model_config.hpp"
#include "app/text_option.hpp"
#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/formats/format.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/simulation/construction.hpp"
#include "ropelab/simulation/content.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/table/manifest.hpp"

namespace ropelab::app {

// Positions are doubles now and then, so none may be above 2^53.
inline constexpr long long kMostPositions = 1LL << 53;

// --context: numbers of positions, 1 … 2^53.
class ContextOption {
 public:
  void add_to(CLI::App& app, const std::string& default_text = "65536");
  // The model's context, up to kLargestContextOfAllPairs.
  void take_defaults(const ModelConfig& model);
  std::vector<long long> read(const Interruption& interruption = {}) const;
  bool given() const { return context_.given(); }

 private:
  TextOption context_;
};

// --scaling: how a model stretches RoPE's grid; a list.
class ScalingOption {
 public:
  void add_to(CLI::App& app);
  void take_defaults(const ModelConfig& model);
  // As the grid is, unless it is wanted.
  std::vector<Scaling> read() const;
  // Whether the user gave it, or a model has one.
  bool wanted() const { return scaling_.given() || !scaling_.text().empty(); }
  const TextOption& option() const { return scaling_; }
  // Where lists of numbers come from.
  std::vector<std::string> files_read() const;
  // What the manifest is to say of scalings that were read and made for their grids, if any is
  // wanted.
  Parameters resolved_parameters(const std::vector<Scaling>& scalings) const;

 private:
  TextOption scaling_;
};

// RoPE's grid as the scaling makes it. Throws UsageError of --scaling where that does not fit.
FrequencyGrid scaled_grid(const Algebraic& base, int rope_dim, const Scaling& scaling);

// What stands for the scaling behind a pipeline in the column of that name:
// ",frequencies=linear:factor=4", or nothing. (The key `scaling` is a step of the pipeline.)
std::string scaling_in_pipeline_cell(const Scaling& scaling);

// How the user said how fast the construction's pair turns.
enum class RotationKind { max_phase, theta, base };

// Which pair of RoPE's grid it is.
enum class PairWord { slowest, nearest, all };
using PairChoice = std::variant<int, PairWord>;

struct Rotation {
  RotationKind kind = RotationKind::max_phase;
  // Max phases in rad, thetas in rad per position, or bases.
  std::vector<Algebraic> values;
  // With bases only:
  std::vector<int> rope_dims;     // even, at least 2
  std::vector<PairChoice> pairs;  // indices are below half of every rope_dim
  std::vector<Scaling> scalings;
};

// --base, where the word `model` stands for the base of a model.
class BaseOption {
 public:
  void add_to(CLI::App& app, const std::string& help, const std::string& default_text);
  void take_defaults(const ModelConfig& model) { model_ = model; }
  // Takes the model's base, unless one is given. Throws UsageError where it has none.
  void default_to_model();
  std::vector<Algebraic> read(const Interruption& interruption = {}) const;
  bool given() const { return base_.given(); }
  CLI::Option* option() const { return base_.option(); }
  // What stands for `model`, for the manifest.
  Parameters resolved_parameters() const;

 private:
  const std::string& base_of_model() const;
  std::string text() const;

  TextOption base_;
  std::optional<ModelConfig> model_;
};

// --max-phase, --theta or --base with --rope-dim, --scaling and --pair.
class RotationOptions {
 public:
  // What holds where none of the three is given.
  struct Default {
    RotationKind kind = RotationKind::max_phase;
    std::string text = "0.1";
  };

  void add_to(CLI::App& app, const Default& without = {RotationKind::max_phase, "0.1"});
  // The model's grid, where a base is asked for: by this group's default, by --base or by what only
  // has a meaning with a base.
  void take_defaults(const ModelConfig& model);
  Rotation read(const Interruption& interruption = {}) const;
  RotationKind kind() const;
  const ScalingOption& scaling() const { return scaling_; }
  const BaseOption& base() const { return base_; }

 private:
  std::vector<const TextOption*> options_of_grid() const;
  std::vector<Algebraic> read_values(const Interruption& interruption) const;

  Default default_;
  TextOption max_phase_;
  TextOption theta_;
  BaseOption base_;
  TextOption rope_dim_;
  ScalingOption scaling_;
  TextOption pair_;
};

// The dimensions of grids that an option names: even, at least 2. Throws UsageError, Interrupted.
std::vector<int> read_rope_dims(const TextOption& option, const Interruption& interruption);

// --base and --rope-dim alone, for commands about RoPE's grid: 10000 and 64 unless given.
class GridOptions {
 public:
  void add_to(CLI::App& app);
  // Throws UsageError also where the model has no grid, unless a base is given.
  void take_defaults(const ModelConfig& model);
  std::vector<Algebraic> bases(const Interruption& interruption = {}) const;
  // Even, at least 2.
  std::vector<int> rope_dims(const Interruption& interruption = {}) const;
  Parameters resolved_parameters() const { return base_.resolved_parameters(); }
  // Which of the two are given.
  std::vector<std::string> given() const;

 private:
  BaseOption base_;
  TextOption rope_dim_;
};

// --head-dim: at least 1.
class HeadDimOption {
 public:
  void add_to(CLI::App& app);
  void take_defaults(const ModelConfig& model);
  std::vector<long long> read(const Interruption& interruption = {}) const;

 private:
  TextOption head_dim_;
};

// --dtype and --saturate. Formats are saturating where the user wants that.
class FormatOptions {
 public:
  void add_to(CLI::App& app, const std::string& default_text = "float16,float32,float64");
  std::vector<Format> read() const;
  // What --saturate asks of every 8-bit step, whatever the dtype.
  EightBit eight_bit() const { return saturate_ ? EightBit::saturates : EightBit::overflows; }
  // --dtype itself.
  const TextOption& option() const { return dtype_; }

 private:
  TextOption dtype_;
  bool saturate_ = false;
};

// --pipeline: names with their overrides, checked, but not yet made for a dtype.
class PipelineOption {
 public:
  void add_to(CLI::App& app, const std::string& default_text = "ideal-trig");
  std::vector<std::string> read() const;
  const TextOption& option() const { return pipeline_; }

 private:
  TextOption pipeline_;
};

// Up to this context all pairs are looked at unless the user says otherwise.
inline constexpr long long kLargestContextOfAllPairs = 256 * 1024;

// --pairs: all pairs whatever it takes, a sample of so many, or (nothing) as fits the context.
struct PairSampling {
  bool all = false;
  std::optional<long long> sample;
  // Up to this context it is all, where the user does not say.
  long long all_up_to = kLargestContextOfAllPairs;
};

class SamplingOption {
 public:
  void add_to(CLI::App& app);
  PairSampling read() const;

 private:
  TextOption pairs_;
};

// --first-position: 0 … 2^53.
class FirstPositionOption {
 public:
  void add_to(CLI::App& app);
  long long read() const;
  bool given() const { return first_position_.given(); }

 private:
  TextOption first_position_;
};

// --content: none, or random:SEED:PLACE, a list.
class ContentOption {
 public:
  void add_to(CLI::App& app);
  std::vector<std::optional<Content>> read() const;
  bool given() const { return content_.given(); }

 private:
  TextOption content_;
};

// As the pipeline cell shows it: "random:1:last".
std::string text_of(const Content& content);

// --tolerance: above 0, logits.
class ToleranceOption {
 public:
  void add_to(CLI::App& app);
  Algebraic read() const;

 private:
  TextOption tolerance_;
};

// --split: how N is divided between query and key; query, even or key=2^K.
class SplitOption {
 public:
  void add_to(CLI::App& app);
  std::vector<Split> read() const;
  const TextOption& option() const { return split_; }

 private:
  TextOption split_;
};
// As users write it: "key=2^8".
std::string to_text(const Split& split);

// --unit: what errors are told in. A token is the bias of one position of distance, the slope.
enum class Unit { logits, tokens };

class UnitOption {
 public:
  void add_to(CLI::App& app);
  Unit read() const;

 private:
  TextOption unit_;
};

// --bias-scale: whether the bias is added before the scores are divided by sqrt(head_dim).
enum class BiasScale { after, before };

class BiasScaleOption {
 public:
  void add_to(CLI::App& app);
  // before, for models that add ALiBi so.
  void take_defaults(const ModelConfig& model);
  BiasScale read() const;

 private:
  TextOption bias_scale_;
};

}  // namespace ropelab::app
