// ropelab trace: every step of one pair of positions, or of one position.
#include <fmt/format.h>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/budget.hpp"
#include "ropelab/simulation/score.hpp"

namespace ropelab::app {
namespace {

using Value = StepValue<Real>;

// Writes the rows of one setting.
class TraceWriter {
 public:
  TraceWriter(Table& table, const Setting& setting, int digits)
      : table_(table), setting_(setting), digits_(digits) {}

  // A step: its ideal value, and what the pipeline makes of it.
  void add(const std::string& name, const Real& exact, const Value& value, const Step& step) {
    auto row = start(name, exact);
    if (const double* rounded = std::get_if<double>(&value)) {
      row.set("value", *rounded).set("hex", to_hexadecimal(*rounded));
    } else {
      row.set("value", exact_cell(std::get<Real>(value), digits_));
    }
    if (step && is_finite(value)) {
      row.set("ulp_error", distance_in_ulp(*step, std::get<double>(value), exact));
    }
  }

  // A number that no format has a part in.
  void add(const std::string& name, const Real& exact) { start(name, exact); }

 private:
  Table::Row start(const std::string& name, const Real& exact) {
    auto row = table_.add_row();
    row.set("step", name)
        .set("exact", exact_cell(exact, digits_))
        .set("dtype", setting_.dtype.name)
        .set("pipeline", setting_.pipeline_cell);
    return row;
  }

  Table& table_;
  const Setting& setting_;
  int digits_;
};

// The exact inputs of a setting.
struct Inputs {
  explicit Inputs(const Setting& setting)
      : construction(setting.construction()),
        theta(construction.theta),
        query_part(amplitude(construction) / construction.key_part),
        key_part(construction.key_part),
        scale(score_scale(construction)) {}
  Construction construction;
  ExactInput theta, query_part, key_part, scale;
};

// The steps up to `table` at one position; names end in `suffix`.
void trace_angle(TraceWriter& writer, const Pipeline& pipeline, const ExactInput& theta,
                 long long position, const AngleSteps<Real>& steps, const std::string& suffix) {
  const Real phase = theta.times<Real>(static_cast<double>(position));
  const Real cos_value = cosine(phase), sin_value = sine(phase);
  writer.add("position" + suffix, Real(position), steps.position, pipeline[StepName::position]);
  writer.add("theta" + suffix, theta.times<Real>(1), steps.theta, pipeline[StepName::theta]);
  writer.add("phase" + suffix, phase, steps.phase, pipeline[StepName::phase]);
  writer.add("cos" + suffix, cos_value, steps.cosine, pipeline[StepName::trig]);
  writer.add("sin" + suffix, sin_value, steps.sine, pipeline[StepName::trig]);
  writer.add("table_cos" + suffix, cos_value, steps.table_cosine, pipeline[StepName::table]);
  writer.add("table_sin" + suffix, sin_value, steps.table_sine, pipeline[StepName::table]);
}

// The rotation of one fixed vector, whose exact rotated components are given.
void trace_rotation(TraceWriter& writer, const Pipeline& pipeline, const RotationSteps<Real>& steps,
                    const Real& first, const Real& second, const std::string& name) {
  const Step& rotation = pipeline[StepName::rotation];
  const Step& storage = pipeline[StepName::storage];
  writer.add(name + "_first", first, steps.rotated.first, rotation);
  writer.add(name + "_second", second, steps.rotated.second, rotation);
  writer.add("stored_" + name + "_first", first, steps.stored.first, storage);
  writer.add("stored_" + name + "_second", second, steps.stored.second, storage);
}

void trace_pair(TraceWriter& writer, const Setting& setting, long long i, long long j) {
  const Inputs inputs(setting);
  const Pipeline& pipeline = setting.pipeline;
  const auto angle_i = angle_steps<Real>(pipeline, inputs.theta, static_cast<double>(i));
  const auto angle_j = angle_steps<Real>(pipeline, inputs.theta, static_cast<double>(j));
  trace_angle(writer, pipeline, inputs.theta, i, angle_i, "_i");
  trace_angle(writer, pipeline, inputs.theta, j, angle_j, "_j");

  const Value query_part = rotation_input<Real>(pipeline, inputs.query_part);
  const Value key_part = rotation_input<Real>(pipeline, inputs.key_part);
  const Real n = inputs.query_part.times<Real>(1), k = inputs.key_part.times<Real>(1);
  const bool is_split = setting.split != Split{};
  writer.add(is_split ? "query_part" : "N", n, query_part, pipeline[StepName::rotation]);
  if (is_split) writer.add("key_part", k, key_part, pipeline[StepName::rotation]);
  const auto query = rotation_steps<Real>(pipeline, angle_i, {step_negated(query_part), 0.0});
  const auto key = rotation_steps<Real>(pipeline, angle_j, {0.0, key_part});
  const Real phase_i = inputs.theta.times<Real>(static_cast<double>(i));
  const Real phase_j = inputs.theta.times<Real>(static_cast<double>(j));
  const Real q0 = -n * cosine(phase_i), q1 = -n * sine(phase_i);
  const Real k0 = -k * sine(phase_j), k1 = k * cosine(phase_j);
  trace_rotation(writer, pipeline, query, q0, q1, "query");
  trace_rotation(writer, pipeline, key, k0, k1, "key");

  const auto score = score_steps<Real>(pipeline, inputs.scale, query.stored, key.stored);
  const Step& accumulation = pipeline[StepName::accumulation];
  const Real distance(i - j), slope = inputs.construction.slope.to_real();
  const Real bias = -slope * distance;
  const Real phase = inputs.theta.times<Real>(static_cast<double>(i - j));
  const Real simulated = -amplification(inputs.construction).to_real() * sine(phase);
  writer.add("first_product", Real(q0 * k0), score.first_product, accumulation);
  writer.add("second_product", Real(q1 * k1), score.second_product, accumulation);
  writer.add("sum", Real(simulated / inputs.scale.times<Real>(1)), score.accumulated, accumulation);
  writer.add("scale", inputs.scale.times<Real>(1), score.scale, pipeline[StepName::scaling]);
  writer.add("bias", bias);
  writer.add("simulated", simulated);
  if (i != j) writer.add("kappa", kappa(inputs.construction.theta, i, j));
  writer.add("F", simulated, score.scaled, pipeline[StepName::scaling]);
  if (!is_finite(score.scaled)) return;
  writer.add("rounding_error", Real(as_exact(score.scaled) - simulated));
  writer.add("total_error", Real(as_exact(score.scaled) - bias));
}

// F(i,j) - S(i-j) of a pipeline; nothing where F is not finite. 0 where nothing was rounded: then
// the products, of the size of A, differ by the last of their 512 bits.
std::optional<Real> rounding_error(const Pipeline& pipeline, const Inputs& inputs, long long i,
                                   long long j) {
  const auto angle_i = angle_steps<Real>(pipeline, inputs.theta, static_cast<double>(i));
  const auto angle_j = angle_steps<Real>(pipeline, inputs.theta, static_cast<double>(j));
  const Value query_part = rotation_input<Real>(pipeline, inputs.query_part);
  const Value key_part = rotation_input<Real>(pipeline, inputs.key_part);
  const auto query = rotation_steps<Real>(pipeline, angle_i, {step_negated(query_part), 0.0});
  const auto key = rotation_steps<Real>(pipeline, angle_j, {0.0, key_part});
  const Value score = score_steps<Real>(pipeline, inputs.scale, query.stored, key.stored).scaled;
  if (!is_finite(score)) return std::nullopt;
  const Real phase = inputs.theta.times<Real>(static_cast<double>(i - j));
  const Real size = amplification(inputs.construction).to_real();
  const Real error = as_exact(score) + size * sine(phase);
  return abs(error) < ldexp(size, -480) ? Real(0) : error;
}

// What each step's rounding does to one pair, and what all the others do without it.
void trace_budget(Table& table, const Setting& setting, long long i, long long j, int digits) {
  const Inputs inputs(setting);
  const Pipeline& pipeline = setting.pipeline;
  const auto cell = [&](const Pipeline& of) -> Cell {
    const auto error = rounding_error(of, inputs, i, j);
    return error ? exact_cell(*error, digits) : Cell();
  };
  const auto add = [&](std::string_view step, std::string_view format) {
    return table.add_row()
        .set("step", step)
        .set("format", format)
        .set("dtype", setting.dtype.name)
        .set("pipeline", setting.pipeline_cell);
  };
  add("all", "").set("only_error", cell(pipeline)).set("all_but_error", 0.0);
  for (std::size_t s = 0; s < step_count; ++s) {
    const auto name = static_cast<StepName>(s);
    const Step& step = pipeline[name];
    const Cell only_cell = cell(only(pipeline, name)), rest = cell(all_but(pipeline, name));
    add(step_names[s], step ? step->name : "exact")
        .set("only_error", only_cell)
        .set("all_but_error", rest);
  }
}

class Trace : public Command {
 public:
  void add_options(CLI::App& app) override {
    i_.add_to(app, "--i", "INTEGER", "Position of the query");
    j_.add_to(app, "--j", "INTEGER", "Position of the key, not after the query");
    position_.add_to(app, "--position", "INTEGER",
                     "One position instead: trace the rotation up to the table of cos and sin");
    options_.add_to(app);
    CLI::Option* budget = app.add_flag(
        "--budget", budget_,
        "The error of F instead: with only one step rounded, and with all but that one");
    position_.option()->excludes(i_.option(), j_.option(), budget);
  }

  void set_up(const Interruption& interruption) override {
    settings_ = options_.read(interruption);
    if (position_.given()) {
      traced_position_ = read(position_, kMostPositions);
      // A position of RoPE's grid belongs to no context, unless one is named.
      if (options_.limits_positions()) require_within_context(position_, *traced_position_);
      return;
    }
    if (!i_.given() || !j_.given()) {
      throw UsageError(i_.given() ? "--j" : "--i",
                       "it is missing; give --i and --j, or --position alone");
    }
    query_ = read(i_, kMostPositions);
    key_ = read(j_, query_);
    require_within_context(i_, query_);
    require_within_context(j_, key_);
  }

  std::vector<std::string> columns() const override {
    if (budget_) return {"step", "format", "dtype", "pipeline", "only_error", "all_but_error"};
    return {"step", "exact", "dtype", "pipeline", "value", "hex", "ulp_error"};
  }

  std::vector<std::string> files_read() const override { return options_.files_read(); }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    return options_.resolved_parameters(settings_, interruption);
  }

  void run(Run& run, Table& table) override {
    run.over(settings_.size(), [&](std::size_t point) {
      const Setting& setting = settings_[point];
      if (budget_) return trace_budget(table, setting, query_, key_, run.digits());
      TraceWriter writer(table, setting, run.digits());
      if (!traced_position_) return trace_pair(writer, setting, query_, key_);
      const Inputs inputs(setting);
      trace_angle(
          writer, setting.pipeline, inputs.theta, *traced_position_,
          angle_steps<Real>(setting.pipeline, inputs.theta, static_cast<double>(*traced_position_)),
          "");
    });
  }

 private:
  // Every context has the positions first ... first + context - 1.
  void require_within_context(const TextOption& option, long long position) const {
    for (const Setting& setting : settings_) {
      const long long first = setting.first_position;
      const long long last = first + setting.context - 1;
      if (first <= position && position <= last) continue;
      throw UsageError(option.name(),
                       fmt::format("'{}' is out of range; a context of {} has the positions {} to "
                                   "{}",
                                   position, setting.context, first, last));
    }
  }

  static long long read(const TextOption& option, long long most) {
    return option.read([&](const std::string& text) { return parse_integer(text, 0, most); });
  }

  TextOption i_, j_, position_;
  SettingOptions options_;
  std::vector<Setting> settings_;
  std::optional<long long> traced_position_;
  long long query_ = 0, key_ = 0;
  bool budget_ = false;
};

}  // namespace

CommandEntry trace_command() {
  return {"trace", "Follow one pair of positions through every step of the pipelines",
          R"(  $ ropelab trace --i 2047 --j 0 --context 2K --dtype float32 | tail -5
  simulated,-1445.0387273161236,float32,ideal-trig,,,
  kappa,1,float32,ideal-trig,,,
  F,-1445.0387273161236,float32,ideal-trig,-1445.0386962890625,-0x1.69427ap+10,0.25417368446523947
  rounding_error,3.102706109194818e-05,float32,ideal-trig,,,
  total_error,2.4088847998002825,float32,ideal-trig,,,
)",
          make_command<Trace>};
}

}  // namespace ropelab::app
