// What every command gets from the shell of the command line.
#include <algorithm>
#include <nlohmann/json.hpp>
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
const std::vector<std::string> long_run{"slopes", "--heads", "65536,65535"};

}  // namespace

TEST_CASE("bad input is one sentence that names option and value, and exit status 2") {
  const std::vector<BadInput> table{
      {"", "no command is given"},
      {"frobnicate", "'frobnicate' is not a command"},
      {"sweep", "ropelab sweep takes one of theta, base, context, phase"},
      {"sweep width", "'width' is not a command of ropelab sweep"},
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
      {"round 1 --saturate=perhaps", "--saturate"},
      {"slopes 8", "'8' is one argument too many for 'ropelab slopes'"},
      {"slopes --heads 0", "--heads: '0'"},
      {"slopes --heads 4 --head 5", "--head: '5'"},
      {"slopes --heads 4,8 --head 8", "--head: '8'"},
      {"slopes --heads 2:8:0", "--heads: '0'"},
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
      const Outcome outcome = run_shell(line);
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
  const Outcome pipe = run_shell("{ sleep 0.3; ropelab slopes; echo $? >&2; } | true");
  CHECK_THAT(pipe.error, ContainsSubstring("standard output cannot be written"));
  CHECK_THAT(pipe.error, ContainsSubstring("\n1\n"));
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

TEST_CASE("Ctrl-C ends a run with status 130 and leaves nothing") {
  const TemporaryFolder folder;
  Circumstances interrupted;
  interrupted.folder = folder.path();
  interrupted.interrupt_after_seconds = 0.5;
  std::vector<std::string> arguments = long_run;
  arguments.insert(arguments.end(), {"-o", "x.csv"});
  const Outcome outcome = run(arguments, interrupted);
  CHECK(outcome.status == 130);
  CHECK(outcome.error == "ropelab: interrupted\n");
  CHECK(folder.names().empty());
}

TEST_CASE("Ctrl-C keeps the finished rows of a table that is printed") {
  Circumstances interrupted;
  interrupted.interrupt_after_seconds = 2;
  const Outcome outcome = run(long_run, interrupted);
  CHECK(outcome.status == 130);
  CHECK_THAT(outcome.output, ContainsSubstring("heads,head,slope,visible_reach\n65536,1,"));
  CHECK(outcome.output.back() == '\n');
}

TEST_CASE("progress shows on a terminal only, in no colour, and not if it is not wanted") {
  if (!has_terminals()) {
    WARN("there is no terminal to be had here");
    return;
  }
  Circumstances watched;
  watched.interrupt_after_seconds = 2;
  watched.error_on_terminal = true;
  const Outcome seen = run(long_run, watched);
  CHECK_THAT(seen.error, ContainsSubstring(" points, "));
  CHECK(seen.error.find('\x1b') == std::string::npos);
  std::vector<std::string> quiet = long_run;
  quiet.push_back("--quiet");
  CHECK(run(quiet, watched).error.find("points") == std::string::npos);
  watched.error_on_terminal = false;
  CHECK(run(long_run, watched).error.find("points") == std::string::npos);
}
