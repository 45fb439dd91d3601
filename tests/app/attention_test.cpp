// ropelab attention, as a user runs it.
#include <algorithm>
#include <cmath>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

CsvText attention_table(const std::string& line) {
  CAPTURE(line);
  return table_of(run_shell("ropelab attention --quiet " + line));
}

double attention_number(const CsvText& table, std::size_t record, const char* column) {
  return std::stod(table.at(record, column));
}

void check_attention_refused(const Outcome& outcome, const std::string& sentence) {
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.error == "ropelab: " + sentence + "\n");
}

}  // namespace

TEST_CASE("attention prints a row for each setting and bias") {
  const CsvText table =
      attention_table("--context 20,30 --head 1,2 --dtype float16,float32 --pipeline naive,fused");
  CHECK(table.columns() == std::vector<std::string>{"context", "max_phase", "head_dim", "heads",
                                                    "head", "slope", "dtype", "pipeline", "bias",
                                                    "tv", "kl", "max_weight_change", "entropy",
                                                    "max_weight", "variance",
                                                    "half_weight_distance", "status"});
  REQUIRE(table.records().size() == 2 * 2 * 2 * 2 * 3);
  const char* biases[] = {"exact", "native", "pair"};
  for (std::size_t n = 0; n < table.records().size(); ++n) {
    CHECK(table.at(n, "bias") == biases[n % 3]);
    CHECK(table.at(n, "pipeline") == (n / 3 % 2 == 0 ? "naive" : "fused"));
    CHECK(table.at(n, "dtype") == (n / 6 % 2 == 0 ? "float16" : "float32"));
    CHECK(table.at(n, "head") == (n / 12 % 2 == 0 ? "1" : "2"));
    CHECK(table.at(n, "context") == (n / 24 % 2 == 0 ? "20" : "30"));
    CHECK(table.at(n, "status") == "ok");
    if (n % 3 != 0) continue;
    for (const char* change : {"tv", "kl", "max_weight_change"}) CHECK(table.at(n, change) == "0");
    for (const char* figure : {"entropy", "max_weight", "variance", "half_weight_distance"}) {
      CHECK(table.at(n, figure) == table.at(n % 24 < 12 ? n / 24 * 24 : n / 24 * 24 + 12, figure));
    }
  }
}

TEST_CASE("without content the last query's total variation is that of the sweep") {
  const std::string setting =
      " --context 500 --head 3 --dtype bfloat16 --split key=2^3"
      " --pipeline fused --bias-scale before --first-position 77";
  const CsvText attention = attention_table("--queries last --content-sd 0" + setting);
  const CsvText sweep = table_of(run_shell("ropelab sweep phase --max-phase 0.1" + setting));
  CHECK(attention.at(2, "tv") == sweep.at(0, "weights_tv_computed"));
  const CsvText among = attention_table("--queries last --content random:5:halves" + setting);
  const CsvText sweep_among = table_of(
      run_shell("ropelab sweep phase --max-phase 0.1 --content random:5:halves" + setting));
  CHECK(among.at(2, "tv") == sweep_among.at(0, "weights_tv_computed"));
  CHECK(among.at(2, "pipeline") == sweep_among.at(0, "pipeline"));
}

TEST_CASE("the mean over all queries is that of each") {
  const CsvText all =
      attention_table("--context 5 --queries all --dtype float16 --bias pair,native-key");
  double kl = 0, largest = 0, entropy = 0;
  // With theta fixed, the last query of a shorter context is the same query.
  for (const char* context : {"1", "2", "3", "4", "5"}) {
    const CsvText last = attention_table(std::string("--theta 0.1/5 --queries last --dtype float16 "
                                                     "--bias pair,native-key --context ") +
                                         context);
    kl += attention_number(last, 0, "kl") / 5;
    entropy += attention_number(last, 1, "entropy") / 5;
    largest = std::max(largest, attention_number(last, 1, "max_weight_change"));
  }
  CHECK(attention_number(all, 0, "kl") == Approx(kl).epsilon(1e-14));
  CHECK(attention_number(all, 1, "entropy") == Approx(entropy).epsilon(1e-14));
  CHECK(attention_number(all, 1, "max_weight_change") == largest);
}

TEST_CASE("what content there is stands in the pipeline cell, unless it is the default") {
  const CsvText deviations =
      attention_table("--context 9 --dtype float32 --content-sd 0,1,2.5 --bias pair");
  CHECK(deviations.at(0, "pipeline") == "ideal-trig,content-sd=0");
  CHECK(deviations.at(1, "pipeline") == "ideal-trig");
  CHECK(deviations.at(2, "pipeline") == "ideal-trig,content-sd=2.5");
  const CsvText contents =
      attention_table("--context 9 --dtype float32 --content none,random:1:first --bias pair");
  CHECK(contents.at(0, "pipeline") == "ideal-trig,content-sd=0");
  CHECK(contents.at(0, "entropy") == deviations.at(0, "entropy"));
  CHECK(contents.at(1, "pipeline") == "ideal-trig,content=random:1:first");
}

TEST_CASE("scores of content may stand in a file") {
  const TemporaryFolder folder;
  folder.write("s.csv", "query,head,key,score\n2,x,1,-1\n2,x,0,1/2\n2,x,2,0x1p1\n0,x,0,7\n");
  const Outcome outcome = run_shell_in(
      folder, "ropelab attention --context 3 --slope 1 --dtype float64 --content-file s.csv");
  CHECK(outcome.error.empty());
  const CsvText table = table_of(outcome);
  CHECK(table.at(0, "pipeline") == "ideal-trig,content-file=s.csv");
  // Weights of e^2, e^(-1-1), e^(0.5-2) at distances 0, 1, 2, and of a single key.
  CHECK(attention_number(table, 0, "max_weight") ==
        Approx((1 + 1 / (1 + std::exp(-4) + std::exp(-3.5))) / 2).epsilon(1e-15));
  CHECK(attention_number(table, 0, "half_weight_distance") == 0);
}

TEST_CASE("scores that are not finite are named and have no figures") {
  const CsvText table = attention_table("--context 4K --queries 2 --dtype float16,float8_e4m3fn");
  const auto check_row = [&](std::size_t row, const char* status) {
    CAPTURE(row);
    CHECK(table.at(row, "status") == status);
    for (const char* figure : {"tv", "kl", "max_weight_change", "entropy", "max_weight", "variance",
                               "half_weight_distance"}) {
      CHECK(table.at(row, figure).empty() == (std::string(status) == "overflow"));
    }
  };
  check_row(0, "ok");
  check_row(1, "ok");
  check_row(2, "overflow");  // N
  check_row(3, "ok");
  check_row(4, "overflow");  // m d > 448
  check_row(5, "overflow");
  const CsvText wrapped = attention_table("--context 100 --max-phase 4 --dtype float32");
  CHECK(wrapped.at(1, "status") == "ok");
  CHECK(wrapped.at(2, "status") == "wraps");
  CHECK(attention_number(wrapped, 2, "tv") > 0.1);
}

TEST_CASE("attention prints the same bytes whatever the threads and the instruction set") {
  const std::string line =
      "ropelab attention --quiet --context 300 --head 1,9 --dtype float16,bfloat16 --pipeline "
      "naive,fused --bias exact,native,native-key,pair --content random:2 --head-dim 8 ";
  const std::string expected = run_shell(line + "--threads 1").output;
  CHECK(expected.size() > 1000);
  CHECK(run_shell(line + "--threads 3").output == expected);
  CHECK(run_shell(line + "--threads 2 --instruction-set scalar").output == expected);
}

TEST_CASE("the seed draws scores and queries, and a sample is announced") {
  const std::string line = "ropelab attention --context 200 --dtype float32 --queries 5";
  const Outcome first = run_shell(line), other = run_shell(line + " --seed 2");
  CHECK(first.output != other.output);
  CHECK(first.error ==
        "ropelab: context 200: a sample of 5 queries (seed 1) stands for all; "
        "--queries all looks at every one\n");
  CHECK(run_shell(line).output == first.output);
  CHECK(run_shell("ropelab attention --context 5 --dtype float32").error.empty());
  // Without random scores only the queries are drawn.
  const std::string bare = " --content-sd 0 --queries last";
  CHECK(run_shell("ropelab attention --context 50 --seed 1" + bare).output ==
        run_shell("ropelab attention --context 50 --seed 2" + bare).output);
}

TEST_CASE("bad input to attention is one sentence") {
  check_attention_refused(
      run_shell("ropelab attention --content-sd -1"),
      "--content-sd: '-1' is no standard deviation of scores; a number from 0 to "
      "1000000000 would be right");
  check_attention_refused(
      run_shell("ropelab attention --queries some"),
      "--queries: 'some' is neither all nor last nor a number of queries, as in 64");
  check_attention_refused(run_shell("ropelab attention --bias pairs"),
                          "--bias: 'pairs' is no bias; there are exact, native, native-key, pair");
  for (const char* two : {"--content-sd 1 --content none", "--content-file x.csv --content none",
                          "--content-file x.csv --queries 3", "--content-sd 1 --content-file x"}) {
    CAPTURE(two);
    const Outcome outcome = run_shell(std::string("ropelab attention ") + two);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.error, ContainsSubstring("excludes"));
  }
}

TEST_CASE("a bad file of scores is refused with its line") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    folder.write("s.csv", text);
    const Outcome outcome =
        run_shell_in(folder, "ropelab attention --context 9,8 --content-file s.csv");
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.error;
  };
  const std::string heading = "query,key,score\n", begin = "ropelab: --content-file: 's.csv'";
  CHECK(refusal(heading + "8,0,1\n") ==
        begin + ": line 2: query: '8' is out of range; write a whole number from 0 to 7\n");
  CHECK(refusal(heading + "0,0,1\n2,3,1\n") ==
        begin + ": line 3: key: '3' is out of range; write a whole number from 0 to 2\n");
  CHECK_THAT(refusal(heading + "0,0,nan\n"),
             ContainsSubstring(begin + ": line 2: score: 'nan' is not a number"));
  CHECK(refusal(heading + "1,0,1\n1,0,2\n") ==
        begin + ": line 3: score: query 1 has a second one for key 0; one would be right\n");
  CHECK(refusal(heading + "0,0,1\n2,0,1\n2,2,1\n") ==
        begin +
            ": line 3: score: query 2 has none for key 1; one for each key from 0 to 2 would "
            "be right\n");
  CHECK_THAT(refusal("query,key\n0,0\n"),
             ContainsSubstring(begin + ": line 1: there is no column"));
  CHECK(refusal(heading) ==
        begin + " has no scores; a line for each query and key would be right\n");
}
