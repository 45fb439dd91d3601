#include "app/settings.hpp"

#include <fmt/format.h>

#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

Algebraic whole(long long value) { return Algebraic(Rational(value)); }

// The theta that --pair nearest looks for: that of the default max phase.
Algebraic wanted_theta(long long context) { return Algebraic(Rational(1, 10)) / whole(context); }

std::vector<int> chosen_pairs(const PairChoice& choice, const FrequencyGrid& grid,
                              long long context) {
  if (const int* pair = std::get_if<int>(&choice)) return {*pair};
  switch (std::get<PairWord>(choice)) {
    case PairWord::slowest:
      return {grid.slowest_pair()};
    case PairWord::nearest:
      return {grid.nearest_pair(wanted_theta(context))};
    case PairWord::all:
      break;
  }
  std::vector<int> pairs(static_cast<std::size_t>(grid.pairs()));
  for (std::size_t n = 0; n < pairs.size(); ++n) pairs[n] = static_cast<int>(n);
  return pairs;
}

std::vector<ResolvedRotation> of_grids(const Rotation& rotation, long long context) {
  std::vector<ResolvedRotation> resolved;
  for (const Algebraic& base : rotation.values) {
    for (const int rope_dim : rotation.rope_dims) {
      const FrequencyGrid grid(base, rope_dim);
      for (const PairChoice& choice : rotation.pairs) {
        for (const int pair : chosen_pairs(choice, grid, context)) {
          const Algebraic theta = grid.theta(pair);
          resolved.push_back({theta * whole(context), theta, base, rope_dim, pair});
        }
      }
    }
  }
  return resolved;
}

// Beyond it the sine of a phase cannot be promised to the digits that are printed.
void require_angle_in_reach(const Setting& setting) {
  const Real last =
      setting.rotation.theta.to_real() * Real(2 * (setting.first_position + setting.context));
  if (last <= largest_angle()) return;
  throw UsageError(
      setting.rotation.base ? "--base" : "--theta",
      fmt::format("'{}' rad per position turns beyond 2^64 rad; a smaller theta, context or first "
                  "position would be right",
                  setting.rotation.theta.to_double()));
}

}  // namespace

Construction Setting::construction() const {
  const Algebraic slope =
      bias_scale == BiasScale::after ? head.slope : head.slope / square_root(Rational(head_dim));
  return {rotation.theta, slope, head_dim, {}};
}

void SettingOptions::add_to(CLI::App& app, const Defaults& defaults) {
  context_.add_to(app, defaults.context);
  rotation_.add_to(app, defaults.rotation);
  heads_.add_to(app);
  head_dim_.add_to(app);
  formats_.add_to(app);
  pipelines_.add_to(app);
  first_position_.add_to(app);
  bias_scale_.add_to(app);
}

std::vector<ResolvedRotation> SettingOptions::rotations(const Rotation& rotation,
                                                        long long context) const {
  if (rotation.kind == RotationKind::base) return of_grids(rotation, context);
  std::vector<ResolvedRotation> resolved;
  for (const Algebraic& value : rotation.values) {
    const bool is_phase = rotation.kind == RotationKind::max_phase;
    resolved.push_back({is_phase ? value : value * whole(context),
                        is_phase ? value / whole(context) : value,
                        {},
                        {},
                        {}});
  }
  return resolved;
}

std::string SettingOptions::pipeline_cell(const std::string& name, const Pipeline& pipeline) const {
  std::string cell = name;
  if (saturates(pipeline)) cell += ",saturate";
  if (bias_scale_.read() == BiasScale::before) cell += ",bias-scale=before";
  if (const long long first = first_position_.read(); first != 0) {
    cell += fmt::format(",first-position={}", first);
  }
  return cell;
}

std::vector<Setting> SettingOptions::read() const {
  const auto rotation = rotation_.read();
  const auto heads = heads_.read();
  const auto head_dims = head_dim_.read();
  const auto dtypes = formats_.read();
  const auto pipelines = pipelines_.read();
  const long long first = first_position_.read();
  const BiasScale bias_scale = bias_scale_.read();
  std::vector<Setting> settings;
  for (const long long context : context_.read()) {
    for (const ResolvedRotation& resolved : rotations(rotation, context)) {
      for (const HeadChoice& head : heads) {
        for (const long long head_dim : head_dims) {
          for (const Format& dtype : dtypes) {
            for (const std::string& name : pipelines) {
              const Pipeline pipeline = parse_pipeline(name, dtype, formats_.eight_bit());
              settings.push_back({context, resolved, head, head_dim, dtype, pipeline,
                                  pipeline_cell(name, pipeline), bias_scale, first});
            }
          }
        }
      }
      require_angle_in_reach(settings.back());
    }
  }
  return settings;
}

}  // namespace ropelab::app
