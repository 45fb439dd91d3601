// Settings of the construction: the points of the grid that sweeps go over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/construction_options.hpp"
#include "app/head_options.hpp"
#include "app/model_option.hpp"
#include "ropelab/errors/error_unit.hpp"
#include "ropelab/simulation/construction.hpp"
#include "ropelab/simulation/pipeline.hpp"
#include "ropelab/table/manifest.hpp"

namespace ropelab::app {

// How fast the pair turns at one context, and where that comes from.
struct ResolvedRotation {
  Algebraic max_phase;  // rad over the context
  Algebraic theta;      // rad per position
  // Where a base was given:
  std::optional<Algebraic> base;
  std::optional<int> rope_dim;
  std::optional<int> pair;
  Scaling scaling{};  // of that grid
};

// One point: everything that a row of the error table depends on.
struct Setting {
  long long context;
  ResolvedRotation rotation;
  HeadChoice head;
  long long head_dim;
  Format dtype;
  Pipeline pipeline;
  std::string pipeline_cell;  // the pipeline and every setting without a column of its own
  BiasScale bias_scale;
  long long first_position;
  Split split;
  std::optional<Content> content{};  // where the pair's products are added among others
  Unit unit = Unit::logits;          // of its errors

  // With the slope that the scaled score is to have: m, or m/sqrt(head_dim) where the bias is
  // added before the scaling.
  Construction construction() const;
  // By what errors in logits are divided.
  ErrorUnit error_unit() const;
};

// All options of the construction, in the order of the error table's columns.
class SettingOptions {
 public:
  struct Defaults {
    std::string context = "65536";
    RotationOptions::Default rotation;
    bool sweeps_contexts = false;  // then a model's does not take their place
  };

  void add_to(CLI::App& app, const Defaults& defaults = {"65536", {}, false});
  // --content as well, for commands whose figures can be taken among content.
  void add_content_to(CLI::App& app);
  // --unit as well, for commands that tell errors.
  void add_unit_to(CLI::App& app);
  // The grid in the order of its rows: the leftmost column varies slowest. Throws UsageError,
  // also for more points than fit this machine's memory, and Interrupted.
  std::vector<Setting> read(const Interruption& interruption = {});
  // What the manifest is to say of these settings besides the options: the values that follow
  // from those given (thetas from max phases, say). Throws Interrupted.
  Parameters resolved_parameters(const std::vector<Setting>& settings,
                                 const Interruption& interruption) const;
  // For Command::files_read.
  std::vector<std::string> files_read() const;
  // Whether the user said which positions there are, by --context or --first-position.
  bool limits_positions() const { return context_.given() || first_position_.given(); }
  // Whether the user said what content there is, by --content.
  bool gives_content() const { return content_.given(); }
  // Whether max phase is fixed, and not theta or a base.
  bool fixes_phase() const { return rotation_.kind() == RotationKind::max_phase; }

 private:
  std::string pipeline_cell(const std::string& name, const Pipeline& pipeline,
                            const Scaling& scaling, const Split& split,
                            const std::optional<Content>& content) const;
  Parameters scaling_parameters(const std::vector<Setting>& settings) const;
  Parameters model_parameters() const;
  std::vector<std::optional<Content>> contents() const;
  Unit unit() const { return takes_unit_ ? unit_.read() : Unit::logits; }
  std::vector<ResolvedRotation> rotations(const Rotation& rotation, long long context,
                                          const Interruption& interruption) const;

  ModelOption model_;
  ContextOption context_;
  RotationOptions rotation_;
  HeadOptions heads_;
  HeadDimOption head_dim_;
  FormatOptions formats_;
  PipelineOption pipelines_;
  SplitOption split_;
  FirstPositionOption first_position_;
  BiasScaleOption bias_scale_;
  ContentOption content_;
  UnitOption unit_;
  bool takes_content_ = false;
  bool takes_unit_ = false;
  bool sweeps_contexts_ = false;
};

}  // namespace ropelab::app
