// What every command gets from the shell of the command line.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "app/commands.hpp"
#include "app/program.hpp"
#include "catch.hpp"

namespace {

// One sentence on standard error that holds `part`, exit status 2 and nothing printed.
void check_refusal(const Outcome& outcome, const std::string& part) {
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  CHECK_THAT(outcome.error, ContainsSubstring(part));
  CHECK(outcome.error.find('\x1b') == std::string::npos);
}

struct BadInput {
  std::string line;  // after "ropelab "
  std::string part;  // of the sentence
};

// The worked examples in a text: what is typed, and what comes back.
std::vector<std::pair<std::string, std::string>> examples(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    REQUIRE(line.substr(0, 2) == "  ");
    if (line.substr(2, 2) == "$ ") {
      found.emplace_back(line.substr(4), "");
    } else if (!found.empty()) {
      found.back().second += line.substr(2) + '\n';
    }
  }
  return found;
}

// Takes many seconds.
const std::vector<std::string> run_of_a_while{"slopes", "--heads", "65536,65535"};

}  // namespace

TEST_CASE("bad input is one sentence that names option and value, and exit status 2") {
  const std::vector<BadInput> table{
      {"", "no command is given"},
      {"frobnicate", "'frobnicate' is not a command"},
      {"sweep", "ropelab sweep takes one of theta, base, context, phase"},
      {"sweep width", "'width' is not a command of ropelab sweep"},
      {"sweep width", "there are theta, base, context, phase"},
      {"sweep --context 5", "no command is given before '--context'"},
      {"frobnicate",
       "there are reproduce, sweep, profile, attention, condition, limits, design, fit, "
       "bloom, trace, dot, frequencies"},
      {"round", "VALUE"},
      {"round 0,5", "VALUE: '0,5'"},
      {"round 0.5x", "VALUE: '0.5x'"},
      {"round 1e999", "VALUE: '1e999'"},
      {"round ''", "VALUE: ''"},
      {"round 1 --dtype float17", "--dtype: 'float17'"},
      {"round 1 --dtype float17", "float8_e5m2"},
      {"round 1 --dtype ''", "--dtype: there is no value"},
      {"round 1 --dtype float16,,float32", "--dtype: the list 'float16,,float32'"},
      {"round 1 --dtype=", "--dtype: there is no value"},
      {"round 1 --dtype", "--dtype: it needs a value"},
      {"round 1 --dtype float16 --dtype float32", "--dtype: it is given more than once"},
      {"round 1 --colour", "'--colour' is not an option of 'ropelab round'"},
      {"round 1 --dtype float16 --dtype float32", "write a list"},
      {"round 1 --saturate=perhaps", "ropelab: --saturate: 'perhaps' is neither true nor false"},
      {"slopes --digits 17 --digits 18", "--digits: it is given more than once; it takes a single"},
      {"slopes -o x.csv -o y.csv", "--output: it is given more than once; it takes a single value"},
      {"slopes --config x --config y", "--config: it is given more than once; it takes a single"},
      {"trace --position 1 --position 2", "--position: it is given more than once; it takes a"},
      {"slopes -o ''", "-o: '' is no name"},
      {"slopes --config ''", "--config: '' is no name"},
      {"sweep theta --theta 1e-999", "out of range; write a number from 5e-324 to 1.79"},
      {"sweep phase --max-phase 1e30", "--max-phase: '1e+30' rad over the context"},
      {"sweep theta --theta 1e30", "--theta: '1e+30' rad per position"},
      {"sweep base --base 1e-30 --pair 31", "--base: '1e-30' makes pair 31 turn"},
      {"trace --i 65536 --j 0", "--i: '65536' is out of range; a context of 65536 has the"},
      {"trace --i 9 --j 4 --first-position 5", "--j: '4' is out of range; a context of 65536 has"},
      {"trace --position 9 --context 4,16", "--position: '9' is out of range; a context of 4 has"},
      {"slopes 8", "'8' is one argument too many for 'ropelab slopes'"},
      {"slopes --heads 0", "--heads: '0'"},
      {"slopes --heads 4 --head 5", "--head: '5'"},
      {"slopes --heads 4,8 --head 8", "--head: '8'"},
      {"slopes --heads 2:8:0", "--heads: '2:8:0': '0' is no COUNT"},
      {"slopes --slope -1", "--slope: '-1'"},
      {"slopes --slope=-1", "--slope: '-1'"},
      {"slopes --slope -.5", "--slope: '-.5'"},
      {"slopes --slope 0", "--slope: '0'"},
      {"slopes --slope nan", "--slope: 'nan'"},
      {"slopes --slope -inf", "--slope: '-inf'"},
      {"slopes --slope 1 --heads 8", "--slope"},
      {"slopes --digits 16", "--digits: '16'"},
      {"slopes --digits 101", "--digits: '101'"},
      {"slopes --threads 0", "--threads: '0'"},
      {"slopes --threads many", "--threads: 'many'"},
      {"slopes --seed -1", "--seed: '-1'"},
      {"slopes --output-format xml", "--output-format: 'xml'"},
      {"slopes -o x.txt", "-o: the ending of 'x.txt'"},
      {"slopes -o .", "-o: "},
      {"slopes -o missing/x.csv", "-o: 'missing/x.csv'"},
      {"slopes -o . --output-format csv", "-o: '.' cannot be written: it is a folder"},
      {"slopes --config missing.toml", "--config: 'missing.toml'"},
      {"slopes --config .", "--config: '.'"},
      {"--config", "--config: it needs a value"},
  };
  const TemporaryFolder folder;
  for (const BadInput& bad : table) {
    CAPTURE(bad.line);
    check_refusal(run_shell_in(folder, "ropelab " + bad.line), bad.part);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("a negative number is a value wherever it stands") {
  const std::string expected = run({"round", "--dtype", "float16", "--", "-3.5"}).output;
  CHECK_THAT(expected, ContainsSubstring("\n-3.5,float16,-3.5,-0x1.cp+1,0xc300,"));
  CHECK(run({"round", "-3.5", "--dtype", "float16"}).output == expected);
  CHECK(run({"round", "--dtype", "float16", "-3.5"}).output == expected);
}

TEST_CASE("help, version and the list of commands are printed on request") {
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(run({"--version"}).output.rfind("ropelab 0.", 0) == 0);
  for (const auto& entry : ropelab::app::all_commands()) {
    CAPTURE(entry.name);
    CHECK_THAT(help.output, ContainsSubstring(entry.name.substr(0, entry.name.find(' '))));
    const Outcome own = run_shell("ropelab " + entry.name + " --help");
    CHECK(own.status == 0);
    CHECK_THAT(own.output, ContainsSubstring("Example:\n  $ ropelab " + entry.name));
  }
}

TEST_CASE("every worked example in the help prints what it says") {
  for (const auto& entry : ropelab::app::all_commands()) {
    CAPTURE(entry.name);
    const auto found = examples(entry.example);
    REQUIRE(!found.empty());
    for (const auto& [line, printed] : found) {
      // Their files are named from the top of the repository.
      const Outcome outcome = run_shell("cd " ROPELAB_TEST_DATA "/../.. && " + line);
      CHECK(outcome.status == 0);
      CHECK(outcome.output == printed);
    }
  }
}

TEST_CASE("a table goes to a file by its ending, with a manifest beside it") {
  const TemporaryFolder folder;
  for (const char* name : {"x.csv", "x.json", "x.md"}) {
    CHECK(run_shell_in(folder, std::string("ropelab slopes --heads 2 -o ") + name).status == 0);
  }
  CHECK(folder.names() == std::vector<std::string>{"x.csv", "x.json", "x.manifest.json", "x.md"});
  CHECK(folder.read("x.csv") == run({"slopes", "--heads", "2", "-o", "-"}).output);
  CHECK(folder.read("x.json") == run({"slopes", "--heads", "2", "--output-format", "json"}).output);
  CHECK_THAT(folder.read("x.md"), ContainsSubstring("| 2 | 1 | 0.0625 | 177 |"));
}

TEST_CASE("the manifest holds every resolved parameter") {
  const TemporaryFolder folder;
  folder.write("x.toml", "heads = 4\nseed = 7\n");
  CHECK(run_shell_in(folder, "ropelab slopes --config x.toml --head=2 -o=x.csv").status == 0);
  const auto manifest = nlohmann::json::parse(folder.read("x.manifest.json"));
  const std::vector<std::string> typed{"ropelab", "slopes",   "--config",
                                       "x.toml",  "--head=2", "-o=x.csv"};
  CHECK(manifest["command_line"] == typed);
  CHECK(manifest["parameters"]["heads"] == "4");
  CHECK(manifest["parameters"]["head"] == "2");
  CHECK(manifest["parameters"]["digits"] == "17");
  CHECK(manifest["parameters"]["quiet"] == "false");
  CHECK(manifest["seed"] == 7);
  CHECK(manifest["rows"] == 1);
}

TEST_CASE("the manifest holds no default beside what excludes it") {
  const TemporaryFolder folder;
  CHECK(run_shell_in(folder, "ropelab slopes --slope 0.5 -o x.csv").status == 0);
  const auto parameters = nlohmann::json::parse(folder.read("x.manifest.json"))["parameters"];
  CHECK(parameters["slope"] == "0.5");
  CHECK(!parameters.contains("heads"));
  CHECK(!parameters.contains("head"));
}

TEST_CASE("the manifest holds what parameters were resolved to") {
  const TemporaryFolder folder;
  const auto parameters_of = [&folder](const std::string& line) {
    CHECK(run_shell_in(folder, "ropelab " + line + " --dtype float32 --quiet -o x.csv").status ==
          0);
    return nlohmann::json::parse(folder.read("x.manifest.json"))["parameters"];
  };
  const auto phase = parameters_of("sweep phase --max-phase 0.5,1 --context 64 --head 1:8:2");
  CHECK(phase["max-phase"] == "0.5,1");
  CHECK(phase["theta"] == "0.0078125,0.015625");
  CHECK(phase["slope"] == "0.7071067811865476,0.0625");
  CHECK(phase["pairs"] == "all");
  CHECK(phase["saturate"] == "false");
  CHECK(phase["output-format"] == "csv");
  CHECK(!phase.contains("base"));
  CHECK(!phase.contains("rope-dim"));
  const auto base = parameters_of("sweep base --base 100 --rope-dim 4 --context 8");
  CHECK(base["theta"] == "0.1");
  CHECK(base["max-phase"] == "0.8");
  CHECK(base["pair"] == "slowest");
  CHECK(parameters_of("sweep context --context 300K")["pairs"] == "sample:1048576");
  CHECK(parameters_of("sweep context --context 1K,300K")["pairs"] ==
        "all up to context 262144, sample:1048576 beyond");
  CHECK(parameters_of("condition --max-phase 1:2:1000 --context 16")["theta"] ==
        "1000 values from 0.0625 to 0.125");
}

TEST_CASE("a note says how many pairs were looked at, and the manifest too") {
  const TemporaryFolder folder;
  const auto note = [&folder](const std::string& options) {
    const std::string line = "ropelab sweep phase --dtype float32 -o x.csv " + options;
    const std::string said = run_shell_in(folder, line).error;
    const auto notes = nlohmann::json::parse(folder.read("x.manifest.json"))["notes"];
    REQUIRE(notes.size() == 1);
    CHECK(said == "ropelab: " + notes[0].get<std::string>() + "\n");
    return said;
  };
  CHECK_THAT(note("--context 64 --pairs sample:100"), ContainsSubstring("a sample of 100 pairs"));
  CHECK_THAT(note("--context 64 --pairs sample:1"), ContainsSubstring("a sample of 3 pairs"));
  CHECK_THAT(note("--context 64 --pairs sample:1e15"),
             ContainsSubstring("all pairs are looked at"));
  CHECK_THAT(folder.read("x.csv"), ContainsSubstring(",2080,0,ok\n"));
}

TEST_CASE("an output that cannot be named leaves what was there") {
  const TemporaryFolder folder;
  folder.write("x.csv", "before");
  std::filesystem::create_directory(folder / "x.manifest.json");
  check_refusal(run_shell_in(folder, "ropelab slopes -o x.csv"), "x.manifest.json");
  CHECK(folder.read("x.csv") == "before");
  CHECK(folder.names() == std::vector<std::string>{"x.csv", "x.manifest.json"});
}

TEST_CASE("an output that fails is one sentence and exit status 1") {
  for (const char* device : {"/dev/full", "closed"}) {
    CAPTURE(device);
    Circumstances failing;
    failing.output_device = device;
    const Outcome outcome = run({"slopes", "--heads", "2"}, failing);
    CHECK(outcome.status == 1);
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    CHECK_THAT(outcome.error, ContainsSubstring("standard output cannot be written"));
    CHECK(run({"--help"}, failing).status == 1);
  }
  const Outcome device = run({"slopes", "-o", "/dev/full", "--output-format", "csv"});
  CHECK(device.status == 1);
  CHECK_THAT(device.error, ContainsSubstring("'/dev/full' cannot be written"));
}

TEST_CASE("a reader that has had enough ends a run without a word") {
  CHECK(run_shell("{ sleep 0.3; ropelab slopes; echo $? >&2; } | true").error == "141\n");
  CHECK(run_shell("{ sleep 0.3; ropelab --help; echo $? >&2; } | true").error == "141\n");
}

TEST_CASE("a file at its size limit is a failure that leaves nothing") {
  const TemporaryFolder folder;
  const Outcome outcome = run_shell_in(folder, "ulimit -f 1; ropelab slopes --heads 128 -o x.csv");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.error, ContainsSubstring("'x.csv' cannot be written: "));
  CHECK(folder.names().empty());
}

TEST_CASE("what is neither a file nor a device is no output, and is not waited for") {
  const TemporaryFolder folder;
  folder.write("file.csv", "before");
  check_refusal(run_shell_in(folder, "mkfifo x.csv; ropelab slopes -o x.csv"),
                "-o: 'x.csv' cannot be written: it is a pipe");
  check_refusal(run_shell_in(folder, "ropelab slopes -o file.csv/x.csv"),
                "'file.csv' is a file and no folder");
  CHECK(folder.names() == std::vector<std::string>{"file.csv", "x.csv"});
  const std::string expected = run({"slopes", "--heads", "2"}).output;
  CHECK(run_shell("ropelab slopes --heads 2 -o /dev/stdout").output == expected);
  CHECK(run_shell("ropelab slopes --heads 2 -o /dev/stdout | cat").output == expected);
  CHECK(run_shell("ropelab slopes --heads 2 -o /dev/null").status == 0);
}

TEST_CASE("a file that is read is not written") {
  const TemporaryFolder folder;
  const std::string products = "rope_dim,base,i,j,q,k\n2,10,1,0,1 2,3 4\n";
  folder.write("in.csv", products);
  folder.write("x.toml", "heads = 4\n");
  check_refusal(run_shell_in(folder, "ropelab dot --input in.csv -o in.csv"), "-o: 'in.csv' would");
  check_refusal(run_shell_in(folder, "ln in.csv b.csv; ropelab dot --input in.csv -o b.csv"),
                "-o: 'b.csv' would replace 'in.csv'");
  check_refusal(
      run_shell_in(folder, "ropelab slopes --config x.toml -o x.toml --output-format csv"),
      "-o: 'x.toml' would");
  CHECK(folder.read("in.csv") == products);
  CHECK(run_shell_in(folder, "ropelab dot --input in.csv -o out.csv").status == 0);
}

TEST_CASE("what cannot fit this machine's memory is refused before anything is computed") {
  const Outcome context = run({"sweep", "phase", "--context", "2^29"});
  // A machine with so much memory would compute it for days.
  if (context.status == 2) check_refusal(context, "--context: '536870912' positions make tables");
  check_refusal(run({"sweep", "phase", "--context", "1M", "--pairs", "sample:1e11"}),
                "--pairs: a sample of '100000000000' pairs takes about");
  check_refusal(run({"sweep", "phase", "--pairs", "all", "--head-dim", "1:1000000:1000000",
                     "--context", "1:100000:100000"}),
                "the options make a grid of");
  CHECK(run({"condition", "--context", "2^40", "--dtype", "float32"}).status == 0);
}

TEST_CASE("a closed standard stream does not end up in the table") {
  const TemporaryFolder folder;
  CHECK(run_shell_in(folder, "ropelab slopes --heads 2 -o x.csv 2>&- >&- <&-").status == 0);
  CHECK(folder.read("x.csv") == run({"slopes", "--heads", "2"}).output);
}

TEST_CASE("the locale changes nothing") {
  // Where these locales are not installed, the C library stays with its own.
  const std::string expected = run({"round", "0.5", "1234567.25"}).output;
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
    Circumstances foreign;
    foreign.environment = {{"LC_ALL", locale}, {"LANG", locale}, {"LC_NUMERIC", locale}};
    CHECK(run({"round", "0.5", "1234567.25"}, foreign).output == expected);
    CHECK(run({"round", "0,5"}, foreign).status == 2);
  }
}

TEST_CASE("progress moves within a single long point") {
  if (!has_terminals()) {
    WARN("there is no terminal to be had here");
    return;
  }
  Circumstances watched;
  watched.error_on_terminal = true;
  const std::regex line(R"(0 of 1 points \(([0-9.]+) %\), [0-9.e-]+ a second, [0-9:]+ left)");
  for (const char* content : {"none", "random:1"}) {
    std::vector<double> shares;
    const Outcome seen = run_interrupted_when(
        {"sweep", "phase", "--max-phase", "0.1", "--context", "512K", "--pairs", "all", "--dtype",
         "float32", "--head-dim", "4", "--content", content},
        watched, [&](const Outcome& outcome) {
          shares.clear();
          const std::string& text = outcome.error;
          for (std::sregex_iterator found(text.begin(), text.end(), line), end; found != end;
               ++found) {
            shares.push_back(std::stod((*found)[1]));
          }
          return shares.size() > 1;
        });
    CAPTURE(seen.error);
    REQUIRE(shares.size() > 1);
    CHECK(std::is_sorted(shares.begin(), shares.end()));
    CHECK(shares.front() < shares.back());
    CHECK(seen.status == 130);
  }
}

TEST_CASE("progress shows on a terminal only, in no colour, and not if it is not wanted") {
  if (!has_terminals()) {
    WARN("there is no terminal to be had here");
    return;
  }
  Circumstances watched;
  watched.error_on_terminal = true;
  const Outcome seen = run_interrupted_when(run_of_a_while, watched, [](const Outcome& outcome) {
    return outcome.error.find(" points (") != std::string::npos;
  });
  CHECK_THAT(seen.error, ContainsSubstring(" points ("));
  watched.interrupt_after_seconds = 2;
  CHECK(seen.error.find('\x1b') == std::string::npos);
  std::vector<std::string> quiet = run_of_a_while;
  quiet.push_back("--quiet");
  CHECK(run(quiet, watched).error.find("points") == std::string::npos);
  watched.error_on_terminal = false;
  CHECK(run(run_of_a_while, watched).error.find("points") == std::string::npos);
}
