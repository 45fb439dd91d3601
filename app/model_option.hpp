// --model: a model whose shape other options take as their defaults.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/model_config.hpp"
#include "app/text_option.hpp"
#include "ropelab/table/manifest.hpp"

namespace ropelab::app {

// Add it, read it before the options that take from it, and give these their defaults.
class ModelOption {
 public:
  void add_to(CLI::App& app) {
    model_.add_to(
        app, "--model", "CONFIG.json",
        "Take what is not given (context, heads, head-dim, bias-scale, and where a base is "
        "asked for base, rope-dim and scaling) from this file of a Hugging Face model");
  }

  // If it is given. Throws UsageError.
  void read() {
    if (model_.given()) config_ = model_.read(read_model_config);
  }
  // Empty unless it is given.
  const std::optional<ModelConfig>& config() const { return config_; }

  // Groups of options with a take_defaults().
  template <typename... Options>
  void give_defaults(Options&... options) const {
    if (config_) (options.take_defaults(*config_), ...);
  }

  // For Command::files_read and Command::resolved_parameters.
  std::vector<std::string> files_read() const {
    return config_ ? std::vector<std::string>{config_->file} : std::vector<std::string>();
  }
  Parameters resolved_parameters() const {
    if (!config_) return {};
    return {{"model", config_->file + ": " + summary(*config_)}};
  }

 private:
  TextOption model_;
  std::optional<ModelConfig> config_;
};

}  // namespace ropelab::app
