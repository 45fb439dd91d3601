// The claims as `ropelab reproduce` prints them.
#include <set>
#include <string>

#include "app/claims/claim.hpp"
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;
using ropelab::Real;
using ropelab::app::Verdict;

namespace {

// What is printed of one claim, or of "all".
CsvText table_of(const std::string& claim) {
  const Outcome outcome = run({"reproduce", "--quiet", "--claim", claim, "-o", "-"});
  REQUIRE(outcome.status == 0);
  return CsvText(outcome.output);
}

// The cell of the first row of this claim whose quantity begins so.
std::string cell_in(const CsvText& table, const std::string& claim, const std::string& quantity,
                    const std::string& column) {
  for (std::size_t row = 0; row < table.records().size(); ++row) {
    if (table.at(row, "claim") == claim && table.at(row, "quantity").rfind(quantity, 0) == 0) {
      return table.at(row, column);
    }
  }
  FAIL("no row " << claim << ": " << quantity);
  return {};
}

std::set<std::string> all_in(const CsvText& table, const std::string& column) {
  std::set<std::string> values;
  for (std::size_t row = 0; row < table.records().size(); ++row) {
    values.insert(table.at(row, column));
  }
  return values;
}

}  // namespace

// One test of the whole table, since recomputing it takes many seconds.
TEST_CASE("all sixteen claims are recomputed, with the figures of the 65K construction") {
  const CsvText table = table_of("all");
  CHECK(all_in(table, "claim") ==
        std::set<std::string>{"theta-65k", "N-65k", "slope-bloom", "small-angle", "slowest",
                              "smaller-base", "small-theta-unstable", "grid-only", "all-rotate",
                              "relative", "slopes-8", "slopes-code", "overhead", "early-token",
                              "reach", "explog"});
  CHECK(all_in(table, "verdict") ==
        std::set<std::string>{"agrees", "holds-only", "wrong", "measured"});
  const auto computed = [&](const char* claim, const char* quantity) {
    return cell_in(table, claim, quantity, "computed");
  };
  CHECK(computed("theta-65k", "theta, 65K read as 65536") == "1.52587890625e-06");
  CHECK(computed("N-65k", "N, m = 2^(-1/2), context 65536") == "3707276.0009473264");
  CHECK(computed("small-angle", "largest error, head 1") == "77.19277588666368");
  CHECK(computed("small-angle", "largest relative error").rfind("0.00166578", 0) == 0);

  // A small theta costs range, not precision.
  const char* claim = "small-theta-unstable";
  CHECK(computed(claim, "largest rounding error at max phase 0.1").rfind("0.01203", 0) == 0);
  CHECK(std::stod(computed(claim, "the least of them")) > 0.007);
  CHECK(std::stod(computed(claim, "the greatest of them")) < 0.014);
  const auto verdict = [&](const std::string& setting) {
    return cell_in(table, claim,
                   "largest rounding error at max phase 1e-6 over that at 1: " + setting,
                   "verdict");
  };
  CHECK(verdict("float16, ideal-trig") == "holds-only");
  CHECK(verdict("bfloat16, naive") == "wrong");
  CHECK(verdict("float32, ideal-trig, context 65536") == "wrong");
}

TEST_CASE("verdicts of claims that are simply right or wrong") {
  const auto verdict = [](const char* claim, const char* quantity) {
    return cell_in(table_of(claim), claim, quantity, "verdict");
  };
  CHECK(verdict("slope-bloom", "") == "agrees");
  CHECK(verdict("smaller-base", "") == "wrong");
  CHECK(verdict("slopes-8", "slope of head 8") == "agrees");
  CHECK(verdict("slopes-code", "slope of head 1") == "wrong");
  CHECK(verdict("early-token", "share of 2000") == "agrees");
  CHECK(verdict("relative", "largest change of a rotated score") == "agrees");
  CHECK(verdict("relative", "largest change of F at one distance") == "holds-only");
}

TEST_CASE("a folder gets the claims, the curves behind them and a manifest of each") {
  const TemporaryFolder folder;
  const std::string made = folder / "made/now";
  const Outcome outcome = run({"reproduce", "--quiet", "--claim", "reach,theta-65k", "-o", made});
  REQUIRE(outcome.status == 0);
  CHECK(folder.read("made/now/claims.csv") == outcome.output);
  CHECK(folder.read("made/now/claims.md").rfind("| claim", 0) == 0);
  CHECK_FALSE(folder.read("made/now/claims.manifest.json").empty());
  CHECK(folder.read("made/now/claim-reach.csv").rfind("heads,head,", 0) == 0);
  CHECK_FALSE(folder.read("made/now/claim-reach.manifest.json").empty());
}

TEST_CASE("some of the claims do not take the place of all of them") {
  const TemporaryFolder folder;
  const Outcome outcome = run_shell_in(folder, "ropelab reproduce --quiet --claim theta-65k");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, ContainsSubstring("theta-65k,"));
  CHECK(folder.names().empty());
}

TEST_CASE("what cannot be meant is refused and nothing written") {
  const TemporaryFolder folder;
  folder.write("file", "");
  CHECK(run({"reproduce", "--claim", "theta-65k", "-o", folder / "file"}).status == 2);
  CHECK(run({"reproduce", "--claim", "theta", "-o", folder / "new"}).status == 2);
  CHECK(run({"reproduce", "--claim", "theta-65k", "--digits", "5", "-o", folder / "new"}).status ==
        2);
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a claim agrees where the computed figure rounds to the one claimed") {
  using namespace ropelab::app;
  CHECK(stated_row({}, "3.7e6", Real(3749999)).verdict == Verdict::agrees);
  CHECK(stated_row({}, "3.7e6", Real(3750001)).verdict == Verdict::wrong);
  CHECK(reading_row({}, "3.7e6", Real(3750001)).verdict == Verdict::holds_only);
  CHECK(stated_row({}, "0.05", Real("0.0495")).verdict == Verdict::agrees);
  CHECK(about_row({}, 1, Real("1.09")).verdict == Verdict::agrees);
  CHECK(about_row({}, 1, Real("1.9")).verdict == Verdict::holds_only);
  CHECK(about_row({}, 1, Real("0.4")).verdict == Verdict::wrong);
  CHECK(less_than_one_row({}, Real(1)).verdict == Verdict::wrong);
  CHECK(growth_row({}, Real(2)).verdict == Verdict::agrees);
  CHECK(no_change_row({}, Real(0), Real(0)).verdict == Verdict::agrees);
}
