// ropelab design, as a user runs it.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

using ropelab::CsvText;

namespace {

CsvText design_table(const std::string& line) {
  CAPTURE(line);
  return table_of(run_shell("ropelab " + line));
}

TEST_CASE("design --compare has a row for every method, in their order") {
  const CsvText table = design_table(
      "design --compare --head 2,3 --context 300 --dtype float32 --max-pairs 3 --base 1e4 "
      "--rope-dim 32");
  const std::vector<std::string> methods = {"single", "dyadic", "multi-pair",
                                            "grid",   "rank-2", "native"};
  REQUIRE(table.records().size() == 12);
  for (std::size_t n = 0; n < 12; ++n) {
    CHECK(table.at(n, "head") == (n < 6 ? "2" : "3"));
    CHECK(table.at(n, "method") == methods[n % 6]);
    CHECK(table.at(n, "pairs") == "45150");
    CHECK(table.at(n, "tolerance") == "0.05");
    const double total = std::stod(table.at(n, "total_max_abs"));
    CHECK(table.at(n, "holds") == (total <= 0.05 ? "yes" : "no"));
  }
}

TEST_CASE("design finds the exact design where there is one, and says why there is none") {
  const std::string options = " --head 2 --dtype float16 --pipeline fused";
  const CsvText exact = design_table("design --context 2049" + options);
  CHECK(exact.at(0, "total_max_abs") == "0");
  CHECK(exact.at(0, "holds") == "yes");
  const CsvText beyond = design_table("design --context 2050 --method single" + options);
  const double left = std::stod(beyond.at(0, "total_max_abs"));
  CHECK(left > 0.167);
  CHECK(left <= 0.5);
  CHECK(beyond.at(0, "holds") == "no");
  CHECK(beyond.at(0, "reason").find("cannot have less than 0.167") != std::string::npos);
  const CsvText overflow = design_table(
      "design --context 64K --head 1 --dtype float16 --pipeline naive --method single");
  CHECK(overflow.at(0, "status") == "overflow");
  CHECK(overflow.at(0, "total_max_abs").empty());
  CHECK(overflow.at(0, "holds") == "no");
  CHECK_FALSE(overflow.at(0, "reason").empty());
}

TEST_CASE("the single pair of design is what sweep measures of the same theta") {
  const CsvText design =
      design_table("design --method single --head 2 --context 500 --dtype float32");
  const std::string theta = design.at(0, "frequencies");
  const CsvText sweep =
      design_table("sweep theta --head 2 --context 500 --dtype float32 --theta " + theta);
  // N of the design has three bits, and its theta is the nearest double of N's.
  CHECK(std::fabs(std::stod(design.at(0, "total_max_abs")) -
                  std::stod(sweep.at(0, "total_max_abs"))) < 1e-9);
}

TEST_CASE("the model file holds the vectors of the table, in decimal and hexadecimal") {
  const TemporaryFolder folder;
  const CsvText table = design_table(
      "design --heads 4 --head all --context 200 --dtype bfloat16 --pipeline fused "
      "--model-file " +
      folder / "model.json");
  const auto model = nlohmann::json::parse(folder.read("model.json"));
  REQUIRE(model.at("heads").size() == 4);
  for (std::size_t n = 0; n < 4; ++n) {
    const auto& head = model["heads"][n];
    CHECK(head["head"] == n + 1);
    CHECK(head["method"] == table.at(n, "method"));
    CHECK(head["extra_dimensions"] == 2 * std::stoi(table.at(n, "rotated_pairs")));
    REQUIRE(head["query"].size() == head["query_hex"].size());
    for (std::size_t k = 0; k < head["query"].size(); ++k) {
      CHECK(std::stod(head["query_hex"][k].get<std::string>()) == head["query"][k].get<double>());
    }
    CHECK(head["score_scale"] == 0.125);
  }
}

TEST_CASE("design takes window, keys and head_dim from a model, and heads that share keys agree") {
  const std::string model = std::string(" --model ") + ROPELAB_TEST_DATA "/models/";
  const CsvText table =
      design_table("design --method single --context 600 --window 300 --head 1:4:4 " +
                   std::string("--dtype float32") + model + "mistral-7b-v0.1.json");
  REQUIRE(table.records().size() == 4);
  for (std::size_t n = 0; n < 4; ++n) {
    CHECK(table.at(n, "heads") == "32");
    CHECK(table.at(n, "head_dim") == "128");
    CHECK(table.at(n, "pipeline") == "ideal-trig,window=300");
    CHECK(table.at(n, "frequencies") == table.at(0, "frequencies"));
    CHECK(table.at(n, "key") == table.at(0, "key"));
    CHECK(table.at(n, "pairs") == std::to_string(600 * 300 - 300 * 299 / 2));
  }
  const CsvText whole = design_table("design --method native --dtype float32 --context 5000" +
                                     model + "mistral-7b-v0.1.json");
  CHECK(whole.at(0, "pipeline") == "ideal-trig,window=4096");
}

TEST_CASE("in tokens the design is the same, and its errors are divided by the slope") {
  const std::string options = "design --head 2 --context 500 --dtype float16 --method single";
  const CsvText logits = design_table(options), tokens = design_table(options + " --unit tokens");
  CHECK(tokens.at(0, "query") == logits.at(0, "query"));
  for (const char* column : {"truncation_max_abs", "truncation_rms", "rounding_max_abs",
                             "total_max_abs", "total_rms", "visible_max_abs"}) {
    CHECK(std::stod(tokens.at(0, column)) == 2 * std::stod(logits.at(0, column)));
  }
  CHECK(tokens.at(0, "weights_tv_computed") == logits.at(0, "weights_tv_computed"));
  CHECK(tokens.at(0, "holds") == logits.at(0, "holds"));
}

TEST_CASE("design --costs needs a model, and has rows of every method") {
  const std::string model = std::string(" --model ") + ROPELAB_TEST_DATA "/models/bloom-560m.json";
  const CsvText table = design_table("design --costs --dtype bfloat16 --max-pairs 1,4" + model);
  CHECK(table.records().size() == 2 + 3 * 2 + 3);
  const auto without = run_shell("ropelab design --costs");
  CHECK(without.status == 2);
  CHECK(without.error.find("--model CONFIG.json") != std::string::npos);
}

TEST_CASE("design refuses what cannot be meant") {
  for (const auto& [options, naming] : std::vector<std::pair<std::string, std::string>>{
           {"--method best,simple", "--method"},
           {"--max-pairs 0", "--max-pairs"},
           {"--max-pairs 1.5", "--max-pairs"},
           {"--objective speed", "--objective"},
           {"--frequencies few", "--frequencies"},
           {"--context 1M", "--context"},
           {"--frequencies grid --rope-dim 63", "--rope-dim"},
           {"--kv-heads 2 --slope 1", "--kv-heads"},
           {"--window 0", "--window"},
           {"--tolerance 0", "--tolerance"}}) {
    const auto result = run_shell("ropelab design --dtype float32 " + options);
    INFO(options << ": " << result.error);
    CHECK(result.status == 2);
    CHECK(result.output.empty());
    CHECK(result.error.find(naming) != std::string::npos);
  }
}

TEST_CASE("what design writes goes to files of their own, which are taken before the search") {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "llama"})");
  folder.write("file.txt", "as it was");
  folder.write("t.json", "as it was");
  std::filesystem::create_directory(folder / "folder.json");
  std::filesystem::create_symlink("t.json", folder / "link.json");
  // A search over this context takes minutes: one that began would be killed.
  const std::string line =
      "timeout -s KILL 60 ropelab design --context 256K --head all "
      "--max-pairs 64 --dtype bfloat16 ";
  for (const auto& [options, naming] : std::vector<std::pair<std::string, std::string>>{
           {"-o t.json --model-file t.json", "--model-file: 't.json' is a file that -o writes"},
           {"-o t.json --model-file ./t.json", "--model-file: './t.json' is a file that -o writes"},
           {"-o t.json --model-file link.json", "'link.json' is a file that -o writes"},
           {"-o t.csv --model-file t.manifest.json", "'t.manifest.json' is a file that -o writes"},
           {"--model config.json --model-file config.json", "'config.json', which is read"},
           {"--model-file x.csv", "--model-file: 'x.csv' does not end in .json"},
           {"--model-file ''", "--model-file: "},
           {"--model-file folder.json", "--model-file: 'folder.json' cannot be written: it is a"},
           {"--model-file folder.json/", "--model-file: 'folder.json/' cannot be written: it is a"},
           {"--model-file none/x.json", "--model-file: 'none/x.json' cannot be written"},
           {"--model-file file.txt/x.json", "--model-file: 'file.txt/x.json' cannot be written"}}) {
    const auto result = run_shell_in(folder, line + options);
    INFO(options << ": " << result.error);
    CHECK(result.status == 2);
    CHECK(result.output.empty());
    CHECK(result.error.find(naming) != std::string::npos);
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  }
  CHECK(folder.names() ==
        std::vector<std::string>{"config.json", "file.txt", "folder.json", "link.json", "t.json"});
  CHECK(folder.read("t.json") == "as it was");
  const auto both = run_shell_in(folder,
                                 "ropelab design --method native --context 9 --dtype float32 -o "
                                 "t.json --model-file m.json");
  CHECK(both.status == 0);
  CHECK(nlohmann::json::parse(folder.read("m.json")).at("heads").size() == 1);
  CHECK(nlohmann::json::parse(folder.read("t.json")).size() == 1);
}

TEST_CASE("design refuses options that nothing would come of") {
  const std::string model = std::string(" --model ") + ROPELAB_TEST_DATA "/models/bloom-560m.json";
  for (const auto& [options, naming] : std::vector<std::pair<std::string, std::string>>{
           {"--frequencies dyadic --method single",
            "--frequencies: 'dyadic' is not what --method single takes; with it best or dyadic"},
           {"--frequencies grid --method single", "--frequencies: 'grid' is not what"},
           {"--frequencies grid --method best,single", "--frequencies: 'grid' is not what"},
           {"--frequencies free --method grid",
            "with it best or single or dyadic or multi-pair would be right"},
           {"--frequencies grid --method native,rank-2",
            "--frequencies: --method native,rank-2 has none"},
           {"--frequencies grid --compare", "--frequencies"},
           {"--method single --compare", "--method"},
           {"--base 1e4 --method single", "--base: no design here is on a model's grid"},
           {"--rope-dim 32", "--rope-dim: no design here is on a model's grid"},
           {"--scaling linear:factor=2 --frequencies dyadic", "--scaling: no design here"},
           {"--costs --model-file q.json" + model, "--model-file"},
           {"--costs --method single" + model, "--method"},
           {"--costs --compare" + model, "--compare"},
           {"--costs --window 3" + model, "--window"},
           {"--costs --head 1,2" + model, "--head: there are 2 heads or slopes; --costs takes one"},
           {"--kv-heads 3", "--kv-heads: '3' does not divide 16 heads evenly; 2 or 4 would be"}}) {
    const auto result = run_shell("ropelab design --dtype float32 --context 50 " + options);
    INFO(options << ": " << result.error);
    CHECK(result.status == 2);
    CHECK(result.output.empty());
    CHECK(result.error.find(naming) != std::string::npos);
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  }
}

TEST_CASE("a method that is named twice has one row") {
  const CsvText table = design_table(
      "design --method native,rank-2,native,native --context 50 --dtype float32 --head 1");
  REQUIRE(table.records().size() == 2);
  CHECK(table.at(0, "method") == "native");
  CHECK(table.at(1, "method") == "rank-2");
  CHECK(design_table("design --method grid,best --frequencies grid --context 50 --dtype float32")
            .records()
            .size() == 1);
}

// The number in "within the tolerance: 0.02 logits left ...".
double number_before(const std::string& reason, const std::string& word) {
  const auto end = reason.find(' ' + word);
  REQUIRE(end != std::string::npos);
  const auto space = reason.rfind(' ', end - 1);
  return std::stod(reason.substr(space == std::string::npos ? 0 : space + 1));
}

TEST_CASE("the reason names the error that the row has, and says where it is small enough") {
  // Truncation and rounding cancel in some of these: each alone is more than the error.
  const CsvText table = design_table(
      "design --method single,dyadic,native --head 1 --context 300 --dtype float16,float32 "
      "--pipeline fused --max-pairs 1");
  bool one_cancels = false;
  for (std::size_t row = 0; row < table.records().size(); ++row) {
    const std::string reason = table.at(row, "reason");
    if (reason.starts_with("exact")) continue;
    if (table.at(row, "status") == "overflow") continue;
    INFO(reason);
    const double total = std::stod(table.at(row, "total_max_abs"));
    // Three digits.
    CHECK(std::fabs(number_before(reason, "logits") - total) <= 0.0051 * total);
    CHECK(reason.starts_with("within the tolerance: ") == (table.at(row, "holds") == "yes"));
    const double truncation = std::stod(table.at(row, "truncation_max_abs"));
    const double rounding = std::stod(table.at(row, "rounding_max_abs"));
    one_cancels |= total < std::max(truncation, rounding);
    const bool says_rounding = reason.find("by rounding") != std::string::npos;
    CHECK(says_rounding == (rounding >= truncation));
  }
  CHECK(one_cancels);
  const std::string options = "design --method single --context 300 --dtype float16 --objective ";
  const CsvText truncation = design_table(options + "truncation");
  CHECK(truncation.at(0, "reason").find(" logits of truncation left") != std::string::npos);
  const CsvText weights = design_table(options + "weights");
  CHECK(weights.at(0, "reason").find("of the last query's weight goes elsewhere") !=
        std::string::npos);
  const CsvText visible = design_table(options + "visible");
  CHECK(visible.at(0, "reason").find(" among visible pairs") != std::string::npos);
}

}  // namespace
