// ropelab frequencies: RoPE's grid, and what float32 makes of it.
#include <fmt/format.h>

#include <optional>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/construction_options.hpp"
#include "app/least_base_search.hpp"
#include "app/model_option.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/rope/scaling_text.hpp"

namespace ropelab::app {
namespace {

// Distances from the exact value, in ulp, of what a formula makes of each pair.
std::vector<double> distances(const FrequencyGrid& grid, FrequencyFormula formula,
                              const Interruption& interruption) {
  const Format& format = float32_format();
  std::vector<double> result = evaluate_frequencies(grid, formula, format, interruption);
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    interruption.check();
    double& theta = result[static_cast<std::size_t>(pair)];
    theta = distance_in_ulp(format, theta, grid.unscaled_theta(pair));
  }
  return result;
}

std::string formula_column(FrequencyFormula formula) {
  return fmt::format("float32_{}_ulp", formula_name(formula));
}

class Frequencies : public Command {
 public:
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    grids_.add_to(app);
    scaling_.add_to(app);
    context_.add_to(app);
    near_.add_to(app, "--near", "THETA", "Mark the pair that is nearest in ratio to this theta");
    least_base_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    model_.read();
    model_.give_defaults(grids_, scaling_, context_);
    const std::vector<int> rope_dims = grids_.rope_dims(interruption);
    if (least_base_.wanted()) {
      least_base_.set_up(rope_dims, context_.read(interruption));
      return;
    }
    const std::vector<Scaling> scalings = scaling_.read();
    positions_ = single_context(interruption);
    for (const Algebraic& base : grids_.bases(interruption)) {
      for (const int rope_dim : rope_dims) {
        interruption.check();
        for (const Scaling& scaling : scalings) {
          chosen_.push_back(scaled_grid(base, rope_dim, at_length(scaling, positions_)));
        }
      }
    }
    if (near_.given()) theta_ = near_.read(parse_positive);
  }

  std::vector<std::string> columns() const override {
    if (least_base_.wanted()) return LeastBaseSearch::columns();
    std::vector<std::string> names{"base", "rope_dim", "pair", "theta", "wavelength", "phase"};
    for (const FrequencyFormula formula : frequency_formulas()) {
      names.push_back(formula_column(formula));
    }
    names.push_back("nearest");
    if (scaling_.wanted()) {
      names.insert(names.end(), {"scaling", "attention_factor", "softmax_factor", "scaled_base",
                                 "correction_low", "correction_high", "extrapolated"});
    }
    return names;
  }

  std::vector<std::string> files_read() const override {
    std::vector<std::string> files = scaling_.files_read();
    for (std::string& file : model_.files_read()) files.push_back(std::move(file));
    return files;
  }

  Parameters resolved_parameters(const Interruption&) const override {
    std::vector<Scaling> scalings;
    for (const FrequencyGrid& grid : chosen_) scalings.push_back(grid.scaling().scaling());
    Parameters parameters = scaling_.resolved_parameters(scalings);
    for (const Parameters& more : {model_.resolved_parameters(), grids_.resolved_parameters()}) {
      parameters.insert(parameters.end(), more.begin(), more.end());
    }
    return parameters;
  }

  std::optional<std::size_t> rows_in_all() const override {
    if (least_base_.wanted()) return least_base_.rows();
    std::size_t rows = 0;
    for (const FrequencyGrid& grid : chosen_) rows += static_cast<std::size_t>(grid.pairs());
    return rows;
  }

  void open_beside(FilesInUse& files) override { least_base_.open_proof(files); }

  void run(Run& run, Table& table) override {
    if (least_base_.wanted()) return least_base_.run(run, table);
    run.over(chosen_.size(), [&](std::size_t n) { add_rows(chosen_[n], run, table); });
  }

  void write_beside(const Table&, const Manifest& manifest) override {
    least_base_.write_proofs(manifest);
  }

 private:
  // There is no column that would tell several apart.
  long long single_context(const Interruption& interruption) const {
    const std::vector<long long> contexts = context_.read(interruption);
    if (contexts.size() == 1) return contexts.front();
    throw UsageError("--context",
                     fmt::format("there are {} values; here it takes one", contexts.size()));
  }

  // They evaluate base^(-2 pair/rope_dim), which a scaled theta is not.
  static std::vector<std::vector<double>> formula_distances(const FrequencyGrid& grid,
                                                            const Interruption& interruption) {
    std::vector<std::vector<double>> formulas;
    if (scales(grid.scaling().scaling())) return formulas;
    for (const FrequencyFormula formula : frequency_formulas()) {
      formulas.push_back(distances(grid, formula, interruption));
    }
    return formulas;
  }

  // What does not change from pair to pair.
  struct ScalingCells {
    ScalingCells(const GridScaling& scaling, int digits)
        : text(text_of(scaling.scaling())),
          attention_factor(exact_cell(ropelab::attention_factor(scaling.scaling()), digits)),
          softmax_factor(exact_cell(ropelab::softmax_factor(scaling.scaling()), digits)) {
      if (const auto scaled = scaling.base()) base = exact_cell(*scaled, digits);
      if (const auto& range = scaling.range()) {
        low = exact_cell(range->low, digits);
        high = exact_cell(range->high, digits);
      }
    }
    Cell text, attention_factor, softmax_factor, base, low, high;
  };

  static void set_scaling(Table::Row& row, const ScalingCells& cells) {
    row.set("scaling", cells.text)
        .set("attention_factor", cells.attention_factor)
        .set("softmax_factor", cells.softmax_factor)
        .set("scaled_base", cells.base)
        .set("correction_low", cells.low)
        .set("correction_high", cells.high);
  }

  void add_rows(const FrequencyGrid& grid, const Run& run, Table& table) const {
    const auto formulas = formula_distances(grid, run.interruption());
    const std::optional<int> nearest =
        theta_ ? std::optional(grid.nearest_pair(*theta_, run.interruption())) : std::nullopt;
    const ScalingCells scaling(grid.scaling(), run.digits());
    for (int pair = 0; pair < grid.pairs(); ++pair) {
      run.interruption().check();
      const Algebraic theta = grid.theta(pair);
      auto row = table.add_row();
      row.set("base", exact_cell(grid.base(), run.digits()))
          .set("rope_dim", grid.rope_dim())
          .set("pair", pair)
          .set("theta", exact_cell(theta, run.digits()))
          .set("wavelength", exact_cell(Real(2 * pi() / theta.to_real()), run.digits()))
          .set("phase", exact_cell(theta * Algebraic(positions_), run.digits()));
      for (std::size_t n = 0; n < formulas.size(); ++n) {
        row.set(formula_column(frequency_formulas()[n]),
                formulas[n][static_cast<std::size_t>(pair)]);
      }
      if (nearest == pair) row.set("nearest", "yes");
      if (!scaling_.wanted()) continue;
      set_scaling(row, scaling);
      if (const auto share = grid.scaling().extrapolated(grid.unscaled_theta(pair), pair)) {
        row.set("extrapolated", exact_cell(*share, run.digits()));
      }
    }
  }

  ModelOption model_;
  GridOptions grids_;
  ScalingOption scaling_;
  ContextOption context_;
  TextOption near_;
  LeastBaseSearch least_base_;
  std::vector<FrequencyGrid> chosen_;
  long long positions_ = 0;
  std::optional<Algebraic> theta_;
};

}  // namespace

CommandEntry frequencies_command() {
  return {"frequencies", "List the frequencies of RoPE's grid, and what float32 formulas lose",
          "  $ ropelab frequencies --base 10000 --rope-dim 4 --near 0.1/65536\n"
          "  "
          "base,rope_dim,pair,theta,wavelength,phase,float32_pow_ulp,float32_explog_ulp,float32_"
          "running_ulp,nearest\n"
          "  10000,4,0,1,6.283185307179586,65536,0,0,0,\n"
          "  10000,4,1,0.01,628.3185307179587,655.36,0.24,0.24,0.24,yes\n"
          "  $ ropelab frequencies --least-base --rope-dim 128 --context 1K | cut -d, -f1-2,5\n"
          "  rope_dim,context,witness\n"
          "  128,1024,1009\n",
          make_command<Frequencies>};
}

}  // namespace ropelab::app
