// ropelab frequencies, as a user runs it.
#include <algorithm>
#include <filesystem>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;
using ropelab::parse_rational;
using ropelab::read_csv_file;

TEST_CASE("frequencies --digits 40 agrees with 80-digit arithmetic in all digits") {
  const CsvText reference = read_csv_file(ROPELAB_TEST_DATA "/frequencies.csv");
  for (std::size_t n = 0; n < reference.records().size(); n += 4) {
    const CsvText table = table_of({"frequencies", "--base", reference.at(n, "base"), "--rope-dim",
                                    reference.at(n, "rope_dim"), "--digits", "40"});
    const auto pair = std::stoul(reference.at(n, "pair"));
    CAPTURE(reference.at(n, "base"), reference.at(n, "rope_dim"), pair);
    CHECK(parse_rational(table.at(pair, "theta")) == parse_rational(reference.at(n, "theta")));
  }
}

TEST_CASE("frequencies marks the nearest pair where it is asked for one") {
  const CsvText table = table_of(
      {"frequencies", "--base", "100", "--rope-dim", "4,6", "--near", "0.31", "--context", "1K"});
  REQUIRE(table.records().size() == 5);
  const std::string nearest[] = {"", "yes", "", "yes", ""};
  for (std::size_t n = 0; n < 5; ++n) CHECK(table.at(n, "nearest") == nearest[n]);
  CHECK(table.at(1, "theta") == "0.1");
  CHECK(table.at(1, "phase") == "102.4");
  CHECK(table.at(1, "wavelength") == "62.83185307179586");
  CHECK(table_of({"frequencies"}).at(0, "nearest").empty());
}

TEST_CASE("frequencies refuses a base, a dimension or a context that cannot be meant") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--base", "0"},
                                                    {"--base", "-1"},
                                                    {"--rope-dim", "63"},
                                                    {"--rope-dim", "0"},
                                                    {"--context", "1K,2K"},
                                                    {"--near", "0"}}) {
    std::vector<std::string> all{"frequencies"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(all);
    CAPTURE(arguments.front(), arguments.back());
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.error.find("ropelab: " + arguments.front() + ": ") == 0);
  }
}

TEST_CASE("frequencies --least-base brackets the least base of each dimension and context") {
  const CsvText table =
      table_of({"frequencies", "--least-base", "--rope-dim", "4,128", "--context", "16,4,1K"});
  REQUIRE(table.records().size() == 6);
  const std::string contexts[] = {"16", "4", "1024"};
  for (std::size_t n = 0; n < 6; ++n) {
    CAPTURE(n);
    CHECK(table.at(n, "rope_dim") == (n < 3 ? "4" : "128"));
    CHECK(table.at(n, "context") == contexts[n % 3]);
    const double low = std::stod(table.at(n, "least_base_low"));
    const double high = std::stod(table.at(n, "least_base_high"));
    CHECK(low < high);
    CHECK(high - low < 1e-12 * low);
  }
  CHECK(table.at(1, "least_base_low").rfind("448.911847768", 0) == 0);
  CHECK(table.at(1, "witness") == "3");
  CHECK(table.at(5, "least_base_low").rfind("4293.43756926", 0) == 0);
  CHECK(table.at(5, "witness") == "1009");
}

TEST_CASE("frequencies --least-base keeps its proof where --proof says") {
  const TemporaryFolder folder;
  REQUIRE(run({"frequencies", "--quiet", "--least-base", "--rope-dim", "8", "--context", "8,32",
               "--proof", folder / "proof.csv"})
              .status == 0);
  const CsvText proof = read_csv_file(folder / "proof.csv");
  std::string serving, before = "1";
  for (std::size_t n = 0; n < proof.records().size(); ++n) {
    CHECK(proof.at(n, "rope_dim") == "8");
    if (proof.at(n, "witness").empty()) {
      serving += proof.at(n, "context") + ";";
    } else {
      CHECK(std::stod(proof.at(n, "ratio")) < std::stod(before));
      CHECK(std::stoi(proof.at(n, "witness")) < std::stoi(proof.at(n, "context")));
      before = proof.at(n, "ratio");
    }
  }
  CHECK(serving == "8;32;");
  CHECK_FALSE(folder.read("proof.manifest.json").empty());
}

TEST_CASE("frequencies --least-base takes hold of --proof before it searches") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder.csv");
  // Minutes of search.
  const std::string line = "ropelab frequencies --least-base --rope-dim 128 --context 1M ";
  for (const auto& [options, naming] : std::vector<std::pair<std::string, std::string>>{
           {"-o t.csv --proof t.csv", "--proof: 't.csv' is a file that -o writes as well"},
           {"-o t.csv --proof ./t.csv", "--proof: './t.csv' is a file that -o writes as well"},
           // Their manifests would be one.
           {"-o t.csv --proof t.json", "--proof: 't.manifest.json' is a file that -o writes"},
           {"--proof none/t.csv", "--proof: 'none/t.csv' cannot be written"},
           {"--proof folder.csv", "--proof: 'folder.csv' cannot be written: it is a folder"},
           {"--proof t.txt", "--proof: "},
           {"--proof ''", "--proof: "}}) {
    const Outcome outcome = run_shell_in(folder, line + options);
    INFO(options << ": " << outcome.error);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.error, ContainsSubstring(naming));
    CHECK_THAT(outcome.error, !ContainsSubstring("--output-format"));
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  }
  CHECK(folder.names() == std::vector<std::string>{"folder.csv"});
}

TEST_CASE("frequencies --least-base refuses what has no answer or no meaning") {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "frequencies");
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.error;
  };
  CHECK_THAT(error({"--least-base", "--rope-dim", "2", "--context", "3"}),
             ContainsSubstring("ropelab: --rope-dim: '2' has no base from 1 to 1e+30 that serves 3 "
                               "positions"));
  CHECK_THAT(error({"--least-base", "--context", "2^33"}),
             ContainsSubstring("ropelab: --context: '8589934592' is too long"));
  CHECK_THAT(error({"--least-base", "--context", "8,4", "--proof", "x.csv"}),
             ContainsSubstring("ropelab: --context: its values must ascend"));
  CHECK_THAT(error({"--least-base", "--base", "100"}), ContainsSubstring("--base"));
  CHECK_THAT(error({"--proof", "x.csv"}), ContainsSubstring("--least-base"));
}
