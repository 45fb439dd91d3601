// Claims about RoPE's frequencies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/claims/all_claims.hpp"
#include "ropelab/exact/distance.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"

namespace ropelab::app {
namespace {

constexpr long long kContext = 65536;

struct GridChoice {
  std::string base;
  int rope_dim;

  FrequencyGrid grid() const { return FrequencyGrid(parse_rational(base), rope_dim); }
  std::string text() const { return fmt::format("base {}, dimension {}", base, rope_dim); }
};

std::vector<GridChoice> choices(const std::vector<std::string>& bases) {
  std::vector<GridChoice> all;
  for (const std::string& base : bases) {
    for (const int rope_dim : {64, 128}) all.push_back({base, rope_dim});
  }
  return all;
}

const std::vector<std::string> kGridBases{"1e4", "5e5", "1e6"};

Algebraic slowest_theta(const FrequencyGrid& grid) { return grid.theta(grid.slowest_pair()); }

ClaimRow slowest_row(const GridChoice& choice, const std::string& quantity, long long factor) {
  const FrequencyGrid grid = choice.grid();
  const Algebraic theta = slowest_theta(grid);
  return about_row(
      {fmt::format("{}, {}", quantity, choice.text()),
       fmt::format("larger by base^(2/{}) = {:.4g}: the grid ends at r = {}, one step short of "
                   "1/base, so the claim nears the truth as the dimension grows",
                   choice.rope_dim, (theta * grid.base()).to_double(), grid.pairs() - 1)},
      Real(factor) / grid.base().to_real(), theta.to_real() * factor);
}

// The grid's frequency that comes nearest to max phase 0.1.
struct Nearest {
  int pair;
  Algebraic theta, ratio, max_phase;

  explicit Nearest(const FrequencyGrid& grid)
      : Nearest(grid, parse_positive("0.1") / Algebraic(kContext)) {}

 private:
  Nearest(const FrequencyGrid& grid, const Algebraic& wanted)
      : pair(grid.nearest_pair(wanted)),
        theta(grid.theta(pair)),
        ratio(theta / wanted),
        max_phase(theta * Algebraic(kContext)) {}
};

std::string_view monotone_text(const Algebraic& max_phase) {
  return max_phase.to_real() > pi() / 2 ? "beyond pi/2: the sine wraps and the bias is no longer "
                                          "monotone"
                                        : "below pi/2: the bias stays monotone";
}

Table nearest_table() {
  Table table({"base", "rope_dim", "pair", "theta", "theta_over_wanted", "max_phase"});
  for (const GridChoice& choice : choices({"1e4", "2.6e4", "1e5", "5e5", "1e6", "1e7", "1e8"})) {
    const FrequencyGrid grid = choice.grid();
    const Nearest nearest(grid);
    table.add_row({grid.base().to_double(), choice.rope_dim, nearest.pair,
                   nearest.theta.to_double(), nearest.ratio.to_double(),
                   nearest.max_phase.to_double()});
  }
  return table;
}

// The largest error of a formula over a grid, in ulp of the exact frequency.
struct FormulaError {
  double largest = 0;
  int pair = 0;
  int not_finite = 0;
};

FormulaError formula_error(const FrequencyGrid& grid, FrequencyFormula formula,
                           const Format& format) {
  const std::vector<double> thetas = evaluate_frequencies(grid, formula, format);
  FormulaError error;
  for (int pair = 0; pair < grid.pairs(); ++pair) {
    const double theta = thetas[static_cast<std::size_t>(pair)];
    const double ulps = distance_in_ulp(format, theta, grid.theta(pair));
    if (!std::isfinite(ulps)) {
      ++error.not_finite;
    } else if (ulps > error.largest) {
      error.largest = ulps;
      error.pair = pair;
    }
  }
  return error;
}

constexpr FrequencyFormula kCompared[] = {FrequencyFormula::power,
                                          FrequencyFormula::exponential_log};

// The largest errors over all grids whose base the format can hold.
struct Compared {
  double power = 0, exponential_log = 0;
  int grids = 0;

  void add(const FormulaError& of_power, const FormulaError& of_exponential_log) {
    power = std::max(power, of_power.largest);
    exponential_log = std::max(exponential_log, of_exponential_log.largest);
    ++grids;
  }
};

void add_formula_row(Table& table, const GridChoice& choice, FrequencyFormula formula,
                     const Format& format, const FormulaError& error) {
  table.add_row({format.name, choice.grid().base().to_double(), choice.rope_dim,
                 formula_name(formula), error.largest, error.pair, error.not_finite});
}

Compared compare_formulas(const Format& format, Table& table) {
  Compared compared;
  for (const GridChoice& choice : choices(kGridBases)) {
    const FrequencyGrid grid = choice.grid();
    FormulaError errors[2];
    for (int n = 0; n < 2; ++n) {
      errors[n] = formula_error(grid, kCompared[n], format);
      add_formula_row(table, choice, kCompared[n], format, errors[n]);
    }
    if (std::isfinite(round_to(format, grid.base()))) compared.add(errors[0], errors[1]);
  }
  return compared;
}

void add_comparison(std::vector<ClaimRow>& rows, const Format& format, const Compared& compared) {
  const std::string grids = fmt::format(
      "largest over {} grids whose base the format can hold, "
      "every step correctly rounded",
      compared.grids);
  rows.push_back(
      measured_row({fmt::format("error of 1/pow, {}, ulp", format.name), grids}, compared.power));
  rows.push_back(measured_row({fmt::format("error of exp and log, {}, ulp", format.name), grids},
                              compared.exponential_log));
  rows.push_back(
      less_than_one_row({fmt::format("error of exp and log over that of 1/pow, {}", format.name),
                         "more stable would be below 1"},
                        Real(compared.exponential_log) / Real(compared.power)));
}

}  // namespace

ClaimResult slowest_frequency(const ClaimSettings&) {
  ClaimResult result;
  for (const GridChoice& choice : choices(kGridBases)) {
    result.rows.push_back(slowest_row(choice, "slowest theta", 1));
    result.rows.push_back(slowest_row(choice, "its phase over 65536 positions", kContext));
  }
  return result;
}

ClaimResult smaller_base(const ClaimSettings&) {
  const std::vector<std::string> bases{"1e3", "1e4", "1e5", "5e5", "1e6", "1e7"};
  ClaimResult result;
  for (std::size_t n = 0; n + 1 < bases.size(); ++n) {
    const Algebraic smaller = slowest_theta(GridChoice{bases[n], 64}.grid());
    const Algebraic larger = slowest_theta(GridChoice{bases[n + 1], 64}.grid());
    result.rows.push_back(less_than_one_row(
        {fmt::format("slowest theta at base {} over that at {}, dimension 64", bases[n],
                     bases[n + 1]),
         fmt::format(
             "theta = base^(-62/64): {:.4g} and {:.4g}; a larger base gives a smaller theta",
             smaller.to_double(), larger.to_double())},
        (smaller / larger).to_real()));
  }
  return result;
}

ClaimResult grid_only(const ClaimSettings&) {
  ClaimResult result;
  for (const GridChoice& choice : choices(kGridBases)) {
    const FrequencyGrid grid = choice.grid();
    const Nearest nearest(grid);
    result.rows.push_back(
        measured_row({"nearest theta over the one for max phase 0.1, " + choice.text(),
                      fmt::format("pair {} of 0 ... {}", nearest.pair, grid.pairs() - 1)},
                     nearest.ratio.to_real()));
    result.rows.push_back(measured_row({"its max phase at context 65536, " + choice.text(),
                                        std::string(monotone_text(nearest.max_phase))},
                                       nearest.max_phase.to_real()));
  }
  result.curve = nearest_table();
  return result;
}

ClaimResult exponential_and_log(const ClaimSettings& settings) {
  ClaimResult result;
  result.curve.emplace(std::vector<std::string>{"dtype", "base", "rope_dim", "formula", "max_ulp",
                                                "max_pair", "nonfinite"});
  for (const char* name : {"float16", "bfloat16", "float32", "float64"}) {
    settings.interruption.check();
    const Format& format = find_format(name);
    add_comparison(result.rows, format, compare_formulas(format, *result.curve));
  }
  return result;
}

}  // namespace ropelab::app
