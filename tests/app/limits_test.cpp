// ropelab limits, as a user runs it.
#include <algorithm>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

CsvText limits_table(const std::string& options) {
  CAPTURE(options);
  return table_of(run_shell("ropelab limits " + options));
}

// total_max_abs of the sweep at a context; empty if no pair is finite.
std::string total_error(const std::string& options, long long context) {
  const Outcome outcome =
      run_shell("ropelab sweep " + options + " --context " + std::to_string(context));
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  return CsvText(outcome.output).at(0, "total_max_abs");
}

}  // namespace

TEST_CASE("the sweep is within the tolerance at context_total, and not at the next context") {
  for (const std::string options :
       {"theta --theta 1e-4 --dtype float16", "theta --theta 1e-4 --dtype float32 --pipeline naive",
        "phase --max-phase 0.01 --dtype float16 --head 8",
        "theta --theta 1e-4 --dtype float32 --content random:1:first",
        "phase --max-phase 0.01 --dtype float32 --content random:2:halves"}) {
    CAPTURE(options);
    const CsvText limits =
        limits_table(options.substr(options.find("--")) + " --context 4K --tolerance 0.03");
    const long long context = std::stoll(limits.at(0, "context_total"));
    CHECK(std::stod(total_error(options, context)) <= 0.03);
    CHECK(std::stod(total_error(options, context + 1)) > 0.03);
  }
}

TEST_CASE("limits are those of the context, dtype by dtype and pipeline by pipeline") {
  const CsvText table = limits_table(
      "--theta 1e-4 --context 100 --dtype float32,float8_e4m3fn --pipeline naive,fused");
  REQUIRE(table.records().size() == 4);
  CHECK(table.columns() == std::vector<std::string>{"dtype", "pipeline", "first_merged_position",
                                                    "first_overflow_position", "overflow_what",
                                                    "context_total", "context_visible"});
  CHECK(table.at(0, "first_merged_position").empty());
  CHECK(table.at(0, "first_overflow_position").empty());
  CHECK(table.at(0, "overflow_what").empty());
  CHECK(table.at(0, "context_total") == "100");
  CHECK(table.at(1, "pipeline") == "fused");
  CHECK(table.at(2, "first_overflow_position") == "0");
  CHECK(table.at(2, "overflow_what") == "N");
  CHECK(table.at(3, "overflow_what") == "component");
  CHECK(table.at(3, "context_total") == "0");
}

TEST_CASE("limits among content are named in the pipeline cell") {
  const CsvText table =
      limits_table("--theta 1e-3 --context 200 --dtype bfloat16 --content none,random:1:first");
  REQUIRE(table.records().size() == 2);
  CHECK(table.at(0, "pipeline") == "ideal-trig");
  CHECK(table.at(1, "pipeline") == "ideal-trig,content=random:1:first");
  CHECK(!table.at(1, "first_merged_position").empty());
  // Added after the pair's products, content is rounded as coarsely as they are large.
  CHECK(std::stoll(table.at(1, "context_total")) <= std::stoll(table.at(0, "context_total")));
}

TEST_CASE("a saturating format has limits but no overflow") {
  const CsvText table = limits_table("--theta 1e-3 --context 100 --dtype float8_e4m3fn --saturate");
  CHECK(table.at(0, "overflow_what").empty());
  CHECK(!table.at(0, "first_merged_position").empty());
  CHECK(table.at(0, "pipeline") == "ideal-trig,saturate");
}

TEST_CASE("bad input to limits is one sentence") {
  for (const auto& [line, part] : std::vector<std::pair<std::string, std::string>>{
           {"--tolerance 0", "--tolerance: '0'"},
           {"--context 0", "--context: '0'"},
           {"--context 1K,2K", "--context: it gives '1024' and '2048'"},
           {"--max-phase 0.1,0.2", "--max-phase: it gives '0.1' and '0.2'"},
           {"--theta 1e-6,1e-5", "--theta: it gives '1e-06' and '1e-05'"},
           {"--base 1e4,1e5", "--base: it gives '10000' and '100000'"},
           {"--base 1e4 --pair 3,4", "--pair: it gives '3' and '4'"},
           {"--head all", "--head: it gives"},
           {"--slope 1/2,1/4", "--slope: it gives '0.5' and '0.25'"},
           {"--head-dim 64,128", "--head-dim: it gives '64' and '128'"}}) {
    const Outcome outcome = run_shell("ropelab limits " + line);
    CAPTURE(line, outcome.error);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    CHECK_THAT(outcome.error, ContainsSubstring(part));
  }
}
