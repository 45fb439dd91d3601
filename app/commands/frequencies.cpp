// ropelab frequencies: RoPE's grid, and what float32 makes of it.
#include <fmt/format.h>

#include <optional>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/construction_options.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"

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
    theta = distance_in_ulp(format, theta, grid.theta(pair));
  }
  return result;
}

class Frequencies : public Command {
 public:
  void add_options(CLI::App& app) override {
    grids_.add_to(app);
    context_.add_to(app);
    near_.add_to(app, "--near", "THETA", "Mark the pair that is nearest in ratio to this theta");
  }

  void set_up(const Interruption& interruption) override {
    const std::vector<int> rope_dims = grids_.rope_dims(interruption);
    for (const Algebraic& base : grids_.bases(interruption)) {
      interruption.check();
      for (const int rope_dim : rope_dims) chosen_.emplace_back(base, rope_dim);
    }
    positions_ = single_context(interruption);
    if (near_.given()) theta_ = near_.read(parse_positive);
  }

  std::vector<std::string> columns() const override {
    std::vector<std::string> names{"base", "rope_dim", "pair", "theta", "wavelength", "phase"};
    for (const FrequencyFormula formula : frequency_formulas()) {
      names.push_back(fmt::format("float32_{}_ulp", formula_name(formula)));
    }
    names.push_back("nearest");
    return names;
  }

  std::optional<std::size_t> rows_in_all() const override {
    std::size_t rows = 0;
    for (const FrequencyGrid& grid : chosen_) rows += static_cast<std::size_t>(grid.pairs());
    return rows;
  }

  void run(Run& run, Table& table) override {
    run.over(chosen_.size(), [&](std::size_t n) { add_rows(chosen_[n], run, table); });
  }

 private:
  // There is no column that would tell several apart.
  long long single_context(const Interruption& interruption) const {
    const std::vector<long long> contexts = context_.read(interruption);
    if (contexts.size() == 1) return contexts.front();
    throw UsageError("--context",
                     fmt::format("there are {} values; here it takes one", contexts.size()));
  }

  void add_rows(const FrequencyGrid& grid, const Run& run, Table& table) const {
    std::vector<std::vector<double>> formulas;
    for (const FrequencyFormula formula : frequency_formulas()) {
      formulas.push_back(distances(grid, formula, run.interruption()));
    }
    const std::optional<int> nearest =
        theta_ ? std::optional(grid.nearest_pair(*theta_, run.interruption())) : std::nullopt;
    for (int pair = 0; pair < grid.pairs(); ++pair) {
      run.interruption().check();
      const Algebraic theta = grid.theta(pair);
      std::vector<Cell> cells{exact_cell(grid.base(), run.digits()),
                              grid.rope_dim(),
                              pair,
                              exact_cell(theta, run.digits()),
                              exact_cell(Real(2 * pi() / theta.to_real()), run.digits()),
                              exact_cell(theta * Algebraic(positions_), run.digits())};
      for (const auto& formula : formulas) {
        cells.emplace_back(formula[static_cast<std::size_t>(pair)]);
      }
      cells.push_back(nearest == pair ? Cell("yes") : Cell());
      table.add_row(std::move(cells));
    }
  }

  GridOptions grids_;
  ContextOption context_;
  TextOption near_;
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
          "  10000,4,1,0.01,628.3185307179587,655.36,0.24,0.24,0.24,yes\n",
          make_command<Frequencies>};
}

}  // namespace ropelab::app
