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

// What is printed of one claim of a set, or of "all".
CsvText reproduce_table(const std::string& claim, const std::string& set = "articles") {
  const Outcome outcome = run({"reproduce", "--quiet", "--set", set, "--claim", claim, "-o", "-"});
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
  const CsvText table = reproduce_table("all");
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
    return cell_in(reproduce_table(claim), claim, quantity, "verdict");
  };
  CHECK(verdict("slope-bloom", "") == "agrees");
  CHECK(verdict("smaller-base", "") == "wrong");
  CHECK(verdict("slopes-8", "slope of head 8") == "agrees");
  CHECK(verdict("slopes-code", "slope of head 1") == "wrong");
  CHECK(verdict("early-token", "share of 2000") == "agrees");
  CHECK(verdict("relative", "largest change of a rotated score") == "agrees");
  CHECK(verdict("relative", "largest change of F at one distance") == "holds-only");
}

TEST_CASE("all seven claims of the literature are recomputed, each with its verdicts") {
  const CsvText table = reproduce_table("all", "literature");
  CHECK(all_in(table, "claim") == std::set<std::string>{"fp16-table", "distinct", "blind",
                                                        "least-base", "d-extra", "shift",
                                                        "rank-2"});
  const auto is = [&](const std::string& claim, const std::string& quantity,
                      const std::string& computed, const std::string& verdict) {
    CAPTURE(claim, quantity);
    CHECK(cell_in(table, claim, quantity, "computed").rfind(computed, 0) == 0);
    CHECK(cell_in(table, claim, quantity, "verdict") == verdict);
  };
  is("fp16-table", "phase of position 1857", "1044.2678", "agrees");
  is("fp16-table", "the same in float16", "1045", "agrees");
  is("fp16-table", "the same, theta exact", "1044", "holds-only");
  is("fp16-table", "largest error of a cosine", "0.78187", "agrees");
  is("distinct", "positions of the first 2048 that bfloat16", "641", "agrees");
  is("distinct", "positions of the first 32768 that bfloat16", "1153", "agrees");
  is("blind", "share of weights that underflow at position 2048, subnormals flushed", "0.3656",
     "agrees");
  is("blind", "share of weights that underflow at position 2048, subnormals kept", "0.3547",
     "holds-only");
  is("d-extra", "critical dimension of Llama 2", "92", "agrees");
  is("shift", "the same shifted by 131072 over that: bfloat16, naive", "", "agrees");
  is("shift", "the same shifted by 131072 over that: bfloat16, fp32-rope", "1.", "holds-only");

  // Both published lists to two digits.
  const auto base = [](const std::string& context) {
    return "least base for context " + context + ", dimension 128 (";
  };
  is("least-base", base("1024") + "Men", "4293.4375692", "agrees");
  is("least-base", base("2048") + "Men", "11587.244303", "wrong");
  is("least-base", base("1048576") + "Men", "65374955.144", "wrong");
  for (const char* context : {"1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072",
                              "262144", "524288", "1048576"}) {
    is("least-base", base(context) + "Su", "", "agrees");
  }

  // Whole numbers up to 2^precision are exact, and a slope that is a power of two keeps them so.
  const std::string half = "float16, slope 1/2, float32 accumulation";
  is("rank-2", "first query position whose bias is not exact: " + half, "2049", "measured");
  is("rank-2", "largest error at context 2048, logits: " + half, "0", "agrees");
  is("rank-2", "largest error at context 8192, logits: " + half, "2", "holds-only");
  is("rank-2", "first query position whose bias is not exact: b" + half, "257", "measured");
  is("rank-2", "first query position whose bias is not exact: float16, slope 2^(-1/2)", "1",
     "measured");
  is("rank-2", "first key position that overflows, float16", "65520", "measured");
}

TEST_CASE("heads are blind from where e^-md is below half the least number of the format") {
  const CsvText table = reproduce_table("blind", "literature");
  // 134 ln 2, 25 ln 2 and 150 ln 2 over the slope 2^(-1/2), and the next whole number.
  const auto blind_from = [&](const std::string& dtype) {
    return cell_in(table, "blind", "distance from which head 1 of 16 is blind, " + dtype,
                   "computed");
  };
  CHECK(blind_from("bfloat16") == "132");
  CHECK(blind_from("float16") == "25");
  CHECK(blind_from("float32") == "148");
}

TEST_CASE("a set has its own files, and no claims of another one") {
  const TemporaryFolder folder;
  const Outcome outcome = run({"reproduce", "--quiet", "--set", "literature", "--claim",
                               "blind,distinct", "-o", folder / "made"});
  REQUIRE(outcome.status == 0);
  CHECK(folder.read("made/literature.csv") == outcome.output);
  CHECK(folder.read("made/literature.md").rfind("| claim", 0) == 0);
  CHECK_FALSE(folder.read("made/literature.manifest.json").empty());
  CHECK(folder.read("made/claim-blind.csv").rfind("heads,head,", 0) == 0);
  const Outcome stranger = run({"reproduce", "--set", "literature", "--claim", "reach"});
  CHECK(stranger.status == 2);
  CHECK_THAT(stranger.error, ContainsSubstring("--claim: 'reach' is not a claim of the set "
                                               "'literature'; there are fp16-table, distinct"));
  const Outcome unknown = run({"reproduce", "--set", "books"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.error, ContainsSubstring("--set: 'books' is no set of claims; there are "
                                              "articles, literature"));
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
  CHECK(growth_row({}, Real("1.9")).verdict == Verdict::wrong);
  CHECK(growth_reading_row({}, Real("1.9")).verdict == Verdict::holds_only);
  CHECK(no_change_row({}, Real(0), Real(0)).verdict == Verdict::agrees);
}
