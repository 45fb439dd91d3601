// ropelab sweep theta | base | context | phase: the error table along an axis.
#include "app/budget.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "app/sampling.hpp"
#include "ropelab/errors/diagonals.hpp"

namespace ropelab::app {
namespace {

using Defaults = SettingOptions::Defaults;

class Sweep : public Command {
 public:
  explicit Sweep(Defaults defaults) : defaults_(std::move(defaults)) {}

  void add_options(CLI::App& app) override {
    options_.add_to(app, defaults_);
    options_.add_content_to(app);
    options_.add_unit_to(app);
    pairs_.add_to(app);
    app.add_flag(
        "--budget", budget_,
        "Rows for each step of the pipeline besides: only that step rounded, and all but it");
  }

  void set_up(const Interruption& interruption) override {
    settings_ = options_.read(interruption);
    sampling_ = pairs_.read();
    if (budget_) sampling_.all_up_to = kLargestContextOfBudget;
    require_tables_fit(settings_);
    require_samples_fit(sampling_, settings_);
    require_content_fits(sampling_, settings_);
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> columns = error_table_columns();
    if (budget_) columns.insert(columns.end(), {"budget_step", "budget_rounded"});
    return columns;
  }

  std::vector<std::string> files_read() const override { return options_.files_read(); }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    Parameters parameters = options_.resolved_parameters(settings_, interruption);
    parameters.emplace_back("pairs", pairs_text(sampling_, settings_));
    return parameters;
  }

  std::optional<std::size_t> rows_in_all() const override {
    return settings_.size() * rows_of_each();
  }

  void run(Run& run, Table& table) override {
    ErrorTableRows rows({sampling_, run.seed(), run.digits()}, run.point_interruption());
    note_samples(run, sampling_, settings_);
    run.set_instruction_set(instruction_set_in_use());
    run.over(
        settings_.size() * rows_of_each(),
        [&](std::size_t point) {
          const Setting& setting = settings_[point / rows_of_each()];
          if (!budget_) {
            rows.add_row(table, setting);
          } else {
            add_budget_row(rows, table, budget_row(setting, point % rows_of_each()));
          }
        },
        [&](std::size_t point) {
          return work_on_pairs(sampling_, settings_[point / rows_of_each()]);
        });
  }

 private:
  // An exact storage, accumulation or scaling, which most rows of a budget have, takes some 100 ns
  // a pair, where all formats take 1.
  static constexpr long long kLargestContextOfBudget = 4096;

  std::size_t rows_of_each() const { return budget_ ? kBudgetRows : 1; }

  static void add_budget_row(ErrorTableRows& rows, Table& table, const BudgetRow& row) {
    rows.add_row(table, row.setting)
        .set("budget_step", row.step)
        .set("budget_rounded", row.rounded);
  }

  Defaults defaults_;
  SettingOptions options_;
  SamplingOption pairs_;
  std::vector<Setting> settings_;
  PairSampling sampling_;
  bool budget_ = false;
};

// One class for each axis, since a command is made without arguments.
struct SweepTheta : Sweep {
  SweepTheta()
      : Sweep({"65536", {RotationKind::theta, "1e-9,1e-8,1e-7,1e-6,1e-5,1e-4,1e-3"}, false}) {}
};
struct SweepBase : Sweep {
  SweepBase() : Sweep({"65536", {RotationKind::base, "1e4,1e5,5e5,1e6,1e7"}, false}) {}
};
struct SweepContext : Sweep {
  SweepContext()
      : Sweep({"1K,2K,4K,8K,16K,32K,64K,128K,256K", {RotationKind::max_phase, "0.1"}, true}) {}
};
struct SweepPhase : Sweep {
  SweepPhase()
      : Sweep({"65536", {RotationKind::max_phase, "1e-6,1e-5,1e-4,1e-3,1e-2,1e-1,1"}, false}) {}
};

}  // namespace

CommandEntry sweep_theta_command() {
  return {
      "sweep theta", "Tabulate the errors against theta, the rotation per position",
      R"(  $ ropelab sweep theta --theta 1e-7,1e-6,1e-5 --context 4K --dtype float32 | cut -d, -f3,17,20,34
  theta,truncation_max_abs,rounding_max_abs,status
  1e-07,8.092737738517792e-05,0.00054564541935576,ok
  1e-06,0.008092731021008033,0.0006750035795500445,ok
  1e-05,0.8092059296849278,0.0007609414317890095,ok
)",
      make_command<SweepTheta>};
}

CommandEntry sweep_base_command() {
  return {
      "sweep base", "Tabulate the errors against the base of RoPE's frequency grid",
      R"(  $ ropelab sweep base --base 1e4,1e6 --context 4K --dtype float32 | cut -d, -f2-4,17,20,34
  max_phase,theta,base,truncation_max_abs,rounding_max_abs,status
  0.5462103786140975,0.0001333521432163324,10000,141.78094064669776,0.0007445073873703593,ok
  0.006307539050739679,1.539926526059492e-06,1000000,0.019190867483961562,0.0006520644398707636,ok
)",
      make_command<SweepBase>};
}

CommandEntry sweep_context_command() {
  return {"sweep context", "Tabulate the errors against the context length",
          R"(  $ ropelab sweep context --context 1K,4K,16K --dtype float32 | cut -d, -f1,3,17,20,34
  context,theta,truncation_max_abs,rounding_max_abs,status
  1024,9.765625e-05,1.2026631762749742,0.00016256330480964222,ok
  4096,2.44140625e-05,4.821237549388541,0.0006939311374586334,ok
  16384,6.103515625e-06,19.295544732172292,0.0029958017670091747,ok
)",
          make_command<SweepContext>};
}

CommandEntry sweep_phase_command() {
  return {
      "sweep phase", "Tabulate the errors against max phase, theta times the context",
      R"(  $ ropelab sweep phase --max-phase 0.01,0.1,1 --context 4K --dtype float32 | cut -d, -f2,17,20,34
  max_phase,truncation_max_abs,rounding_max_abs,status
  0.01,0.04823623515685748,0.0007391361876415889,ok
  0.1,4.821237549388541,0.0006939311374586334,ok
  1,458.8240903001588,0.0005259132486484594,ok
)",
      make_command<SweepPhase>};
}

}  // namespace ropelab::app
