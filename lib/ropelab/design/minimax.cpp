#include "ropelab/design/minimax.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <glpk.h>
#include <Eigen/QR>

namespace ropelab {
namespace {

constexpr double enough = 1e-4;     // of the objective
constexpr double tolerance = 1e-9;  // of the largest target
constexpr int most_exchanges = 60;
constexpr int steps_per_term = 20;  // of the simplex method

void check(const MinimaxProblem& problem) {
  const auto rows = problem.functions.rows();
  if (rows == 0 || problem.functions.cols() == 0 || problem.target.size() != rows ||
      problem.prices.size() != static_cast<std::size_t>(problem.functions.cols())) {
    throw std::invalid_argument("the functions, target and prices of a fit differ in size");
  }
  if (!problem.functions.allFinite() || !problem.target.allFinite()) {
    throw std::invalid_argument("the functions and the target of a fit must be finite");
  }
}

// The dual program: with y over the chosen rows, maximize sum target y where
// |sum function_k y| <= price_k for every k and sum |y| <= 1. The coefficients are the dual
// values of its rows. Every chosen row of the problem has two columns, y+ and y-.
class DualProgram {
 public:
  DualProgram(const MinimaxProblem& problem, double scale)
      : problem_(problem), scale_(scale), program_(glp_create_prob(), glp_delete_prob) {
    glp_term_out(GLP_OFF);
    glp_set_obj_dir(program_.get(), GLP_MAX);
    glp_add_rows(program_.get(), terms() + 1);
    for (int k = 0; k < terms(); ++k) {
      const double price = problem.prices[static_cast<std::size_t>(k)];
      glp_set_row_bnds(program_.get(), k + 1, price > 0 ? GLP_DB : GLP_FX, -price, price);
    }
    glp_set_row_bnds(program_.get(), terms() + 1, GLP_UP, 0, 1);
  }

  // Whether it was not there before.
  bool add(Eigen::Index row) {
    if (!chosen_.emplace(row, glp_get_num_cols(program_.get()) + 1).second) return false;
    add_column(row, 1);
    add_column(row, -1);
    return true;
  }

  // Those with a y that is not 0, once it is solved.
  std::vector<Eigen::Index> deciding_rows() const {
    std::vector<Eigen::Index> rows;
    for (const auto& [row, column] : chosen_) {
      if (glp_get_col_stat(program_.get(), column) == GLP_BS ||
          glp_get_col_stat(program_.get(), column + 1) == GLP_BS) {
        rows.push_back(row);
      }
    }
    return rows;
  }

  // Of the problem, not of its scaled program.
  struct Solution {
    Eigen::VectorXd coefficients;
    double value;
  };
  // Empty where the simplex method goes in circles: functions that are hardly independent make
  // it, and what it had found before then serves.
  std::optional<Solution> solve() {
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = GLP_PRIMAL;
    how.tol_bnd = how.tol_dj = tolerance;
    how.it_lim = steps_per_term * (terms() + 8);
    // From nothing where the last basis does not serve.
    if (!is_solved(how)) {
      glp_adv_basis(program_.get(), 0);
      if (!is_solved(how)) return std::nullopt;
    }
    Solution solution{Eigen::VectorXd(terms()), scale_ * glp_get_obj_val(program_.get())};
    for (int k = 0; k < terms(); ++k) {
      solution.coefficients[k] = scale_ * glp_get_row_dual(program_.get(), k + 1);
    }
    return solution;
  }

 private:
  bool is_solved(const glp_smcp& how) {
    return glp_simplex(program_.get(), &how) == 0 && glp_get_status(program_.get()) == GLP_OPT;
  }

  int terms() const { return static_cast<int>(problem_.functions.cols()); }

  void add_column(Eigen::Index row, double sign) {
    const int column = glp_add_cols(program_.get(), 1);
    glp_set_col_bnds(program_.get(), column, GLP_LO, 0, 0);
    glp_set_obj_coef(program_.get(), column, sign * problem_.target[row] / scale_);
    std::vector<int> places(1);  // GLPK counts from 1
    std::vector<double> values(1);
    for (int k = 0; k < terms(); ++k) {
      places.push_back(k + 1);
      values.push_back(sign * problem_.functions(row, k));
    }
    places.push_back(terms() + 1);
    values.push_back(1);
    glp_set_mat_col(program_.get(), column, terms() + 1, places.data(), values.data());
  }

  const MinimaxProblem& problem_;
  double scale_;
  std::map<Eigen::Index, int> chosen_;  // and the first of their two columns
  std::unique_ptr<glp_prob, void (*)(glp_prob*)> program_;
};

// Rows to begin with: dense at both ends, as the extremes of a best polynomial are.
std::vector<Eigen::Index> first_rows(Eigen::Index rows, Eigen::Index count) {
  std::vector<Eigen::Index> chosen;
  for (Eigen::Index n = 0; n < count; ++n) {
    const double x =
        static_cast<double>(n) / static_cast<double>(std::max<Eigen::Index>(count - 1, 1));
    const double place = x * x * (3 - 2 * x) * static_cast<double>(rows - 1);
    chosen.push_back(static_cast<Eigen::Index>(std::llround(place)));
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

// The local extremes of the error that are at least `least`, the largest first, no more than
// `most` of them.
std::vector<Eigen::Index> peaks(const Eigen::VectorXd& errors, double least, std::size_t most) {
  std::vector<Eigen::Index> found;
  const auto size = [&](Eigen::Index d) { return std::abs(errors[d]); };
  for (Eigen::Index d = 0; d < errors.size(); ++d) {
    const bool above_before = d == 0 || size(d) >= size(d - 1);
    const bool above_after = d + 1 == errors.size() || size(d) > size(d + 1);
    if (size(d) >= least && above_before && above_after) found.push_back(d);
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return size(a) > size(b); });
  if (found.size() > most) found.resize(most);
  return found;
}

MinimaxFit judged(const MinimaxProblem& problem, const Eigen::VectorXd& coefficients,
                  double lower_bound, Eigen::VectorXd& errors) {
  errors = problem.target - problem.functions * coefficients;
  MinimaxFit fit{coefficients, errors.cwiseAbs().maxCoeff(), 0, lower_bound, {}};
  fit.objective = fit.largest_error;
  for (Eigen::Index k = 0; k < coefficients.size(); ++k) {
    fit.objective += problem.prices[static_cast<std::size_t>(k)] * std::abs(coefficients[k]);
  }
  return fit;
}

// The best in the squares, with what its own roundings left fitted once more. Where the functions
// represent the target, it does so to the last bits, and the linear program to its tolerance.
Eigen::VectorXd least_squares(const MinimaxProblem& problem) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(problem.functions);
  const Eigen::VectorXd once = solver.solve(problem.target);
  return once + solver.solve(problem.target - problem.functions * once);
}

}  // namespace

MinimaxFit fit_minimax(const MinimaxProblem& problem, const Interruption& interruption) {
  check(problem);
  const double scale = std::max(problem.target.cwiseAbs().maxCoeff(), 0x1p-1000);
  const Eigen::Index rows = problem.functions.rows(), terms = problem.functions.cols();
  DualProgram program(problem, scale);
  const auto first =
      problem.first_rows.empty() ? first_rows(rows, 4 * terms + 8) : problem.first_rows;
  for (const Eigen::Index row : first) program.add(row);
  Eigen::VectorXd errors;
  MinimaxFit best = judged(problem, Eigen::VectorXd::Zero(terms), 0, errors);
  const MinimaxFit squares = judged(problem, least_squares(problem), 0, errors);
  const bool is_represented = squares.largest_error <= tolerance * scale;
  if (is_represented && squares.objective < best.objective) best = squares;
  for (int exchange = 0; exchange < most_exchanges; ++exchange) {
    interruption.check();
    const auto solution = program.solve();
    if (!solution) break;
    const auto& [coefficients, value] = *solution;
    const MinimaxFit fit = judged(problem, coefficients, value, errors);
    const double lower_bound = std::max(best.lower_bound, value);
    if (fit.objective < best.objective) best = fit;
    best.lower_bound = lower_bound;
    const double slack = std::max(enough * value, tolerance * scale);
    if (best.objective <= lower_bound + slack) break;
    bool has_new_rows = false;
    for (const Eigen::Index row : peaks(errors, fit.largest_error - (fit.objective - value),
                                        2 * static_cast<std::size_t>(terms) + 8)) {
      has_new_rows = program.add(row) || has_new_rows;
    }
    if (!has_new_rows) break;  // what is left is the program's tolerance
  }
  best.rows = program.deciding_rows();
  return best;
}

}  // namespace ropelab
