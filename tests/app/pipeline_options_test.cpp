// What --saturate and ulps mean in a table, as a user sees it.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

// The trace of position 10^5 in a float32 pipeline.
CsvText trace_with(const std::string& pipeline) {
  return table_of({"trace", "--position", "100000", "--dtype", "float32", "--saturate",
                   "--pipeline", pipeline});
}

}  // namespace

TEST_CASE("the option --saturate reaches 8-bit steps whatever the dtype, and is named only there") {
  const CsvText narrow = trace_with("naive,position=float8_e5m2");
  CHECK(narrow.at(0, "step") == "position");
  CHECK(narrow.at(0, "value") == "57344");
  CHECK(narrow.at(0, "pipeline") == "naive,position=float8_e5m2,saturate");
  const CsvText wide = trace_with("naive");
  CHECK(wide.at(0, "value") == "100000");
  CHECK(wide.at(0, "pipeline") == "naive");
}

TEST_CASE("dot names --saturate where the dtype or a step clamps") {
  const std::vector<std::string> line{"dot",
                                      "--q",
                                      "1 2",
                                      "--k",
                                      "1 1",
                                      "--i",
                                      "3",
                                      "--j",
                                      "1",
                                      "--dtype",
                                      "float32,float8_e5m2",
                                      "--saturate"};
  const CsvText table = table_of(line);
  CHECK(table.at(0, "pipeline") == "ideal-trig");
  CHECK(table.at(1, "pipeline") == "ideal-trig,saturate");
}

TEST_CASE("trace counts ulps at the exact value, not at the double nearest to it") {
  // cos(10^-10) = 1 - 5e-21 lies in the binade below 1, where the spacing is 2^-24.
  const CsvText table =
      table_of({"trace", "--position", "1", "--theta", "1e-10", "--dtype", "float32"});
  REQUIRE(table.at(3, "step") == "cos");
  CHECK(std::stod(table.at(3, "ulp_error")) == Approx(5e-21 * 0x1p24).epsilon(1e-9));
}

TEST_CASE("slopes prints a reach of any length") {
  const CsvText table = table_of({"slopes", "--slope", "1e-18,1e-300"});
  CHECK(table.at(0, "visible_reach") == "11090354888959124950");
  CHECK(table.at(1, "visible_reach").size() == 302);
}
