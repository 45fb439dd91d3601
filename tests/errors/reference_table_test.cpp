// The error table against tests/data/errors.csv: 72 settings over all dtypes and pipelines,
// all pairs, from a plain independent program on MPFR.
#include <cmath>
#include <map>
#include <string>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/bound.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace ropelab {
namespace {

// Within one double of the reference.
bool is_beside(double value, double reference) {
  return value == reference || std::nextafter(value, reference) == reference;
}
bool is_near_value(double value, double reference, double relative, double absolute) {
  return std::abs(value - reference) <= std::max(relative * std::abs(reference), absolute);
}

struct Row {
  const CsvText& file;
  std::size_t record;
  const std::string& text(std::string_view column) const { return file.at(record, column); }
  double number(std::string_view column) const { return std::stod(text(column)); }
};

enum class Closeness { beside, rms, weights, same };

bool agrees_as_named(const Row& row, std::string_view column, const std::optional<double>& value,
                     Closeness closeness) {
  const std::string& expected = row.text(column);
  if (expected.empty() || !value) return expected.empty() && !value;
  const double reference = std::stod(expected);
  if (std::isnan(reference)) return std::isnan(*value);
  switch (closeness) {
    case Closeness::beside:
      return is_beside(*value, reference);
    case Closeness::rms:
      return is_near_value(*value, reference, 1e-10, 0);
    case Closeness::weights:
      return is_near_value(*value, reference, 1e-9, 1e-17);
    case Closeness::same:
      return *value == reference;
  }
  return false;
}

void check_row(const Row& row) {
  const auto context = std::stoull(row.text("context"));
  const Algebraic phase = parse_positive(row.text("max_phase"));
  const Construction construction{
      phase / Algebraic(Rational(context)),
      alibi_slope(std::stoi(row.text("heads")), std::stoi(row.text("head"))),
      std::stoll(row.text("head_dim")),
      {}};
  const Pipeline pipeline = parse_pipeline(row.text("pipeline"), find_format(row.text("dtype")));
  const DistanceReference reference(construction, context);
  const Measurement measured = measure_all_pairs(pipeline, reference, 0);
  const PairErrors& errors = measured.errors;
  const TruncationError truncation = truncation_error(reference);
  const double n = round_to(*pipeline[StepName::rotation], amplitude(construction));
  const bool any = errors.rounding_maximum.has_value();
  using C = Closeness;
  const auto or_empty = [&](auto value) {
    return any ? std::optional<double>(static_cast<double>(value)) : std::nullopt;
  };
  const LargestError rounding = errors.rounding_maximum.value_or(LargestError{0, 0, 0});
  std::vector<DoubleDouble> simulated = reference.simulated();
  const double exact_tv = total_variation(reference.native_weights(), softmax(simulated));
  const auto expect = [&](std::string_view column, std::optional<double> value, C closeness) {
    INFO(column << ": " << (value ? *value : -1) << " for " << row.text(column));
    CHECK(agrees_as_named(row, column, value, closeness));
  };
  expect("N_in_dtype", n, C::beside);
  expect("truncation_max_abs", to_double(truncation.maximum), C::beside);
  expect("truncation_rms", truncation.rms, C::rms);
  expect("rounding_max_abs", or_empty(rounding.error), C::beside);
  expect("rounding_max_i", or_empty(rounding.i), C::same);
  expect("rounding_max_j", or_empty(rounding.j), C::same);
  expect("rounding_rms", errors.rounding_rms, C::rms);
  expect("total_max_abs", errors.total_maximum, C::beside);
  expect("total_rms", errors.total_rms, C::rms);
  expect("visible_max_abs", errors.visible_maximum, C::beside);
  expect("order_lost", errors.order_lost, C::same);
  expect("weights_tv_exact", exact_tv, C::weights);
  expect("weights_tv_computed", measured.weights_total_variation, C::weights);
  expect("pairs", static_cast<double>(errors.pairs), C::same);
  expect("nonfinite_pairs", static_cast<double>(errors.nonfinite_pairs), C::same);
  const auto bound = rounding_bound(
      pipeline, {construction.theta.to_double(), amplitude(construction).to_double(), 1,
                 static_cast<double>(construction.head_dim), 0, static_cast<double>(context)});
  if (bound && any) CHECK(rounding.error <= *bound);
}

TEST_CASE("every cell of the reference error table is reproduced") {
  const CsvText file = read_csv_file(ROPELAB_TEST_DATA "/errors.csv");
  REQUIRE(file.records().size() == 72);
  for (std::size_t record = 0; record < file.records().size(); ++record) {
    const Row row{file, record};
    INFO("row " << record << ": context " << row.text("context") << " phase "
                << row.text("max_phase") << " head " << row.text("head") << "/" << row.text("heads")
                << " " << row.text("dtype") << " " << row.text("pipeline"));
    check_row(row);
  }
}

}  // namespace
}  // namespace ropelab
