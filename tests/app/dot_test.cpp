// ropelab dot, as a user runs it.
#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;
using ropelab::parse_rational;
using ropelab::read_csv_file;

namespace {

const std::string reference_path = ROPELAB_TEST_DATA "/rotated_dot.csv";

std::vector<std::string> product(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"dot", "--q", "1 2 3 4", "--k", "1 1 1 1",
                                     "--i", "3",   "--j",     "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string dot_refusal(const TemporaryFolder& folder, const std::string& csv) {
  folder.write("vectors.csv", csv);
  const Outcome outcome = run({"dot", "--input", folder / "vectors.csv", "-o", folder / "x.csv"});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(folder.names() == std::vector<std::string>{"vectors.csv"});
  return outcome.error.substr(outcome.error.find("': ") + 3);
}

}  // namespace

TEST_CASE("dot --input agrees with 80-digit arithmetic in all 40 digits") {
  const CsvText reference = read_csv_file(reference_path);
  const CsvText table = table_of({"dot", "--input", reference_path, "--dtype", "float32"});
  REQUIRE(table.records().size() == reference.records().size());
  for (std::size_t n = 0; n < reference.records().size(); ++n) {
    CAPTURE(n);
    CHECK(table.at(n, "row") == std::to_string(n + 1));
    CHECK(table.at(n, "rope_dim") == reference.at(n, "rope_dim"));
    CHECK(parse_rational(table.at(n, "exact")) == parse_rational(reference.at(n, "dot")));
  }
}

TEST_CASE("dot never prints an error above its bound") {
  const CsvText table = table_of({"dot", "--input", reference_path, "--dtype", "float16,float32",
                                  "--pipeline", "naive,fused", "--layout", "half"});
  CHECK(table.records().size() == 60 * 4);
  int bounded = 0;
  for (std::size_t n = 0; n < table.records().size(); ++n) {
    if (table.at(n, "bound").empty()) continue;
    ++bounded;
    REQUIRE(parse_rational(table.at(n, "absolute_error")) <= parse_rational(table.at(n, "bound")));
  }
  CHECK(bounded > 150);
}

TEST_CASE("dot tells layouts apart, and says which one it took") {
  const CsvText half = table_of(product({"--layout", "half", "--dtype", "float64"}));
  CHECK(half.at(0, "exact") == "2.475620506772867572960880305812364103945");
  CHECK(half.at(0, "pipeline") == "ideal-trig,layout=half");
  const CsvText interleaved = table_of(product({"--dtype", "float64"}));
  CHECK(interleaved.at(0, "exact") == "4.820863443505602513133654286755320914711");
  CHECK(interleaved.at(0, "pipeline") == "ideal-trig");
}

TEST_CASE("dot takes components in hexadecimal, negative positions and lists of them") {
  const CsvText table = table_of({"dot", "--q=-0x1p-1 .5", "--k", "1/3 2", "--i=-3,4", "--j", "-1",
                                  "--base", "10,100", "--dtype", "float32"});
  REQUIRE(table.records().size() == 4);
  CHECK(table.at(0, "i") == "-3");
  CHECK(table.at(1, "i") == "4");
  CHECK(table.at(2, "base") == "100");
  CHECK(table.at(3, "row") == "4");
}

TEST_CASE("dot leaves empty what does not exist") {
  const CsvText zero = table_of({"dot", "--q", "1 0", "--k", "0 0", "--i", "3", "--j", "1"});
  CHECK(zero.at(0, "exact") == "0");
  CHECK(zero.at(0, "absolute_error") == "0");
  CHECK(zero.at(0, "relative_error").empty());
  const CsvText overflow = table_of(
      {"dot", "--q", "300 0", "--k", "300 0", "--i", "0", "--j", "0", "--dtype", "float16"});
  CHECK(overflow.at(0, "value") == "inf");
  CHECK(overflow.at(0, "hex") == "inf");
  CHECK(overflow.at(0, "absolute_error").empty());
  CHECK(overflow.at(0, "ulp_error").empty());
  CHECK(overflow.at(0, "bound").empty());
}

TEST_CASE("dot refuses a broken input file with the line, and writes nothing") {
  const TemporaryFolder folder;
  const std::string heading = "rope_dim,base,i,j,q,k\n";
  CHECK(dot_refusal(folder, heading + "2,10,1,0,1 2,3 4\n2,10,1,0,1 2,3 x\n")
            .find("line 3: k: 'x'") == 0);
  CHECK(dot_refusal(folder, heading + "3,10,1,0,1 2 3,1 2 3\n").find("line 2: rope_dim: ") == 0);
  CHECK(dot_refusal(folder, heading + "2,10,1,0,1 2 3,1 2\n") ==
        "line 2: q: there are 3 components where rope_dim is 2\n");
  CHECK(dot_refusal(folder, heading + "2,0,1,0,1 2,1 2\n").find("line 2: base: '0'") == 0);
  CHECK(dot_refusal(folder, heading + "2,10,1,0,\"1 2,1 2\n") ==
        "line 2: the quote is not closed\n");
  CHECK(dot_refusal(folder, heading + "2,10,1,0\n") ==
        "line 2: there are 4 fields where the heading has 6\n");
  CHECK(dot_refusal(folder, "rope_dim,base,i,j,q\n") ==
        "line 1: there is no column 'k' among rope_dim, base, i, j, q\n");
  CHECK(dot_refusal(folder, "") == "line 1: there is no heading\n");
}

TEST_CASE("dot refuses options that cannot be meant in one sentence") {
  struct Case {
    std::vector<std::string> arguments;
    std::string error;
  };
  const Case cases[] = {
      {{"dot", "--q", "1 2"},
       "ropelab: --k: is missing; give --q, --k, --i and --j, or --input, or --random with --i and "
       "--j\n"},
      {{"dot", "--q", "1 2", "--k", "1 2 3", "--i", "1", "--j", "0"},
       "ropelab: --k: there are 3 components where --q has 2\n"},
      {{"dot", "--q", "0,5 1", "--k", "1 2", "--i", "1", "--j", "0"},
       "ropelab: --q: '0,5 1' has a comma; write components with spaces between, and 0.5\n"},
      {product({"--rope-dim", "8"}),
       "ropelab: --rope-dim: '8' does not fit; there are 4 components\n"},
      {product({"--layout", "Half"}),
       "ropelab: --layout: 'Half' is no layout; there are interleaved and half\n"},
  };
  for (const auto& [arguments, error] : cases) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.error == error);
    CHECK(outcome.output.empty());
  }
}

TEST_CASE("dot --random says how far random products depend on more than i - j") {
  const Outcome outcome =
      run({"dot", "--random", "20", "--i", "9", "--j", "2", "--base", "1e4,5e5", "--rope-dim",
           "8,16", "--offset", "0,1K,100K", "--dtype", "bfloat16,float32", "--pipeline", "naive"});
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  const ropelab::CsvText table(outcome.output);
  REQUIRE(table.records().size() == 24);
  const auto number = [&](std::size_t record, const char* column) {
    return std::stod(table.at(record, column));
  };
  for (std::size_t n = 0; n < 24; n += 3) {
    CHECK(table.at(n, "offset") == "0");
    CHECK(number(n, "shift_max") == 0);
    CHECK(number(n, "error_max") > 0);
    CHECK(number(n + 2, "shift_max") >= number(n + 2, "shift_rms"));
    CHECK(number(n + 2, "shift_rms") > number(n, "error_rms"));
  }
  CHECK(table.at(23, "rope_dim") == "16");
  CHECK(table.at(23, "base") == "500000");
  CHECK(table.at(23, "dtype") == "float32");
  CHECK(run({"dot", "--random", "20", "--i", "9", "--j", "2", "--seed", "2"}).output !=
        run({"dot", "--random", "20", "--i", "9", "--j", "2"}).output);
}

TEST_CASE("dot --random refuses what cannot be meant in one sentence") {
  const auto error_of = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"dot", "--random"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.error;
  };
  CHECK(error_of({"5", "--i", "1"}) ==
        "ropelab: --j: is missing; give --i and --j with --random\n");
  CHECK(error_of({"5", "--i", "1", "--j", "0", "--rope-dim", "7"}) ==
        "ropelab: --rope-dim: '7' is odd; components are rotated in pairs, so write an even whole "
        "number\n");
  CHECK(error_of({"5", "--i", "1", "--j", "0", "--offset", "2^53"}) ==
        "ropelab: --offset: '9007199254740992' shifts a position to 9007199254740993; within 2^53 "
        "would be right\n");
  error_of({"0", "--i", "1", "--j", "0"});
  error_of({"5", "--i", "1", "--j", "0", "--q", "1 2"});
}
