// The construction's exact figures against tests/data/construction.csv (mpmath, 80 digits).
#include <string>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/conditioning.hpp"
#include "ropelab/errors/reference.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace ropelab {
namespace {

// To 35 digits, and to the last bit of the double.
template <class Number>
bool agrees_in_decimals(const Number& value, const std::string& reference) {
  const bool negative = reference.front() == '-';
  const Rational expected = parse_rational(reference);
  const Rational printed = parse_rational(to_decimal(value, 40));
  if (expected == 0) return printed == 0;
  const Rational difference = abs(printed - expected) / abs(expected);
  return (printed < 0) == negative &&
         difference < Rational(1, Integer("1" + std::string(35, '0'))) &&
         to_double(value) == to_double(expected);
}

TEST_CASE("slope, N, bias, truncation and kappa agree with 80-digit arithmetic to 35 digits") {
  const CsvText file = read_csv_file(ROPELAB_TEST_DATA "/construction.csv");
  REQUIRE(file.records().size() == 42);
  for (std::size_t r = 0; r < file.records().size(); ++r) {
    const auto text = [&](std::string_view column) { return file.at(r, column); };
    const auto context = std::stoull(text("context"));
    const Algebraic slope = alibi_slope(std::stoi(text("heads")), std::stoi(text("head")));
    const Construction construction{
        parse_positive(text("max_phase")) / Algebraic(static_cast<long long>(context)),
        slope,
        std::stoll(text("head_dim")),
        {}};
    const DistanceReference reference(construction, 1);  // its exact figures need no tables
    const auto d = static_cast<std::size_t>(std::stoull(text("d")));
    INFO("row " << r);
    CHECK(agrees_in_decimals(slope.to_real(), text("slope")));
    CHECK(agrees_in_decimals(construction.theta.to_real(), text("theta")));
    CHECK(agrees_in_decimals(amplitude(construction).to_real(), text("N")));
    CHECK(agrees_in_decimals(amplification(construction).to_real(), text("N_over_sqrt_head_dim")));
    CHECK(agrees_in_decimals(reference.exact_bias(d), text("bias")));
    CHECK(agrees_in_decimals(reference.exact_simulated(d), text("simulated")));
    CHECK(agrees_in_decimals(reference.exact_truncation(d), text("truncation_error")));
    const Real relative = -reference.exact_truncation(d) / reference.exact_bias(d);
    CHECK(agrees_in_decimals(relative, text("relative_truncation_error")));
    CHECK(agrees_in_decimals(
        kappa(construction.theta, std::stoll(text("kappa_i")), std::stoll(text("kappa_j"))),
        text("kappa")));
    if (context > 10000) continue;
    const TruncationError truncation = truncation_error(DistanceReference(construction, context));
    CHECK(agrees_in_decimals(truncation.maximum, text("truncation_error")));
    if (construction.theta.to_real() * Real(d) < Real("4.49")) {
      CHECK(agrees_in_decimals(truncation.relative_maximum, text("relative_truncation_error")));
    }
  }
}

}  // namespace
}  // namespace ropelab
