// ropelab fit, as a user runs it.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

CsvText table_in(const TemporaryFolder& folder, const std::string& options) {
  CAPTURE(options);
  return table_of(run_shell_in(folder, "ropelab fit " + options));
}

double fit_number(const CsvText& table, std::size_t row, const std::string& column) {
  return std::stod(table.at(row, column));
}

// T5's 32 buckets of two heads, all of one value for the first.
std::string two_heads() {
  std::string text;
  for (int n = 0; n < 32; ++n) text += "2.5, " + std::to_string(-n) + "\n";
  return text;
}

TEST_CASE("fit has the columns of design, and the target behind the context") {
  const TemporaryFolder folder;
  const std::string options = " --head 2 --context 300 --dtype float32 --pipeline fused";
  const CsvText fit = table_in(folder, "--target alibi" + options);
  const CsvText design = table_of(run_shell("ropelab design" + options));
  auto columns = design.columns();
  columns.insert(columns.begin() + 1, "target");
  CHECK(fit.columns() == columns);
  // The same search finds the same design.
  for (const std::string& column : design.columns()) {
    INFO(column);
    CHECK(fit.at(0, column) == design.at(0, column));
  }
  CHECK(fit.at(0, "target") == "alibi");
}

TEST_CASE("fit goes over contexts, targets, heads, formats and numbers of pairs, in that order") {
  const TemporaryFolder folder;
  const CsvText table = table_in(folder,
                                 "--target kerple-log,sandwich --heads 4 --head 1,4 --context "
                                 "50,60 --dtype bfloat16,float32 --pipeline fused --max-pairs 1,2");
  REQUIRE(table.records().size() == 2 * 3 * 2 * 2);
  std::size_t row = 0;
  for (const char* context : {"50", "60"}) {
    for (const char* head : {"", "1", "4"}) {
      for (const char* dtype : {"bfloat16", "float32"}) {
        for (const char* pairs : {"1", "2"}) {
          CHECK(table.at(row, "context") == context);
          CHECK(table.at(row, "head") == head);
          CHECK(table.at(row, "heads") == (*head == 0 ? "" : "4"));
          CHECK(table.at(row, "target") ==
                (*head == 0 ? "kerple-log:r1=1:r2=1" : "sandwich:base=10000:dim=128"));
          CHECK(table.at(row, "dtype") == dtype);
          CHECK(table.at(row, "pipeline") == std::string("fused,max-pairs=") + pairs);
          CHECK(table.at(row, "slope").empty());
          CHECK(table.at(row, "order_lost").empty() == (*head != 0));
          ++row;
        }
      }
    }
  }
}

TEST_CASE("the values of T5's buckets are those of the head") {
  const TemporaryFolder folder;
  folder.write("values.csv", two_heads());
  const CsvText table =
      table_in(folder,
               "--target t5 --values values.csv --head all --context 200 --dtype float32 "
               "--pipeline fused");
  REQUIRE(table.records().size() == 2);
  CHECK(table.at(0, "heads") == "2");
  CHECK(table.at(0, "total_max_abs") == "0");
  CHECK(table.at(0, "offset") == "-2.5");
  CHECK(table.at(0, "reason") == "exact: every score is the bias itself");
  CHECK(table.at(1, "head") == "2");
  CHECK(fit_number(table, 1, "total_max_abs") > 0.5);
  CHECK(table.at(1, "target") == "t5:values=values.csv");
}

TEST_CASE("a bias of both sides has twice the pairs, less the diagonal") {
  const TemporaryFolder folder;
  folder.write("even.txt", "0\n-1\n-1.5\n\n-7/4\n");
  folder.write("both.csv", "d,value\n-1,2\n0,0\n1,-1\n2,1\n-2,0.5\n");
  const std::string options = " --dtype float32 --pipeline fused --bidirectional";
  const CsvText even = table_in(folder, "--target table:even.txt --context 4" + options);
  CHECK(even.at(0, "pairs") == "16");
  CHECK(even.at(0, "target") == "table:even.txt:bidirectional");
  const CsvText both = table_in(folder, "--target table:both.csv --context 3" + options);
  CHECK(both.at(0, "pairs") == "9");
  // Five numbers, four waves and an offset.
  CHECK(fit_number(both, 0, "truncation_max_abs") < 1e-5);
  const CsvText window =
      table_in(folder, "--target table:both.csv --context 100 --window 3" + options);
  CHECK(window.at(0, "pairs") == std::to_string(100 + 2 * (99 + 98)));
  CHECK(window.at(0, "pipeline") == "fused,window=3");
}

TEST_CASE("on its own grid a sinusoidal bias leaves what rounding leaves") {
  const TemporaryFolder folder;
  const CsvText table =
      table_in(folder,
               "--target sinusoidal --embedding-dim 16 --frequencies grid --base 1e4 --rope-dim 16 "
               "--max-pairs 8 --context 200 --dtype float64 --pipeline ideal-trig");
  CHECK(table.at(0, "method") == "grid");
  CHECK(fit_number(table, 0, "truncation_max_abs") < 1e-13);
  CHECK(fit_number(table, 0, "total_max_abs") < 1e-13);
  CHECK(table.at(0, "holds") == "yes");
}

TEST_CASE("the model file of fit names the target") {
  const TemporaryFolder folder;
  const CsvText table =
      table_in(folder,
               "--target kerple-power --r2 1/2 --context 100 --dtype bfloat16 --pipeline fused "
               "--max-pairs 2 --model-file model.json");
  const auto head = nlohmann::json::parse(folder.read("model.json")).at("heads").at(0);
  CHECK(head.at("target") == "kerple-power:r1=1:r2=0.5");
  CHECK_FALSE(head.contains("slope"));
  CHECK(head.at("offset") == fit_number(table, 0, "offset"));
  CHECK(head.at("inverse_frequencies").size() == std::stoul(table.at(0, "rotated_pairs")));
}

TEST_CASE("fit refuses what cannot be meant") {
  const TemporaryFolder folder;
  folder.write("values.csv", two_heads());
  folder.write("short.txt", "0\n-1\n");
  folder.write("ragged.csv", "1,2\n1\n");
  folder.write("word.txt", "0\n-1\nfar\n");
  folder.write("gap.csv", "0,0\n2,1\n");
  folder.write("twice.csv", "0,0\n1,1\n1,2\n");
  folder.write("behind.csv", "0,0\n1,1\n");
  folder.write("sign.csv", "0,0\n-1,1\n");
  folder.write("empty.txt", "\n");
  folder.write("mixed.txt", "0\n1,2\n");
  for (const auto& [options, naming] : std::vector<std::pair<std::string, std::string>>{
           {"--target sine", "'sine' is none of alibi, t5"},
           {"--target kerple-log --r1 0", "--r1"},
           {"--target kerple-power --r2 3", "--r2: r2 of kerple-power must be at most 2"},
           {"--target alibi --r1 2", "--r1: --target 'alibi' does not take it; kerple-log or"},
           {"--target kerple-log --head 2", "--head"},
           {"--target sandwich --slope 1/2", "--slope"},
           {"--target alibi,sandwich --slope 1/2", "--slope: sandwich has heads"},
           {"--target sinusoidal --embedding-dim 7", "--embedding-dim"},
           {"--target t5", "--values"},
           {"--target t5 --values none.csv", "none.csv"},
           {"--target t5 --values ragged.csv", "'ragged.csv': line 2"},
           {"--target t5 --values values.csv --buckets 16", "it has 32 lines of values; 16"},
           {"--target t5 --values values.csv --buckets 7", "--buckets"},
           {"--target t5 --values values.csv --heads 3",
            "'values.csv' has columns for 2 heads; 2 would"},
           {"--target t5 --values values.csv --head 3",
            "a range, or all ('values.csv' has columns for 2 heads)"},
           {"--target t5 --values short.txt --buckets 2 --heads 4 --head 4",
            "--heads: '4' is not what the file has: 'short.txt' has one column for 1 head; 1 "
            "would"},
           {"--target t5 --values short.txt --buckets 2 --head 4",
            "--head: '4' is not 1, the only head there is; 1 or all would be right ('short.txt'"},
           {"--target t5 --values ''", "--values: '' is no name"},
           {"--target table:none.txt", "No such file"},
           {"--target table:", "--target: 'table:' names no file; table:FILE would be right"},
           {"--base 1e5", "--base: no design here is on a model's grid; beside it --frequencies"},
           {"--scaling linear:factor=2", "--scaling: no design here"},
           {"-o t.json --model-file t.json", "--model-file: 't.json' is a file that -o writes"},
           {"--model-file values.csv --target t5 --values values.csv", "does not end in .json"},
           {"--model-file none/m.json", "--model-file: 'none/m.json' cannot be written"},
           {"--target table:word.txt --context 3", "'word.txt': line 3: 'far' is not a number"},
           {"--target table:gap.csv --context 2", "distance 1 is missing"},
           {"--target table:twice.csv --context 2", "line 3: distance 1 is there twice"},
           {"--target table:behind.csv --context 2 --bidirectional", "has 1 distances"},
           {"--target table:sign.csv --context 2", "line 2: '-1'"},
           {"--target table:empty.txt --context 2", "it holds no numbers"},
           {"--target table:mixed.txt --context 2", "line 2"},
           {"--target table:behind.csv --context 3", "has 2 distances where 3 are seen"},
           {"--frequencies dyadic", "--frequencies"},
           {"--max-pairs 65", "--max-pairs"},
           {"--context 1M", "--context"}}) {
    const auto result = run_shell_in(folder, "ropelab fit --dtype float32 " + options);
    INFO(options << ": " << result.error);
    CHECK(result.status == 2);
    CHECK(result.output.empty());
    CHECK(result.error.find(naming) != std::string::npos);
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  }
}

}  // namespace
