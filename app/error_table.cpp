#include "app/error_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "app/cells.hpp"
#include "app/memory.hpp"
#include "app/sampling.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/exact/rounding_status.hpp"

namespace ropelab::app {
namespace {

// Bias, simulated bias, truncation, weights and rotated vectors of one position, measured.
constexpr double kBytesPerPosition = 140;

// Whether a positive number rounds to 0 in a step's format.
bool vanishes(const Step& step, const Algebraic& x) { return step && round_to(*step, x) == 0; }

// Of what happened to two numbers, what counts for their product.
std::string_view graver(std::string_view a, std::string_view b) {
  for (const std::string_view status : {"overflow", "zero", "subnormal", "rounded"}) {
    if (a == status || b == status) return status;
  }
  return "exact";
}

}  // namespace

std::vector<std::string> columns_after_parameters(const std::vector<std::string>& figures) {
  std::vector<std::string> columns = {"context",  "max_phase", "theta", "base",
                                      "rope_dim", "pair",      "heads", "head",
                                      "slope",    "head_dim",  "dtype", "pipeline"};
  columns.insert(columns.end(), figures.begin(), figures.end());
  return columns;
}

std::vector<std::string> error_table_columns() {
  return columns_after_parameters({"N",
                                   "N_in_dtype",
                                   "N_status",
                                   "amplification",
                                   "truncation_max_abs",
                                   "truncation_max_rel",
                                   "truncation_rms",
                                   "rounding_max_abs",
                                   "rounding_max_i",
                                   "rounding_max_j",
                                   "rounding_rms",
                                   "rounding_bound",
                                   "total_max_abs",
                                   "total_rms",
                                   "visible_max_abs",
                                   "order_lost",
                                   "weights_tv_exact",
                                   "weights_tv_computed",
                                   "kappa_max",
                                   "pairs",
                                   "nonfinite_pairs",
                                   "status"});
}

RoundedAmplitude rounded_amplitude(const Setting& setting) {
  const Construction construction = setting.construction();
  const Algebraic n = amplitude(construction), key = construction.key_part, query = n / key;
  const Step& rotation = setting.pipeline[StepName::rotation];
  if (!rotation) return {n, query.to_double(), key.to_double(), n.to_double(), "exact"};
  const double q = round_to(*rotation, query), k = round_to(*rotation, key);
  return {n, q, k, q * k,
          graver(rounding_status(*rotation, query), rounding_status(*rotation, key))};
}

BoundInputs bound_inputs(const Setting& setting) {
  const Construction construction = setting.construction();
  return {construction.theta.to_double(),
          amplitude(construction).to_double(),
          construction.key_part.to_double(),
          static_cast<double>(construction.head_dim),
          static_cast<double>(setting.first_position),
          static_cast<double>(setting.context),
          setting.content ? std::optional(setting.content->place) : std::nullopt,
          setting.split.even};
}

void set_parameters(Table::Row& row, const Setting& setting, int digits) {
  row.set("context", setting.context)
      .set("max_phase", exact_cell(setting.rotation.max_phase, digits))
      .set("theta", exact_cell(setting.rotation.theta, digits))
      .set("slope", exact_cell(setting.head.slope, digits))
      .set("head_dim", setting.head_dim)
      .set("dtype", setting.dtype.name)
      .set("pipeline", setting.pipeline_cell);
}

void set_origins(Table::Row& row, const Setting& setting, int digits) {
  const ResolvedRotation& rotation = setting.rotation;
  row.set("rope_dim", rotation.rope_dim)
      .set("pair", rotation.pair)
      .set("heads", setting.head.heads)
      .set("head", setting.head.head);
  if (rotation.base) row.set("base", exact_cell(*rotation.base, digits));
}

void set_errors(Table::Row& row, const PairErrors& errors) {
  if (errors.rounding_maximum) {
    row.set("rounding_max_abs", errors.rounding_maximum->error)
        .set("rounding_max_i", errors.rounding_maximum->i)
        .set("rounding_max_j", errors.rounding_maximum->j);
  }
  row.set("rounding_rms", errors.rounding_rms)
      .set("total_max_abs", errors.total_maximum)
      .set("total_rms", errors.total_rms)
      .set("visible_max_abs", errors.visible_maximum)
      .set("order_lost", errors.order_lost)
      .set("pairs", errors.pairs)
      .set("nonfinite_pairs", errors.nonfinite_pairs);
}

std::string_view status_of(const Setting& setting, bool scores_are_finite) {
  const RoundedAmplitude n = rounded_amplitude(setting);
  if (!std::isfinite(n.rounded) || !scores_are_finite) return "overflow";
  if (vanishes(setting.pipeline[StepName::theta], setting.rotation.theta) || n.status == "zero") {
    return "underflow";
  }
  return setting.rotation.max_phase.to_real() > pi() / 2 ? "wraps" : "ok";
}

void require_context_fits(long long context, double bytes_per_position) {
  require_memory(static_cast<double>(context) * bytes_per_position, [&](const auto& memory) {
    return UsageError("--context", fmt::format("'{}' positions make tables of {}; a smaller "
                                               "context would be right",
                                               context, memory));
  });
}

void require_tables_fit(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    if (setting.context > kLargestSweptContext) {
      throw UsageError("--context", fmt::format("'{}' positions are too many for tables of them; "
                                                "at most {} would be right",
                                                setting.context, kLargestSweptContext));
    }
    require_context_fits(setting.context, kBytesPerPosition);
  }
}

void require_content_fits(const PairSampling& pairs, const std::vector<Setting>& settings,
                          double tables) {
  for (const Setting& setting : settings) {
    if (!setting.content || sample_size(pairs, setting.context)) continue;
    require_context_fits(setting.context,
                         tables * 2 * sizeof(double) * static_cast<double>(setting.head_dim));
  }
}

Cell truncation_rms_cell(const TruncationError& truncation, const DistanceReference& reference,
                         DistanceRange distances, int digits, const Interruption& interruption) {
  const ErrorUnit& unit = reference.error_unit();
  if (digits <= 17) return unit.rounded(truncation.rms);
  return exact_cell(unit.of(exact_truncation_rms(reference, distances, interruption)), digits);
}

DistanceReference reference_of(const Setting& setting, const Interruption& interruption) {
  DistanceReference reference(setting.construction(), static_cast<std::size_t>(setting.context),
                              interruption);
  reference.tell_errors_in(setting.error_unit());
  return reference;
}

const ErrorTableRows::Shared& ErrorTableRows::shared_for(const Setting& setting) {
  const Construction construction = setting.construction();
  const auto context = static_cast<std::size_t>(setting.context);
  if (shared_ && shared_->reference.context() == context &&
      shared_->reference.construction() == construction &&
      shared_first_position_ == setting.first_position) {
    return *shared_;
  }
  shared_.reset();
  DistanceReference reference = reference_of(setting, interruption_);
  const TruncationError truncation = truncation_error(reference);
  const Cell rms = truncation_rms_cell(truncation, reference, reference.all_distances(),
                                       options_.digits, interruption_);
  const double weights =
      total_variation(reference.native_weights(), softmax(reference.simulated()));
  auto kappa = largest_kappa(construction.theta, setting.first_position, context, interruption_);
  shared_.emplace(Shared{std::move(reference), truncation, rms, weights, std::move(kappa)});
  shared_first_position_ = setting.first_position;
  return *shared_;
}

Measurement ErrorTableRows::measure(const DistanceReference& reference,
                                    const Setting& setting) const {
  const auto sample = sample_size(options_.pairs, setting.context);
  const auto count = static_cast<std::uint64_t>(sample.value_or(0));
  const long long first = setting.first_position;
  if (setting.content) {
    return sample ? measure_sampled_pairs_among_content(setting.pipeline, reference, first,
                                                        *setting.content, count, options_.seed,
                                                        interruption_)
                  : measure_all_pairs_among_content(setting.pipeline, reference, first,
                                                    *setting.content, interruption_);
  }
  return sample ? measure_sampled_pairs(setting.pipeline, reference, first, count, options_.seed,
                                        interruption_)
                : measure_all_pairs(setting.pipeline, reference, first, interruption_);
}

Table::Row ErrorTableRows::add_row(Table& table, const Setting& setting) {
  const Shared& shared = shared_for(setting);
  const Measurement measured = measure(shared.reference, setting);
  const RoundedAmplitude n = rounded_amplitude(setting);
  const int digits = options_.digits;
  auto row = table.add_row();
  set_parameters(row, setting, digits);
  set_origins(row, setting, digits);
  row.set("N", exact_cell(n.exact, digits))
      .set("N_in_dtype", n.rounded)
      .set("N_status", n.status)
      .set("amplification", exact_cell(amplification(setting.construction()), digits))
      .set("truncation_max_abs",
           exact_cell(shared.reference.error_unit().of(shared.truncation.maximum), digits))
      .set("truncation_max_rel", exact_cell(shared.truncation.relative_maximum, digits))
      .set("truncation_rms", shared.truncation_rms)
      .set("rounding_bound", shared.reference.error_unit().bound(
                                 rounding_bound(setting.pipeline, bound_inputs(setting))))
      .set("weights_tv_exact",
           measured.exact_weights_total_variation.value_or(shared.weights_total_variation))
      .set("status", status_of(setting, measured.errors.nonfinite_pairs == 0));
  if (shared.kappa) row.set("kappa_max", exact_cell(shared.kappa->value, digits));
  row.set("weights_tv_computed", measured.weights_total_variation);
  set_errors(row, measured.errors);
  return row;
}

}  // namespace ropelab::app
