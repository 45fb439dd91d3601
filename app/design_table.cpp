#include "app/design_table.hpp"

#include <algorithm>
#include <filesystem>

#include "app/error_table.hpp"
#include "app/output.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

constexpr int kMostPairs = 64;
constexpr const char* kDefaultPairs = "4";
constexpr long long kLargestDesignedContext = 256 * 1024;
// What a fit of the grid keeps of every position.
constexpr double kBytesOfFit = 2 * 8 * kMostPairs;

std::string joined(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

}  // namespace

std::vector<std::string> design_columns(std::vector<std::string> parameters) {
  std::vector<std::string> columns = std::move(parameters);
  columns.insert(columns.end(),
                 {"method", "rotated_pairs", "frequencies", "query", "key", "offset"});
  const auto errors = error_table_columns();
  columns.insert(columns.end(), std::find(errors.begin(), errors.end(), "truncation_max_abs"),
                 errors.end());
  columns.insert(columns.end(), {"tolerance", "holds", "reason"});
  return columns;
}

void set_design(Table::Row& row, const HeadDesign& design) {
  row.set("method", name_of(design.method))
      .set("rotated_pairs", static_cast<long long>(design.pairs.size()))
      .set("frequencies", joined(frequencies_of(design)))
      .set("query", joined(components_of(design, &RotatedPair::query)))
      .set("key", joined(components_of(design, &RotatedPair::key)))
      .set("offset", design.offset);
}

void set_measured(Table::Row& row, const DesignErrors& errors) {
  row.set("truncation_max_abs", errors.truncation.maximum)
      .set("truncation_max_rel", errors.truncation.relative_maximum)
      .set("truncation_rms", errors.truncation.rms)
      .set("weights_tv_exact", errors.exact_weights_total_variation)
      .set("weights_tv_computed", errors.measurement.weights_total_variation)
      .set("status", "ok");
  set_errors(row, errors.measurement.errors);
}

std::string what_is_left(const DesignErrors& errors, Objective objective, std::string_view unit) {
  const double left = *objective_of(errors, objective);
  if (objective == Objective::truncation) {
    return fmt::format("{:.3g} {} of truncation left", left, unit);
  }
  if (objective == Objective::weights) {
    return fmt::format("{:.3g} of the last query's weight goes elsewhere", left);
  }
  const double truncation = errors.truncation.maximum;
  const auto& largest = errors.measurement.errors.rounding_maximum;
  const double rounding = largest ? largest->error : 0;
  return fmt::format("{:.3g} {} left {}by {}{}", left, unit,
                     std::min(rounding, truncation) > 0 ? "mostly " : "",
                     rounding >= truncation ? "rounding" : "truncation",
                     objective == Objective::visible ? " among visible pairs" : "");
}

std::string limit_of_grid(double limit, std::size_t pairs, double tolerance) {
  if (!(limit > tolerance)) return "";
  return fmt::format("; all {} pairs of the grid cannot have less than {:.3g} logits of truncation",
                     pairs, limit);
}

void require_design_fits(long long context) {
  if (context > kLargestDesignedContext) {
    throw UsageError("--context", fmt::format("'{}' positions are too many to measure every "
                                              "design; at most {} would be right",
                                              context, kLargestDesignedContext));
  }
  require_context_fits(context, kBytesOfFit);
}

void WindowOption::add_to(CLI::App& app, const std::string& without) {
  window_.add_to(
      app, "--window", kIntegers,
      fmt::format("Attention slides: a query sees itself and the keys at distances below "
                  "this (default: {})",
                  without));
}

void WindowOption::take_defaults(const ModelConfig& model) {
  if (model.sliding_window) window_.set_default(fmt::format("{}", *model.sliding_window));
}

std::vector<long long> WindowOption::read(long long context,
                                          const Interruption& interruption) const {
  if (window_.text().empty()) return {context};
  return window_.read([&](const std::string& text) {
    std::vector<long long> windows = parse_integer_values(text, 1, kMostPositions, interruption);
    for (long long& window : windows) window = std::min(window, context);
    return windows;
  });
}

void MostPairsOption::add_to(CLI::App& app) {
  most_pairs_.add_to(app, "--max-pairs", kIntegers, "At most so many rotated pairs a head",
                     kDefaultPairs);
}

std::vector<int> MostPairsOption::read(const Interruption& interruption) const {
  const auto numbers = most_pairs_.read([&](const std::string& text) {
    return parse_integer_values(text, 1, kMostPairs, interruption);
  });
  return {numbers.begin(), numbers.end()};
}

std::string MostPairsOption::cell(int pairs) const {
  return most_pairs_.text() == kDefaultPairs ? "" : fmt::format(",max-pairs={}", pairs);
}

void ObjectiveOption::add_to(CLI::App& app) {
  objective_.add_to(app, "--objective", "WORD",
                    "What is to be least: truncation, total, visible or weights", "total");
}

Objective ObjectiveOption::read() const {
  return static_cast<Objective>(
      objective_.read([](const std::string& text) { return index_of(objective_names, text); }));
}

void ModelFileOption::add_to(CLI::App& app) {
  name_.add_to(app, "--model-file", "FILE.json", "Also writes what a model needs, as JSON");
}

void ModelFileOption::open(FilesInUse& files) {
  if (!name_.given()) return;
  const std::filesystem::path path(name_.text());
  std::error_code none;
  if (path.extension() != ".json" && !std::filesystem::is_directory(path, none) &&
      !std::filesystem::is_character_file(path, none)) {
    throw UsageError(name_.name(), fmt::format("'{}' does not end in .json, and JSON is what it is "
                                               "to hold; a name that does would be right",
                                               path.string()));
  }
  files.add_written(name_.name(), {path.string()});
  file_.emplace(open_file(name_.name(), path.string()));
}

void ModelFileOption::write(const std::vector<DesignedHead>& heads) {
  if (!file_) return;
  file_->write(design_file(heads));
  file_->commit();
}

void refuse_idle_grid(const GridOptions& grid, const ScalingOption& scaling,
                      std::string_view wanted) {
  auto given = grid.given();
  if (scaling.option().given()) given.push_back(scaling.option().name());
  if (given.empty()) return;
  throw UsageError(given.front(), fmt::format("no design here is on a model's grid; beside it {} "
                                              "would be right",
                                              wanted));
}

std::vector<GridChoice> grid_choices(const GridOptions& grid_options, const ScalingOption& scalings,
                                     long long context, const Interruption& interruption) {
  std::vector<GridChoice> choices;
  for (const Algebraic& base : grid_options.bases(interruption)) {
    for (const int rope_dim : grid_options.rope_dims(interruption)) {
      for (const Scaling& scaling : scalings.read()) {
        const FrequencyGrid grid = scaled_grid(base, rope_dim, at_length(scaling, context));
        GridChoice choice{{}, fmt::format(",base={},rope-dim={}", base.to_double(), rope_dim)};
        for (int pair = 0; pair < grid.pairs(); ++pair) choice.thetas.push_back(grid.theta(pair));
        if (scalings.wanted()) choice.cell += scaling_in_pipeline_cell(grid.scaling().scaling());
        choices.push_back(std::move(choice));
      }
    }
  }
  return choices;
}

}  // namespace ropelab::app
