// ropelab sweep theta | base | context | phase: the error table along an axis.
#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "ropelab/errors/diagonals.hpp"

namespace ropelab::app {
namespace {

using Defaults = SettingOptions::Defaults;

class Sweep : public Command {
 public:
  explicit Sweep(Defaults defaults) : defaults_(std::move(defaults)) {}

  void add_options(CLI::App& app) override {
    options_.add_to(app, defaults_);
    pairs_.add_to(app);
  }

  void set_up() override {
    settings_ = options_.read();
    sampling_ = pairs_.read();
    require_tables_fit(settings_);
  }

  std::vector<std::string> columns() const override { return error_table_columns(); }

  void run(Run& run, Table& table) override {
    ErrorTableRows rows({sampling_, run.seed(), run.digits()}, run.interruption());
    note_samples(run, rows);
    run.set_instruction_set(instruction_set_in_use());
    run.over(
        settings_.size(), [&](std::size_t point) { rows.add_row(table, settings_[point]); },
        [&](std::size_t point) { return work(rows, settings_[point]); });
  }

 private:
  static double work(const ErrorTableRows& rows, const Setting& setting) {
    const auto context = static_cast<double>(setting.context);
    const auto sample = rows.sample_size(setting);
    return 1000 * context + (sample ? 100 * static_cast<double>(*sample) : context * context / 2);
  }

  // No figure is sampled silently.
  void note_samples(Run& run, const ErrorTableRows& rows) const {
    long long noted = 0;
    for (const Setting& setting : settings_) {
      const auto sample = rows.sample_size(setting);
      if (!sample || setting.context == noted) continue;
      noted = setting.context;
      run.note(
          fmt::format("context {}: a sample of {} pairs (seed {}) stands for all; "
                      "--pairs all looks at every one",
                      setting.context, *sample, run.seed()));
    }
  }

  Defaults defaults_;
  SettingOptions options_;
  SamplingOption pairs_;
  std::vector<Setting> settings_;
  PairSampling sampling_;
};

// One class for each axis, since a command is made without arguments.
struct SweepTheta : Sweep {
  SweepTheta() : Sweep({"65536", {RotationKind::theta, "1e-9,1e-8,1e-7,1e-6,1e-5,1e-4,1e-3"}}) {}
};
struct SweepBase : Sweep {
  SweepBase() : Sweep({"65536", {RotationKind::base, "1e4,1e5,5e5,1e6,1e7"}}) {}
};
struct SweepContext : Sweep {
  SweepContext() : Sweep({"1K,2K,4K,8K,16K,32K,64K,128K,256K", {RotationKind::max_phase, "0.1"}}) {}
};
struct SweepPhase : Sweep {
  SweepPhase() : Sweep({"65536", {RotationKind::max_phase, "1e-6,1e-5,1e-4,1e-3,1e-2,1e-1,1"}}) {}
};

}  // namespace

CommandEntry sweep_theta_command() {
  return {"sweep theta", "Tabulate the errors against theta, the rotation per position",
          "  $ ropelab sweep theta --theta 2^-20 --context 1K --dtype float32 --output-format "
          "markdown\n",
          make_command<SweepTheta>};
}

CommandEntry sweep_base_command() {
  return {"sweep base", "Tabulate the errors against the base of RoPE's frequency grid", "",
          make_command<SweepBase>};
}

CommandEntry sweep_context_command() {
  return {"sweep context", "Tabulate the errors against the context length", "",
          make_command<SweepContext>};
}

CommandEntry sweep_phase_command() {
  return {"sweep phase", "Tabulate the errors against max phase, theta times the context", "",
          make_command<SweepPhase>};
}

}  // namespace ropelab::app
