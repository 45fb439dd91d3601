#include "app/settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "app/memory.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

Algebraic whole(long long value) { return Algebraic(Rational(value)); }

// The theta that --pair nearest looks for: that of the default max phase.
Algebraic wanted_theta(long long context) { return Algebraic(Rational(1, 10)) / whole(context); }

std::vector<int> chosen_pairs(const PairChoice& choice, const FrequencyGrid& grid,
                              long long context, const Interruption& interruption) {
  if (const int* pair = std::get_if<int>(&choice)) return {*pair};
  switch (std::get<PairWord>(choice)) {
    case PairWord::slowest:
      return {grid.slowest_pair(interruption)};
    case PairWord::nearest:
      return {grid.nearest_pair(wanted_theta(context), interruption)};
    case PairWord::all:
      break;
  }
  std::vector<int> pairs(static_cast<std::size_t>(grid.pairs()));
  for (std::size_t n = 0; n < pairs.size(); ++n) pairs[n] = static_cast<int>(n);
  return pairs;
}

std::vector<ResolvedRotation> of_grids(const Rotation& rotation, long long context,
                                       const Interruption& interruption) {
  std::vector<ResolvedRotation> resolved;
  const auto add_pairs = [&](const FrequencyGrid& grid, const Scaling& scaling) {
    for (const PairChoice& choice : rotation.pairs) {
      for (const int pair : chosen_pairs(choice, grid, context, interruption)) {
        interruption.check();
        const Algebraic theta = grid.theta(pair);
        resolved.push_back(
            {theta * whole(context), theta, grid.base(), grid.rope_dim(), pair, scaling});
      }
    }
  };
  for (const Algebraic& base : rotation.values) {
    for (const int rope_dim : rotation.rope_dims) {
      for (const Scaling& unfitted : rotation.scalings) {
        const Scaling scaling = at_length(unfitted, context);
        add_pairs(scaled_grid(base, rope_dim, scaling), scaling);
      }
    }
  }
  return resolved;
}

[[noreturn]] void refuse_angle(const ResolvedRotation& rotation, RotationKind kind) {
  if (kind == RotationKind::max_phase) {
    throw UsageError("--max-phase",
                     fmt::format("'{}' rad over the context turns beyond 2^64 rad; a smaller max "
                                 "phase or first position would be right",
                                 rotation.max_phase.to_double()));
  }
  const double theta = rotation.theta.to_double();
  if (kind == RotationKind::base) {
    throw UsageError(
        "--base", fmt::format("'{}' makes pair {} turn by {} rad per position, beyond 2^64 rad; a "
                              "smaller context or first position would be right",
                              rotation.base->to_double(), *rotation.pair, theta));
  }
  throw UsageError("--theta",
                   fmt::format("'{}' rad per position turns beyond 2^64 rad; a smaller theta, "
                               "context or first position would be right",
                               theta));
}

// Beyond it the sine of a phase cannot be promised to the digits that are printed.
void require_angle_in_reach(const Setting& setting, RotationKind kind) {
  const Real last =
      setting.rotation.theta.to_real() * Real(2 * (setting.first_position + setting.context));
  if (last > largest_angle()) refuse_angle(setting.rotation, kind);
}

// The parts of N are computed with as doubles now and then.
void require_query_part(const Setting& setting) {
  if (setting.split.key_exponent == 0) return;
  const Construction construction = setting.construction();
  const Algebraic query = amplitude(construction) / construction.key_part;
  if (query.to_double() > 0 && std::isfinite(query.to_double())) return;
  throw UsageError("--split",
                   fmt::format("'{}' leaves a query part that float64 cannot hold of an "
                               "N of {}; a K nearer to 0 would be right",
                               to_text(setting.split), amplitude(construction).to_double()));
}

// Of a setting with all that it holds: numbers of a few hundred bits, a short text.
constexpr double kBytesPerSetting = sizeof(Setting) + 512;

// A grid is a product, and easily larger than was meant.
void require_grid_fits(double points) {
  require_memory(points * kBytesPerSetting, [&](const std::string& memory) {
    return UsageError(
        fmt::format("the options make a grid of {} points, which takes {}; give "
                    "fewer values",
                    points, memory));
  });
}

// A half-split layout needs an even number of components.
void require_halves(const std::vector<std::optional<Content>>& contents,
                    const std::vector<long long>& head_dims) {
  for (const auto& content : contents) {
    if (!content || content->place != PairPlace::halves) continue;
    for (const long long head_dim : head_dims) {
      if (head_dim % 2 == 0) continue;
      throw UsageError(
          "--content",
          fmt::format("'{}' has no halves in a head-dim of {}; an even head-dim, first "
                      "or last would be right",
                      text_of(*content), head_dim));
    }
  }
}

}  // namespace

namespace {

// Every value once, in order; only how many, and between which, where they would fill pages.
template <typename ValueOf>
std::string values_text(const std::vector<Setting>& settings, const Interruption& interruption,
                        ValueOf value_of) {
  constexpr std::size_t most = 100;
  std::vector<double> values;
  std::set<double> seen;
  const Algebraic* last = nullptr;
  for (const Setting& setting : settings) {
    interruption.check();
    const Algebraic& value = value_of(setting);
    if (last != nullptr && *last == value) continue;
    last = &value;
    const double shown = value.to_double();
    if (seen.insert(shown).second) values.push_back(shown);
  }
  if (values.size() <= most) return fmt::format("{}", fmt::join(values, ","));
  return fmt::format("{} values from {} to {}", values.size(), *seen.begin(), *seen.rbegin());
}

}  // namespace

Parameters SettingOptions::scaling_parameters(const std::vector<Setting>& settings) const {
  std::vector<Scaling> scalings;
  for (const Setting& setting : settings) scalings.push_back(setting.rotation.scaling);
  return rotation_.scaling().resolved_parameters(scalings);
}

Parameters SettingOptions::model_parameters() const {
  Parameters parameters = model_.resolved_parameters();
  if (rotation_.kind() != RotationKind::base) return parameters;
  const Parameters base = rotation_.base().resolved_parameters();
  parameters.insert(parameters.end(), base.begin(), base.end());
  return parameters;
}

std::vector<std::string> SettingOptions::files_read() const {
  std::vector<std::string> files = rotation_.scaling().files_read();
  for (std::string& file : model_.files_read()) files.push_back(std::move(file));
  return files;
}

Parameters SettingOptions::resolved_parameters(const std::vector<Setting>& settings,
                                               const Interruption& interruption) const {
  Parameters parameters;
  const auto add = [&](const char* name, auto value_of) {
    parameters.emplace_back(name, values_text(settings, interruption, value_of));
  };
  const RotationKind kind = rotation_.kind();
  if (kind != RotationKind::max_phase) {
    add(
        "max-phase", [](const Setting& s) -> auto& { return s.rotation.max_phase; });
  }
  if (kind != RotationKind::theta) {
    add(
        "theta", [](const Setting& s) -> auto& { return s.rotation.theta; });
  }
  if (kind != RotationKind::base) {
    for (const char* name : {"base", "rope-dim", "pair"}) parameters.emplace_back(name, "");
  }
  for (auto& parameter : scaling_parameters(settings)) parameters.push_back(std::move(parameter));
  for (auto& parameter : model_parameters()) parameters.push_back(std::move(parameter));
  if (!heads_.fixes_slope())
    add(
        "slope", [](const Setting& s) -> auto& { return s.head.slope; });
  return parameters;
}

Construction Setting::construction() const {
  const Algebraic slope =
      bias_scale == BiasScale::after ? head.slope : head.slope / square_root(Rational(head_dim));
  Construction construction{rotation.theta, slope, head_dim, {}};
  construction.key_part = key_part(split, amplitude(construction));
  return construction;
}

ErrorUnit Setting::error_unit() const {
  return unit == Unit::logits ? ErrorUnit() : ErrorUnit(construction().slope);
}

void SettingOptions::add_to(CLI::App& app, const Defaults& defaults) {
  model_.add_to(app);
  context_.add_to(app, defaults.context);
  sweeps_contexts_ = defaults.sweeps_contexts;
  rotation_.add_to(app, defaults.rotation);
  heads_.add_to(app);
  head_dim_.add_to(app);
  formats_.add_to(app);
  pipelines_.add_to(app);
  split_.add_to(app);
  first_position_.add_to(app);
  bias_scale_.add_to(app);
}

void SettingOptions::add_content_to(CLI::App& app) {
  content_.add_to(app);
  takes_content_ = true;
}

void SettingOptions::add_unit_to(CLI::App& app) {
  unit_.add_to(app);
  takes_unit_ = true;
}

std::vector<std::optional<Content>> SettingOptions::contents() const {
  if (!takes_content_) return {std::nullopt};
  return content_.read();
}

std::vector<ResolvedRotation> SettingOptions::rotations(const Rotation& rotation, long long context,
                                                        const Interruption& interruption) const {
  if (rotation.kind == RotationKind::base) return of_grids(rotation, context, interruption);
  std::vector<ResolvedRotation> resolved;
  for (const Algebraic& value : rotation.values) {
    interruption.check();
    const bool is_phase = rotation.kind == RotationKind::max_phase;
    resolved.push_back({is_phase ? value : value * whole(context),
                        is_phase ? value / whole(context) : value,
                        {},
                        {},
                        {},
                        {}});
  }
  return resolved;
}

std::string SettingOptions::pipeline_cell(const std::string& name, const Pipeline& pipeline,
                                          const Scaling& scaling, const Split& split,
                                          const std::optional<Content>& content) const {
  std::string cell = name;
  if (saturates(pipeline)) cell += ",saturate";
  if (split != Split{}) cell += ",split=" + to_text(split);
  if (bias_scale_.read() == BiasScale::before) cell += ",bias-scale=before";
  if (const long long first = first_position_.read(); first != 0) {
    cell += fmt::format(",first-position={}", first);
  }
  cell += scaling_in_pipeline_cell(scaling);
  if (content) cell += ",content=" + text_of(*content);
  if (unit() == Unit::tokens) cell += ",unit=tokens";
  return cell;
}

std::vector<Setting> SettingOptions::read(const Interruption& interruption) {
  model_.read();
  model_.give_defaults(rotation_, heads_, head_dim_, bias_scale_);
  if (!sweeps_contexts_) model_.give_defaults(context_);
  const auto rotation = rotation_.read(interruption);
  const auto heads = heads_.read(interruption);
  const auto head_dims = head_dim_.read(interruption);
  const auto dtypes = formats_.read();
  const auto pipelines = pipelines_.read();
  const auto splits = split_.read();
  const long long first = first_position_.read();
  const BiasScale bias_scale = bias_scale_.read();
  const auto contexts = context_.read(interruption);
  const auto all_contents = contents();
  const Unit error_unit = unit();
  require_halves(all_contents, head_dims);
  const double points_of_a_rotation = static_cast<double>(heads.size() * head_dims.size()) *
                                      static_cast<double>(dtypes.size() * pipelines.size()) *
                                      static_cast<double>(splits.size() * all_contents.size());
  std::vector<Setting> settings;
  for (const long long context : contexts) {
    const auto resolved_rotations = rotations(rotation, context, interruption);
    require_grid_fits(static_cast<double>(contexts.size() * resolved_rotations.size()) *
                      points_of_a_rotation);
    for (const ResolvedRotation& resolved : resolved_rotations) {
      for (const HeadChoice& head : heads) {
        for (const long long head_dim : head_dims) {
          interruption.check();
          for (const Format& dtype : dtypes) {
            for (const std::string& name : pipelines) {
              const Pipeline pipeline = parse_pipeline(name, dtype, formats_.eight_bit());
              for (const Split& split : splits) {
                for (const auto& content : all_contents) {
                  settings.push_back(
                      {context, resolved, head, head_dim, dtype, pipeline,
                       pipeline_cell(name, pipeline, resolved.scaling, split, content), bias_scale,
                       first, split, content, error_unit});
                }
                require_query_part(settings.back());
              }
            }
          }
        }
      }
      require_angle_in_reach(settings.back(), rotation.kind);
    }
  }
  return settings;
}

}  // namespace ropelab::app
