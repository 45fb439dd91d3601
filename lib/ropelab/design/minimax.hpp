// The best approximation of a function of distance by a sum of given functions, in the largest
// error, with a price on large coefficients.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "ropelab/exact/interruption.hpp"

namespace ropelab {

struct MinimaxProblem {
  // Row d holds every function at distance d; the target there.
  const Eigen::MatrixXd& functions;
  const Eigen::VectorXd& target;
  // What a unit of each coefficient adds to the objective, at least 0.
  std::vector<double> prices;
  // Where the exchange may begin: the rows of a similar fit. Empty: at rows of its own choice.
  std::vector<Eigen::Index> first_rows{};
};

struct MinimaxFit {
  Eigen::VectorXd coefficients;
  double largest_error;  // over all rows, of these coefficients, in double arithmetic
  double objective;      // largest_error + sum price * |coefficient|
  // No coefficients have an objective below this one, but for the tolerances of the linear
  // program, some 1e-9 of the largest target: the value of its dual.
  double lower_bound;
  std::vector<Eigen::Index> rows;  // that decide it
};

// The coefficients c with the least objective max |target - functions c| + sum prices |c|, to
// 1e-4 of it relative, or 1e-9 of the largest target; where the functions represent the target so
// closely, the best in the squares serves if that is better, to some roundings of a double. A
// linear program over a few rows, solved by its dual with GLPK's simplex method, to which the rows
// of the largest errors are added until no other matters: the exchange of Cheney, Introduction to
// Approximation Theory (1966), chapter 2. Deterministic. Throws std::invalid_argument where sizes
// do not match or a number is not finite, Interrupted.
MinimaxFit fit_minimax(const MinimaxProblem& problem, const Interruption& interruption = {});

}  // namespace ropelab
