// Ctrl-C: how soon a run ends, and what is kept of it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace {

// Takes many seconds.
const std::vector<std::string> long_run{"slopes", "--heads", "65536,65535"};

Outcome interrupted_run(const std::vector<std::string>& arguments, const std::string& folder,
                        double after_seconds) {
  Circumstances interrupted;
  interrupted.folder = folder;
  interrupted.interrupt_after_seconds = after_seconds;
  return run(arguments, interrupted);
}

Outcome run_interrupted_after_rows(const std::vector<std::string>& arguments,
                                   const std::string& folder) {
  Circumstances there;
  there.folder = folder;
  return run_interrupted_when(arguments, there, [](const Outcome& outcome) {
    return outcome.error.find(" of 131071 rows are ") != std::string::npos &&
           outcome.error.find("; 0 of ") == std::string::npos;
  });
}

// How many rows the sentence says are kept of 131071.
std::size_t rows_kept(const std::string& sentence) {
  const std::string begin = "ropelab: interrupted; ";
  REQUIRE(sentence.rfind(begin, 0) == 0);
  CHECK_THAT(sentence, ContainsSubstring(" of 131071 rows are "));
  return std::stoul(sentence.substr(begin.size()));
}

std::vector<std::string> long_run_to(const std::string& file) {
  std::vector<std::string> arguments = long_run;
  arguments.insert(arguments.end(), {"-o", file});
  return arguments;
}

// The manifest says that so many rows are not all.
void check_incomplete(const std::string& manifest, std::size_t rows) {
  const auto json = nlohmann::json::parse(manifest);
  CHECK(json["complete"] == false);
  CHECK(json["rows"] == rows);
}

}  // namespace

TEST_CASE("Ctrl-C ends long set-up and long exact loops within a second or so") {
  const TemporaryFolder folder;
  std::string products = "rope_dim,base,i,j,q,k\n";
  for (int n = 0; n < 200000; ++n) products += "2,10,5,1,1 2,3 4\n";
  folder.write("products.csv", products);
  std::string wide = "rope_dim,base,i,j,q,k\n131072,10000,5,3,";
  for (const char* component : {"0.123456789 ", "0.25 "}) {
    for (int n = 0; n < 131072; ++n) wide += component;
    wide.back() = component[2] == '1' ? ',' : '\n';
  }
  folder.write("wide.csv", wide);
  const std::vector<std::vector<std::string>> runs{
      {"frequencies", "--rope-dim", "1M"},
      {"frequencies", "--base", "1e4:1e6:1000000"},
      {"dot", "--input", "products.csv"},
      {"dot", "--input", "wide.csv"},
      {"dot", "--q", "1 2", "--k", "1 2", "--i", "0:100000:100001", "--j", "0:100000:100001"},
      {"condition", "--max-phase", "1e-6:1:100000"},
      {"sweep", "phase", "--max-phase", "1e-6:1:1000000:log", "--dtype", "float32"},
      {"sweep", "base", "--base", "1e4:1e6:1000", "--rope-dim", "1K", "--pair", "all"},
      {"sweep", "base", "--rope-dim", "1M", "--pair", "nearest"},
      {"sweep", "phase", "--context", "300000:1000000:100000", "--dtype", "float32"},
      {"trace", "--i", "5", "--j", "3", "--max-phase", "1e-6:1:50000"},
      {"slopes", "--heads", "1:65536:65536"},
      {"attention", "--context", "64K", "--queries", "all", "--dtype", "float32"},
  };
  for (const auto& arguments : runs) {
    CAPTURE(arguments);
    std::vector<std::string> quiet = arguments;
    quiet.insert(quiet.end(), {"--quiet", "-o", "/dev/null"});
    const Outcome outcome = interrupted_run(quiet, folder.path(), 1);
    CHECK(outcome.status == 130);
    CHECK(outcome.error.rfind("ropelab: interrupted", 0) == 0);
    CHECK(outcome.processor_seconds < 6);  // of one second on two threads, and of what follows
  }
  CHECK(folder.names() == std::vector<std::string>{"products.csv", "wide.csv"});
}

TEST_CASE("Ctrl-C before the first row leaves nothing") {
  const TemporaryFolder folder;
  const Outcome outcome = interrupted_run(
      {"sweep", "phase", "--max-phase", "1e-6:1:1000000:log", "--dtype", "float32", "-o", "x.csv"},
      folder.path(), 0.5);
  CHECK(outcome.status == 130);
  CHECK(outcome.error.rfind("ropelab: interrupted", 0) == 0);
  CHECK(folder.names().empty());
}

TEST_CASE("Ctrl-C keeps the finished rows of a table that is printed") {
  const Outcome outcome = run_interrupted_after_rows(long_run, ".");
  CHECK(outcome.status == 130);
  CHECK_THAT(outcome.output, ContainsSubstring("heads,head,slope,visible_reach\n65536,1,"));
  CHECK(ropelab::CsvText(outcome.output).records().size() == rows_kept(outcome.error));
  CHECK_THAT(outcome.error, ContainsSubstring("rows are printed\n"));
}

TEST_CASE("Ctrl-C keeps the finished rows beside the file they were meant for") {
  const TemporaryFolder folder;
  const auto kept_rows = [&folder](const std::string& file) {
    const Outcome outcome = run_interrupted_after_rows(long_run_to(file), folder.path());
    CHECK(outcome.status == 130);
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.error, ContainsSubstring("kept in '" + file + ".partial'\n"));
    const std::size_t rows = rows_kept(outcome.error);
    CHECK(rows > 0);
    check_incomplete(folder.read("x.manifest.json.partial"), rows);
    return rows;
  };
  const std::size_t in_csv = kept_rows("x.csv");
  CHECK(ropelab::CsvText(folder.read("x.csv.partial")).records().size() == in_csv);
  const std::size_t in_json = kept_rows("x.json");
  CHECK(nlohmann::json::parse(folder.read("x.json.partial")).size() == in_json);
  const std::size_t in_markdown = kept_rows("x.md");
  const std::string markdown = folder.read("x.md.partial");
  CHECK(static_cast<std::size_t>(std::count(markdown.begin(), markdown.end(), '\n')) ==
        in_markdown + 2);
  CHECK(markdown.substr(markdown.size() - 3) == " |\n");
  CHECK(folder.names() == std::vector<std::string>{"x.csv.partial", "x.json.partial",
                                                   "x.manifest.json.partial", "x.md.partial"});
}

TEST_CASE("Ctrl-C leaves a table that stood there as it was") {
  const TemporaryFolder folder;
  folder.write("x.csv", "before");
  folder.write("x.manifest.json", "its manifest");
  CHECK(run_interrupted_after_rows(long_run_to("x.csv"), folder.path()).status == 130);
  CHECK(folder.read("x.csv") == "before");
  CHECK(folder.read("x.manifest.json") == "its manifest");
  CHECK_THAT(folder.read("x.csv.partial"), ContainsSubstring("65536,1,"));
}
