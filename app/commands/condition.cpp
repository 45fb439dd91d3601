// ropelab condition: how well N and the rotated dot product are conditioned.
#include <cmath>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "ropelab/errors/context_limit.hpp"

namespace ropelab::app {
namespace {

// |N_in_dtype - N| / N, where N_in_dtype is the product itself.
double relative_error(const RoundedAmplitude& n, bool is_exact) {
  if (is_exact) return 0;
  if (!std::isfinite(n.rounded)) return n.rounded;
  const Real exact = n.exact.to_real();
  return to_double(Real(abs(Real(n.query) * Real(n.key) - exact) / exact));
}

// Sines and candidates for each position, where largest_kappa has to look for it: it knows the
// place while every angle lies in [0, pi/2].
constexpr double kBytesOfSearch = 32;

bool searches_kappa(const Setting& setting) {
  const Real angle = setting.rotation.theta.to_real();
  return angle * Real(2 * (setting.first_position + setting.context - 1)) > pi() / 2;
}

class Condition : public Command {
 public:
  void add_options(CLI::App& app) override {
    options_.add_to(app);
    tolerance_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    settings_ = options_.read(interruption);
    tolerance_value_ = tolerance_.read().to_double();
    for (const Setting& setting : settings_) {
      interruption.check();
      if (searches_kappa(setting)) require_context_fits(setting.context, kBytesOfSearch);
    }
  }

  std::vector<std::string> columns() const override {
    return {"context",
            "max_phase",
            "theta",
            "slope",
            "head_dim",
            "dtype",
            "pipeline",
            "N",
            "N_in_dtype",
            "N_status",
            "N_relative_error",
            "amplification",
            "kappa_max",
            "kappa_max_i",
            "kappa_max_j",
            "context_limit"};
  }

  std::vector<std::string> files_read() const override { return options_.files_read(); }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    return options_.resolved_parameters(settings_, interruption);
  }

  std::optional<std::size_t> rows_in_all() const override { return settings_.size(); }

  void run(Run& run, Table& table) override {
    run.over(settings_.size(), [&](std::size_t point) { add_row(run, table, settings_[point]); });
  }

 private:
  void add_row(Run& run, Table& table, const Setting& setting) {
    const int digits = run.digits();
    // All that can be interrupted comes before the row, so that rows are whole.
    const auto& kappa = kappa_for(setting, run.interruption());
    const RoundedAmplitude n = rounded_amplitude(setting);
    auto row = table.add_row();
    set_parameters(row, setting, digits);
    row.set("N", exact_cell(n.exact, digits))
        .set("N_in_dtype", n.rounded)
        .set("N_status", n.status)
        .set("N_relative_error", relative_error(n, !setting.pipeline[StepName::rotation]))
        .set("amplification", exact_cell(amplification(setting.construction()), digits))
        .set("context_limit",
             context_limit(setting.pipeline, bound_inputs(setting),
                           options_.fixes_phase() ? Fixed::max_phase : Fixed::theta,
                           tolerance_value_));
    set_kappa(row, kappa, digits);
  }

  static void set_kappa(Table::Row& row, const std::optional<LargestKappa>& kappa, int digits) {
    if (!kappa) return;
    row.set("kappa_max", exact_cell(kappa->value, digits))
        .set("kappa_max_i", kappa->i)
        .set("kappa_max_j", kappa->j);
  }

  // Rows that differ in slope or format alone share it.
  const std::optional<LargestKappa>& kappa_for(const Setting& setting,
                                               const Interruption& interruption) {
    if (!kappa_of_ || kappa_of_->first != setting.rotation.theta ||
        kappa_of_->second != setting.context) {
      kappa_ = largest_kappa(setting.rotation.theta, setting.first_position,
                             static_cast<std::size_t>(setting.context), interruption);
      kappa_of_ = {setting.rotation.theta, setting.context};
    }
    return kappa_;
  }

  SettingOptions options_;
  ToleranceOption tolerance_;
  std::vector<Setting> settings_;
  double tolerance_value_ = 0;
  std::optional<std::pair<Algebraic, long long>> kappa_of_;
  std::optional<LargestKappa> kappa_;
};

}  // namespace

CommandEntry condition_command() {
  return {
      "condition", "Tabulate how well N and the rotated dot product are conditioned",
      R"(  $ ropelab condition --context 4K,64K --dtype float16,float32 | cut -d, -f1,6,8-10,13,16
  context,dtype,N,N_in_dtype,N_status,kappa_max,context_limit
  4096,float16,231704.7500592079,inf,overflow,8134.555568616443,15
  4096,float32,231704.7500592079,231704.75,rounded,8134.555568616443,118633
  65536,float16,3707276.0009473264,inf,overflow,130196.99242880418,15
  65536,float32,3707276.0009473264,3707276,rounded,130196.99242880418,118633
)",
      make_command<Condition>};
}

}  // namespace ropelab::app
