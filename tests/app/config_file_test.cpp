// Options from TOML files.
#include <algorithm>

#include "app/program.hpp"
#include "catch.hpp"

namespace {

// Runs `ropelab <line>` with `toml` in x.toml.
Outcome run_with(const std::string& toml, const std::string& line) {
  const TemporaryFolder folder;
  folder.write("x.toml", toml);
  return run_shell_in(folder, "ropelab " + line);
}

std::string slopes_with(const std::string& toml) {
  return run_with(toml, "slopes --config x.toml").output;
}

std::string plain(const std::string& line) { return run_shell("ropelab " + line).output; }

struct BadFile {
  std::string toml;
  std::string part;  // of the sentence
};

}  // namespace

TEST_CASE("a file gives options, before or after the command") {
  const std::string expected = plain("slopes --heads 4,8 --head 1");
  CHECK_THAT(expected, ContainsSubstring("8,1,"));
  const std::string toml = "# a comment\nheads = [4, 8]\n\"head\" = \"1\" # another\n";
  CHECK(run_with(toml, "slopes --config x.toml").output == expected);
  CHECK(run_with(toml, "--config x.toml slopes").output == expected);
  CHECK(run_with(toml, "slopes --config=x.toml").output == expected);
}

TEST_CASE("numbers in a file are what is written there, not the nearest doubles") {
  for (const std::string number : {"0.1", "1e-6", "5e-324", "0.30000000000000004",
                                   "12345678901234567", "0.1000000000000000055511151231257827"}) {
    CAPTURE(number);
    CHECK(run_with("slope = " + number, "slopes --config x.toml --digits 60").output ==
          plain("slopes --digits 60 --slope " + number));
  }
  CHECK(slopes_with("slope = 1_000.5") == plain("slopes --slope 1000.5"));
  CHECK(slopes_with("slope=[0.1,0.2 , 1e-3,\n  0.4 # last\n]") ==
        plain("slopes --slope 0.1,0.2,1e-3,0.4"));
}

TEST_CASE("strings in a file are what the command line takes") {
  CHECK(slopes_with("slope = '2^(-1/2)'") == plain("slopes --slope '2^(-1/2)'"));
  CHECK(slopes_with("slope = ['1/3', 0.5, '1:4:3']") == plain("slopes --slope 1/3,0.5,1:4:3"));
  CHECK(slopes_with("heads = '1K'\nhead = 'all'") == plain("slopes --heads 1024"));
}

TEST_CASE("flags in a file are true or false") {
  const std::string line = "round 1e6 --dtype float8_e5m2 ";
  CHECK(run_with("saturate = true", line + "--config x.toml").output == plain(line + "--saturate"));
  CHECK(run_with("saturate = false", line + "--config x.toml").output == plain(line));
}

TEST_CASE("the command line has precedence, also over what cannot stand beside it") {
  CHECK(run_with("heads = 4", "slopes --config x.toml --heads 8").output ==
        plain("slopes --heads 8"));
  CHECK(run_with("heads = 4\nhead = 2", "slopes --config x.toml --slope 0.5").output ==
        plain("slopes --slope 0.5"));
}

TEST_CASE("broken lines, unknown keys and impossible values name file and line") {
  const std::vector<BadFile> table{
      {"heads = 4\nhead = \n", "x.toml:2: this is not TOML"},
      {"heads = 4\nhead 2\n", "x.toml:2: this is not TOML"},
      {"heads = 4\nheads = 8\n", "x.toml:2: this is not TOML"},
      {"heads = 'four\n", "x.toml:1: this is not TOML"},
      {"slope = 0,5\n", "x.toml:1: this is not TOML"},
      {"\xff\xfe\n", "x.toml:1: this is not TOML"},
      {"heads = 4\n\nhaeds = 8\n", "x.toml:3: 'haeds' is not an option of 'slopes'"},
      {"dtype = 'float16'\n", "x.toml:1: 'dtype' is not an option of 'slopes'"},
      {"config = 'y.toml'\n", "x.toml:1: 'config' is not an option of 'slopes'"},
      {"help = true\n", "x.toml:1: 'help' is not an option of 'slopes'"},
      {"[slopes]\nheads = 4\n", "x.toml:1: 'slopes' is not an option of 'slopes'"},
      {"heads = 1979-05-27\n", "x.toml:1: 'heads' takes a string"},
      {"heads = {a = 1}\n", "x.toml:1: 'heads' takes a string"},
      {"heads = [[4], 8]\n", "x.toml:1: 'heads' takes a string"},
      {"heads = []\n", "x.toml:1: 'heads' has no value"},
      {"\nheads = 0\n", "x.toml:2: --heads: '0'"},
      {"slope = -1\n", "x.toml:1: --slope: '-1'"},
      {"slope = nan\n", "x.toml:1: --slope: 'nan'"},
      {"slope = 1e999\n", "x.toml:1: "},
      {"slope = 1\nheads = 4\n", "--slope"},
  };
  for (const BadFile& bad : table) {
    CAPTURE(bad.toml);
    const Outcome outcome = run_with(bad.toml, "slopes --config x.toml");
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    CHECK_THAT(outcome.error, ContainsSubstring(bad.part));
  }
}
