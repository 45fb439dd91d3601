// Best approximations whose largest error is known.
#include "ropelab/design/minimax.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"

namespace ropelab {
namespace {

constexpr Eigen::Index rows = 4001;

double x_of(Eigen::Index row) { return 2.0 * static_cast<double>(row) / (rows - 1) - 1; }

// 1, x, ... x^(terms-1) on [-1, 1].
Eigen::MatrixXd powers(Eigen::Index terms) {
  Eigen::MatrixXd functions(rows, terms);
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index k = 0; k < terms; ++k) {
      functions(row, k) = std::pow(x_of(row), static_cast<double>(k));
    }
  }
  return functions;
}

template <class Function>
Eigen::VectorXd values(const Function& function) {
  Eigen::VectorXd result(rows);
  for (Eigen::Index row = 0; row < rows; ++row) result[row] = function(x_of(row));
  return result;
}

TEST_CASE("x^n is left with 2^(1-n), as Chebyshev found") {
  for (const int n : {2, 3, 5, 8}) {
    const Eigen::MatrixXd functions = powers(n);
    const Eigen::VectorXd target = values([&](double x) { return std::pow(x, n); });
    const auto fit =
        fit_minimax({functions, target, std::vector<double>(static_cast<std::size_t>(n), 0.0)});
    INFO(n << ": " << fit.largest_error);
    CHECK(fit.largest_error >= std::ldexp(1.0, 1 - n) * (1 - 1e-3));  // the rows are a sample
    CHECK(fit.largest_error <= std::ldexp(1.0, 1 - n) * (1 + 2e-4));
    CHECK(fit.lower_bound <= fit.largest_error);
    CHECK(fit.objective == fit.largest_error);
  }
}

TEST_CASE("what the functions hold is found, whatever its size") {
  const Eigen::MatrixXd functions = powers(4);
  for (const double size : {1e-3, 1.0, 46341.0, 1e9}) {
    const Eigen::VectorXd target = values([&](double x) { return size * (1 - 3 * x * x * x); });
    const auto fit = fit_minimax({functions, target, std::vector<double>(4, 0.0)});
    CHECK(fit.largest_error <= 1e-8 * size);
    CHECK(std::fabs(fit.coefficients[3] + 3 * size) <= 1e-7 * size);
  }
}

TEST_CASE("what nearly dependent functions hold is found to the last bits") {
  // Cosines this slow are nearly 1 - x^2/2 times a few numbers.
  Eigen::MatrixXd functions(rows, 6);
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index k = 0; k < 6; ++k) {
      functions(row, k) = std::cos(0.1 * std::pow(1.5, k) * x_of(row));
    }
  }
  const Eigen::VectorXd target = 8 * functions.rowwise().sum();
  const auto fit = fit_minimax({functions, target, std::vector<double>(6, 1e-17)});
  CHECK(fit.largest_error <= 1e-13);
}

TEST_CASE("a price on coefficients is paid where it is worth it, and no more") {
  // One function, f = 1, and the target 1: |1 - c| + price |c| is least at c = 1 while the price is
  // below 1, and at c = 0 above.
  const Eigen::MatrixXd functions = powers(1);
  const Eigen::VectorXd target = values([](double) { return 1.0; });
  const auto cheap = fit_minimax({functions, target, {0.9}});
  CHECK(std::fabs(cheap.coefficients[0] - 1) < 1e-8);
  CHECK(std::fabs(cheap.objective - 0.9) < 1e-8);
  const auto dear = fit_minimax({functions, target, {1.1}});
  CHECK(std::fabs(dear.coefficients[0]) < 1e-8);
  CHECK(std::fabs(dear.objective - 1) < 1e-8);
}

TEST_CASE("no neighbour of the coefficients does better") {
  const Eigen::MatrixXd functions = powers(5);
  const Eigen::VectorXd target = values([](double x) { return std::exp(3 * x); });
  const std::vector<double> prices = {0, 0.01, 0.02, 0.01, 0.05};
  const auto fit = fit_minimax({functions, target, prices});
  const auto objective = [&](const Eigen::VectorXd& c) {
    double value = (target - functions * c).cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < c.size(); ++k) {
      value += prices[static_cast<std::size_t>(k)] * std::fabs(c[k]);
    }
    return value;
  };
  CHECK(objective(fit.coefficients) == fit.objective);
  CHECK(fit.objective <= fit.lower_bound * (1 + 1.1e-4));
  for (Eigen::Index k = 0; k < 5; ++k) {
    for (const double step : {-0.3, -0.01, 0.01, 0.3}) {
      Eigen::VectorXd moved = fit.coefficients;
      moved[k] += step;
      CHECK(objective(moved) >= fit.lower_bound * (1 - 1e-9));
    }
  }
}

TEST_CASE("what cannot be fitted is refused") {
  const Eigen::MatrixXd functions = powers(2);
  const Eigen::VectorXd target = values([](double x) { return x; });
  CHECK_THROWS_AS(fit_minimax({functions, target, {0}}), std::invalid_argument);
  const Eigen::VectorXd shorter = target.head(3);
  CHECK_THROWS_AS(fit_minimax({functions, shorter, {0, 0}}), std::invalid_argument);
  Eigen::VectorXd broken = target;
  broken[7] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(fit_minimax({functions, broken, {0, 0}}), std::invalid_argument);
}

}  // namespace
}  // namespace ropelab
