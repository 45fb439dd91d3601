// ropelab limits: where a format gives out.
#include <fmt/format.h>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/format_limits.hpp"

namespace ropelab::app {
namespace {

LimitsInputs limits_inputs(const Setting& setting) {
  return {setting.pipeline,       setting.construction(),
          setting.first_position, static_cast<std::size_t>(setting.context),
          setting.split,          setting.content};
}

class Limits : public Command {
 public:
  void add_options(CLI::App& app) override {
    options_.add_to(app);
    options_.add_content_to(app);
    tolerance_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    settings_ = options_.read(interruption);
    tolerance_value_ = tolerance_.read();
    require_one_construction(interruption);
    require_tables_fit(settings_);
    PairSampling all;
    all.all = true;
    require_content_fits(all, settings_, 2);  // merged positions are looked for in two
  }

  std::vector<std::string> columns() const override {
    return {"dtype",         "pipeline",      "first_merged_position", "first_overflow_position",
            "overflow_what", "context_total", "context_visible"};
  }

  std::vector<std::string> files_read() const override { return options_.files_read(); }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    return options_.resolved_parameters(settings_, interruption);
  }

  std::optional<std::size_t> rows_in_all() const override { return settings_.size(); }

  void run(Run& run, Table& table) override {
    run.set_instruction_set(instruction_set_in_use());
    run.over(settings_.size(), [&](std::size_t point) { add_row(run, table, settings_[point]); });
  }

 private:
  // The table has no column to tell two of them apart.
  void require_one_construction(const Interruption& interruption) const {
    const Setting& first = settings_.front();
    for (const Setting& other : settings_) {
      interruption.check();
      require_same("--context", first.context, other.context);
      require_same_rotation(first.rotation, other.rotation);
      require_same(first.head.heads ? "--head" : "--slope", first.head.slope, other.head.slope);
      require_same("--head-dim", first.head_dim, other.head_dim);
    }
  }

  static double shown(const Algebraic& value) { return value.to_double(); }
  static long long shown(long long value) { return value; }

  template <typename Value>
  static void require_same(const char* option, const Value& a, const Value& b) {
    if (a == b) return;
    throw UsageError(option, fmt::format("it gives '{}' and '{}', which the table has no column to "
                                         "tell apart; a single value would be right",
                                         shown(a), shown(b)));
  }

  void require_same_rotation(const ResolvedRotation& a, const ResolvedRotation& b) const {
    if (options_.fixes_phase()) return require_same("--max-phase", a.max_phase, b.max_phase);
    if (!a.base) return require_same("--theta", a.theta, b.theta);
    require_same("--base", *a.base, *b.base);
    require_same("--rope-dim", *a.rope_dim, *b.rope_dim);
    require_same("--pair", *a.pair, *b.pair);
  }

  void add_row(Run& run, Table& table, const Setting& setting) const {
    const LimitsInputs inputs = limits_inputs(setting);
    const Interruption& interruption = run.interruption();
    const Fixed fixed = options_.fixes_phase() ? Fixed::max_phase : Fixed::theta;
    const auto context = [&](PairsHeld held) {
      return accurate_context(inputs, fixed, tolerance_value_, held, interruption);
    };
    const auto merged = first_merged_position(inputs, interruption);
    const auto overflow = first_overflow(inputs, interruption);
    const std::size_t total = context(PairsHeld::all), visible = context(PairsHeld::visible);
    auto row = table.add_row();
    row.set("dtype", setting.dtype.name)
        .set("pipeline", setting.pipeline_cell)
        .set("first_merged_position", merged)
        .set("context_total", total)
        .set("context_visible", visible);
    if (overflow) {
      row.set("first_overflow_position", overflow->position).set("overflow_what", overflow->what);
    }
  }

  SettingOptions options_;
  ToleranceOption tolerance_;
  std::vector<Setting> settings_;
  Algebraic tolerance_value_;
};

}  // namespace

CommandEntry limits_command() {
  return {"limits", "Find where a format gives out: merged positions, overflow, largest contexts",
          R"(  $ ropelab limits --theta 1e-4 --context 4K --dtype float16,bfloat16,float32
  dtype,pipeline,first_merged_position,first_overflow_position,overflow_what,context_total,context_visible
  float16,ideal-trig,740,,,81,81
  bfloat16,ideal-trig,101,,,14,14
  float32,ideal-trig,,,,349,4096
)",
          make_command<Limits>};
}

}  // namespace ropelab::app
