// Errors in tokens, as a user sees them.
#include <algorithm>
#include <cmath>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/parse.hpp"

using ropelab::CsvText;
using ropelab::parse_rational;

namespace {

const std::vector<std::string> in_the_unit = {
    "truncation_max_abs", "truncation_rms", "rounding_max_abs", "rounding_rms",
    "rounding_bound",     "total_max_abs",  "total_rms",        "visible_max_abs"};

std::vector<std::string> with_unit(std::vector<std::string> arguments,
                                   const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

bool is_in_the_unit(const std::string& column) {
  return std::find(in_the_unit.begin(), in_the_unit.end(), column) != in_the_unit.end();
}

// Every error of the one table is, within `relative`, that of the other times the bias per token,
// and everything else but the pipeline cell is the same.
void check_tokens(const std::vector<std::string>& arguments, double per_token, double relative) {
  const CsvText logits = table_of(arguments);
  const CsvText tokens = table_of(with_unit(arguments, {"--unit", "tokens"}));
  REQUIRE(tokens.columns() == logits.columns());
  REQUIRE(tokens.records().size() == logits.records().size());
  for (std::size_t n = 0; n < logits.records().size(); ++n) {
    for (const std::string& column : logits.columns()) {
      CAPTURE(arguments, n, column);
      const std::string a = logits.at(n, column), b = tokens.at(n, column);
      if (column == "pipeline") {
        CHECK(b == a + ",unit=tokens");
      } else if (!is_in_the_unit(column) || a.empty()) {
        CHECK(b == a);
      } else {
        CHECK(std::abs(std::stod(b) * per_token - std::stod(a)) <= relative * std::stod(a));
      }
    }
  }
}

}  // namespace

TEST_CASE("the unit of tokens divides every error of a sweep by the slope, and nothing else") {
  check_tokens({"sweep", "context", "--context", "300,1K", "--dtype",
                "float8_e5m2,bfloat16,float16,float32", "--head", "1", "--split", "key=2^6"},
               std::sqrt(0.5), 1e-15);
  // A power of two changes no digit.
  check_tokens({"sweep", "phase", "--context", "500", "--dtype", "float32", "--head", "2",
                "--max-phase", "1e-3,0.1", "--content", "none,random:1:last"},
               0.5, 0);
  check_tokens({"sweep", "context", "--context", "1K", "--dtype", "float32", "--slope", "1/3",
                "--pairs", "sample:200", "--quiet", "--saturate"},
               1.0 / 3, 1e-15);
}

TEST_CASE("where the bias is added before the scaling, a token is its part of a logit") {
  check_tokens({"sweep", "context", "--context", "300", "--dtype", "float32", "--slope", "0.5",
                "--head-dim", "64", "--bias-scale", "before"},
               0.5 / 8, 0);
}

TEST_CASE("profile has tokens too, and so have the steps of a budget") {
  check_tokens({"profile", "--context", "300", "--dtype", "bfloat16", "--slope", "0.3"}, 0.3,
               1e-15);
  check_tokens(
      {"sweep", "context", "--context", "100", "--dtype", "bfloat16", "--slope", "0.3", "--budget"},
      0.3, 1e-12);
}

TEST_CASE("exact columns in tokens have the digits asked for") {
  const CsvText table = table_of({"sweep", "context", "--context", "1K", "--dtype", "float32",
                                  "--slope", "1/7", "--unit", "tokens", "--digits", "60"});
  const CsvText logits = table_of({"sweep", "context", "--context", "1K", "--dtype", "float32",
                                   "--slope", "1/7", "--digits", "60"});
  for (const char* column : {"truncation_max_abs", "truncation_rms"}) {
    CAPTURE(column);
    const ropelab::Rational tokens = parse_rational(table.at(0, column));
    const ropelab::Rational difference = tokens / 7 / parse_rational(logits.at(0, column)) - 1;
    CHECK(abs(difference) < ropelab::Rational(2, pow(ropelab::Integer(10), 59)));
  }
  CHECK(table.at(0, "truncation_max_rel") == logits.at(0, "truncation_max_rel"));
}

TEST_CASE("no other unit is known, and commands that tell no errors have none") {
  const Outcome outcome = run({"sweep", "context", "--unit", "bits"});
  CHECK(outcome.status == 2);
  CHECK(outcome.error == "ropelab: --unit: 'bits' is neither logits nor tokens\n");
  CHECK(run({"condition", "--unit", "tokens"}).status == 2);
}
