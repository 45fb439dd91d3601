// ropelab bloom: what it reads, what it refuses, and where its tables go.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/bloom_program.hpp"

using ropelab::CsvText;
namespace fs = std::filesystem;

namespace {

struct Refusal {
  Arguments arguments;
  std::string sentence;  // without "ropelab: " and the line end
};

void check_refusals(const TemporaryFolder& folder, const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    Circumstances there;
    there.folder = folder.path();
    Arguments arguments{"bloom"};
    arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
    CAPTURE(arguments);
    const Outcome outcome = run(arguments, there);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.error == "ropelab: " + refusal.sentence + "\n");
  }
}

// "tiny" and "text.txt", 200 bytes, stand in it.
void furnish(const TemporaryFolder& folder) {
  folder.write("text.txt", bytes_of(heldout_file()).substr(0, 200));
  fs::create_directory_symlink(bloom_data("tiny-kjv"), folder / "tiny");
  for (const char* name : {"rotary", "learned", "sinusoidal"}) {
    fs::create_directory_symlink(bloom_data(std::string(name) + "-kjv"), folder / name);
  }
}

// Token ids as NumPy's format version 1 has them, int32.
std::string npy(const std::string& bytes) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                       std::to_string(bytes.size()) + ",), }";
  header += std::string(63 - (10 + header.size()) % 64, ' ') + '\n';
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size() % 256);
  file += static_cast<char>(header.size() / 256);
  file += header;
  for (const char byte : bytes) {
    file += byte;
    file += std::string(3, '\0');
  }
  return file;
}

}  // namespace

TEST_CASE("tokens come as a text, as numbers or as an array") {
  const TemporaryFolder folder;
  const std::string text = bytes_of(heldout_file()).substr(0, 300);
  folder.write("text.txt", text);
  std::string ids;
  for (const char byte : text) ids += std::to_string(static_cast<unsigned char>(byte)) + "\n";
  folder.write("ids.txt", ids);
  folder.write("ids.npy", npy(text));
  const auto output = [&](const char* option, const char* file) {
    const Outcome outcome =
        run(bloom(bloom_data("tiny-kjv"), {option, folder / file, "--windows", "100"}));
    CAPTURE(outcome.error);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string from_text = output("--text", "text.txt");
  CHECK(CsvText(from_text).at(0, "windows") == "3");
  CHECK(output("--tokens", "ids.txt") == from_text);
  CHECK(output("--tokens", "ids.npy") == from_text);
}

TEST_CASE("a text is read as far as the limit reaches, and may come through a pipe") {
  const TemporaryFolder folder;
  furnish(folder);
  fs::copy_file(heldout_file(), folder / "long.txt");
  fs::resize_file(folder / "long.txt", std::uintmax_t{20} << 30);  // with nothing in it
  const std::string plan = " --windows 30,60 --stride 20 --limit 4 --bias native --quiet";
  const auto printed = [&](const std::string& begin) {
    const Outcome outcome = run_shell_in(folder, begin + plan);
    CAPTURE(begin, outcome.error);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string expected = printed("ropelab bloom tiny --text text.txt");
  CHECK(printed("ropelab bloom tiny --text long.txt") == expected);
  CHECK(printed("head -c 120 text.txt | ropelab bloom tiny --text /dev/stdin") == expected);
  CHECK(printed("head -c 119 text.txt | ropelab bloom tiny --text /dev/stdin") != expected);
  CHECK(printed("od -An -v -tu1 text.txt | ropelab bloom tiny --tokens /dev/stdin") == expected);
  CHECK(CsvText(printed("ropelab bloom tiny --text /dev/zero")).at(0, "windows") == "4");
  const std::string too_long =
      "'long.txt': it is longer than 1073741824 bytes, the most that is read; a shorter one would "
      "be right";
  check_refusals(folder,
                 {{{"tiny", "--text", "long.txt"}, "--text: " + too_long},
                  {{"tiny", "--tokens", "long.txt", "--limit", "1"}, "--tokens: " + too_long}});
}

TEST_CASE("pipes are not waited for where a checkpoint has its files") {
  const TemporaryFolder folder;
  furnish(folder);
  for (const char* name : {"config", "index"}) fs::create_directory(folder / name);
  const Outcome made = run_shell_in(
      folder,
      "cp tiny/model.safetensors config; mkfifo config/config.json; cp tiny/config.json index; "
      "mkfifo index/model.safetensors.index.json");
  REQUIRE(made.status == 0);
  const std::string right = "': this is not a file; a file of JSON would be right";
  check_refusals(folder, {{{"config", "--text", "text.txt"}, "DIR: 'config/config.json" + right},
                          {{"index", "--text", "text.txt"},
                           "DIR: 'index/model.safetensors.index.json" + right}});
}

TEST_CASE("weights that are cut short while the model runs end it with a sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  // Its temporary file is there once the weights are open.
  const Outcome outcome = run_shell_in(
      folder,
      "cp -rL tiny cut; chmod -R u+w cut; ropelab bloom cut --text " + heldout_file() +
          " --windows 8192 --bias none --quiet -o x.csv & while [ -z \"$(ls -A | grep tmp)\" ]; do "
          "sleep 0.02; done; truncate -s 4096 cut/model.safetensors; wait $!");
  CHECK(outcome.status == 1);
  CHECK(outcome.error ==
        "ropelab: 'cut': a file of weights became shorter, or unreadable, while it was in use; one "
        "that stays as it is would be right\n");
  CHECK(folder.names() ==
        std::vector<std::string>{"cut", "learned", "rotary", "sinusoidal", "text.txt", "tiny"});
}

TEST_CASE("a folder given as a dot has its own name") {
  Circumstances there;
  there.folder = bloom_data("tiny-kjv");
  for (const char* dots : {".", "./", "../tiny-kjv/.", "../tiny-kjv/"}) {
    const Outcome outcome =
        run({"bloom", dots, "--text", "heldout.txt", "--windows", "64", "--limit", "1"}, there);
    CHECK(table_of(outcome).at(0, "model") == "tiny-kjv");
  }
}

TEST_CASE("windows: a limit, a stride and several lengths") {
  const CsvText table =
      table_of(bloom_on_text("tiny-kjv", {"--windows", "32,64", "--limit", "3", "--bias",
                                          "native,none", "--stride", "16"}));
  REQUIRE(table.records().size() == 4);
  for (std::size_t row = 0; row < 4; ++row) {
    CHECK(table.at(row, "window") == (row < 2 ? "32" : "64"));
    CHECK(table.at(row, "bias") == (row % 2 == 0 ? "native" : "none"));
    CHECK(table.at(row, "windows") == "3");
    CHECK(table.at(row, "difference").empty() == (row % 2 == 0));
  }
  // 31 predictions, then 16 for each further window.
  const auto bins =
      tables_of(run(bloom_on_text("tiny-kjv", {"--windows", "32", "--limit", "3", "--bias", "none",
                                               "--stride", "16", "--by-position"})))[1];
  CHECK(bins.at(row_with(bins, {{"bin", "all"}}), "count") == "63");
  // A limit beyond the text is the whole text.
  const TemporaryFolder folder;
  folder.write("short.txt", bytes_of(heldout_file()).substr(0, 100));
  CHECK(table_of(bloom(bloom_data("tiny-kjv"),
                       {"--text", folder / "short.txt", "--windows", "32", "--limit", "99"}))
            .at(0, "windows") == "3");
}

TEST_CASE("checkpoints and texts that cannot be read are refused in one sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  for (const char* name : {"empty", "bare", "headless", "unsafe", "gpt"}) {
    fs::create_directory(folder / name);
  }
  fs::copy(bloom_data("tiny-kjv/config.json"), folder / "bare/config.json");
  fs::copy(bloom_data("tiny-kjv/config.json"), folder / "unsafe/config.json");
  for (const char* name : {"headless", "gpt"}) {
    fs::copy(bloom_data("random-6head/model.safetensors"),
             folder / (name + std::string("/model.safetensors")));
  }
  folder.write("unsafe/model.safetensors", "hello\n");
  folder.write("gpt/config.json", R"({"model_type": "gpt2"})");
  folder.write("empty.txt", "");
  folder.write("one.txt", "a");
  folder.write("words.txt", "1 2\n3 four\n");
  folder.write("large.txt", "1 2 256\n");
  folder.write("mark.txt",
               "\xef\xbb\xbf"
               "1 2\n");
  folder.write("latin.txt", "1 \xff\n");
  check_refusals(
      folder,
      {{{"--text", "text.txt"}, "ropelab bloom: DIR is required"},
       {{"nowhere", "--text", "text.txt"}, "DIR: 'nowhere': there is no such file or folder"},
       {{"empty", "--text", "text.txt"},
        "DIR: 'empty': it has neither model.safetensors nor model.safetensors.index.json; one of "
        "them would be right"},
       {{"bare", "--text", "text.txt"},
        "DIR: 'bare': it has neither model.safetensors nor model.safetensors.index.json; one of "
        "them would be right"},
       {{"headless", "--text", "text.txt"},
        "DIR: 'headless/config.json': No such file or directory"},
       {{"unsafe", "--text", "text.txt"},
        "DIR: 'unsafe/model.safetensors': it holds 6 bytes; at least 8, the length of the header, "
        "would be right"},
       {{"gpt", "--text", "text.txt"},
        R"(DIR: 'gpt/config.json': model_type is "gpt2"; "bloom" would be right)"},
       {{"tiny/config.json", "--text", "text.txt"},
        "DIR: 'tiny/config.json': there is no weight_map; an object that gives the file of each "
        "tensor would be right"},
       {{"tiny"}, "--text: there is nothing to read; --text FILE or --tokens FILE is needed"},
       {{"tiny", "--text", "text.txt", "--tokens", "text.txt"},
        "--text excludes --tokens; give one of the two"},
       {{"tiny", "--text", "nowhere.txt"}, "--text: 'nowhere.txt': No such file or directory"},
       {{"tiny", "--text", "empty"}, "--text: 'empty': Is a directory"},
       {{"tiny", "--text", "empty.txt"},
        "--text: 'empty.txt': there are no tokens in it; one would be right"},
       {{"tiny", "--text", "one.txt"},
        "--text: 'one.txt' holds one token; two or more, the second to be predicted, would be "
        "right"},
       {{"tiny", "--tokens", "words.txt"},
        "--tokens: 'words.txt': line 2: 'four' is no token id; whole numbers from 0 to 255 would "
        "be right"},
       {{"tiny", "--tokens", "large.txt"},
        "--tokens: 'large.txt': line 1: '256' is no token id; whole numbers from 0 to 255 "
        "would be right"},
       {{"tiny", "--tokens", "mark.txt"},
        "--tokens: 'mark.txt': line 1: '\\xef\\xbb\\xbf1' is no token id; whole numbers from 0 to "
        "255 "
        "would be right"},
       {{"tiny", "--tokens", "latin.txt"},
        "--tokens: 'latin.txt': line 1: '\\xff' is no token id; whole numbers from 0 to 255 "
        "would be right"}});
}

TEST_CASE("windows and positions that cannot be meant are refused in one sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  const auto with = [](const Arguments& more) {
    Arguments arguments{"tiny", "--text", "text.txt"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const std::string whole_from_1 = "write a whole number from 1 to 9007199254740992";
  check_refusals(
      folder,
      {{with({}),
        "--windows: window is 1024; it must be at most the length of the text, which is 200 "
        "tokens"},
       {with({"--windows", "64,201"}),
        "--windows: window is 201; it must be at most the length of the text, which is 200 tokens"},
       {with({"--windows", "1"}),
        "--windows: '1' is out of range; write a whole number from 2 to 9007199254740992"},
       {with({"--windows", "all"}),
        "--windows: 'all' is not a whole number; write a whole number from 2 to 9007199254740992"},
       {with({"--windows", "64", "--stride", "65"}),
        "--stride: stride is 65; it must be from 1 to the window, 64"},
       {with({"--windows", "64", "--stride", "0"}),
        "--stride: '0' is out of range; " + whole_from_1},
       {with({"--windows", "64", "--limit", "0"}), "--limit: '0' is out of range; " + whole_from_1},
       {with({"--windows", "64", "--limit", "dyadic"}),
        "--limit: 'dyadic' is not a whole number; " + whole_from_1},
       {with({"--windows", "64", "--first-position", "-1"}),
        "--first-position: '-1' is out of range; write a whole number from 0 to 9007199254740992"},
       {with({"--windows", "64", "--first-position", "2^53"}),
        "--first-position: '9007199254740992' is out of range; positions end at 2^53, "
        "9007199254740992, so one of at most 9007199254740990 would be right"},
       {with({"--windows", "64", "--first-position", "9007199254740980"}),
        "--windows: '64' is too long; positions end at 2^53, 9007199254740992, so one of at most "
        "12 would be right from position 9007199254740980 on"},
       {{"learned", "--text", heldout_file(), "--windows", "256,257"},
        "--windows: '257' is too long; the model has learned 256 positions, so one of at most 256 "
        "would be right"},
       {{"learned", "--text", heldout_file(), "--windows", "256", "--first-position", "1"},
        "--windows: '256' is too long; the model has learned 256 positions, so one of at most 255 "
        "would be right from position 1 on"},
       {{"learned", "--text", heldout_file(), "--windows", "256", "--first-position", "300"},
        "--first-position: '300' is out of range; the model has learned 256 positions, so one of "
        "at most 254 would be right"}});
}

TEST_CASE("biases that cannot be meant, and options without meaning, are refused in one sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  folder.write("list.json", "[]");
  const auto on = [](const char* model, const Arguments& more) {
    Arguments arguments{model, "--text", "text.txt", "--windows", "64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const auto tiny = [&](const Arguments& more) { return on("tiny", more); };
  check_refusals(
      folder,
      {{tiny({"--bias", "nonsense"}),
        "--bias: 'nonsense' is no bias; there are native, native-absolute, native-relative, none, "
        "pair, rotary, design:FILE"},
       {tiny({"--bias", "none,"}), "--bias: the list 'none,' has an empty item"},
       {tiny({"--bias", "design:"}), "--bias: 'design:' wants a file behind it"},
       {tiny({"--bias", "design:nowhere.json"}),
        "--bias: 'nowhere.json': No such file or directory"},
       {tiny({"--bias", "design:tiny/config.json"}),
        "--bias: 'tiny/config.json': it has no format; 'ropelab design 2', as ropelab design "
        "--model-file writes it, would be right"},
       {tiny({"--bias", "pair,rotary"}),
        "--bias: 'rotary' is for models that rotate; this one has the position encoding alibi, for "
        "which pair, native or none, say, would be right"},
       {on("sinusoidal", {"--bias", "none"}),
        "--bias: 'none' stands in for a bias or a rotation; this model, whose position encoding is "
        "sinusoidal, adds vectors to its embeddings instead; native would be right"},
       {on("learned", {"--bias", "native,pair"}),
        "--bias: 'pair' stands in for a bias or a rotation; this model, whose position encoding is "
        "learned, adds vectors to its embeddings instead; native would be right"},
       {tiny({"--theta", "1e-4", "--max-phase", "0.1"}),
        "--max-phase excludes --theta; give one of the two"},
       {tiny({"--max-phase", "0"}), "--max-phase: '0' is not positive; write a number above 0"},
       {tiny({"--theta", "nan"}),
        "--theta: 'nan' is not a number; write 0.5, 1e-6, 1/3, 2^-20, 2^(-1/2), 0x1p-13 or 64K"},
       {tiny({"--theta", "1e20"}),
        "--theta: '1e20' turns beyond 2^64 rad; a smaller one, or a smaller window or first "
        "position, would be right"},
       {tiny({"--max-phase", "1", "--first-position", "2^53-100"}),
        "--first-position: '2^53-100' is not a whole number; write a whole number from 0 to "
        "9007199254740992"},
       {tiny({"--dtype", "float17"}),
        "--dtype: 'float17' is not a dtype; there are float16, bfloat16, float32, float64, "
        "float8_e4m3fn, float8_e5m2"},
       {tiny({"--pipeline", "fast"}),
        "--pipeline: 'fast' is not a pipeline; there are ideal-trig, naive, fp32-rope, fused, "
        "exact"},
       {tiny({"--pipeline", "fused,position=exact,position=float16"}),
        "--pipeline: 'fused,position=exact,position=float16' gives the step position more than "
        "once; once would be right"},
       {tiny({"--bias", "none", "--saturate"}),
        "--saturate: it means nothing without --bias pair or rotary"},
       {tiny({"--model-dtype", "float16"}),
        "--model-dtype: 'float16' is neither float32 nor float64"},
       {tiny({"--bias", "none", "--dtype", "float16"}),
        "--dtype: 'float16' means nothing without --bias pair or rotary"},
       {tiny({"--bias", "native", "--pipeline", "naive"}),
        "--pipeline: 'naive' means nothing without --bias pair or rotary"},
       {tiny({"--bias", "none", "--max-phase", "1"}),
        "--max-phase: '1' means nothing without --bias pair"},
       {on("rotary", {"--theta", "1e-4"}), "--theta: '1e-4' means nothing without --bias pair"},
       {on("rotary", {"--split", "even"}), "--split: 'even' means nothing without --bias pair"},
       {tiny({"--heads", "4"}),
        "'--heads' is not an option of 'ropelab bloom'; see ropelab bloom --help"}});
}

TEST_CASE("designs whose rows would say what they are not are refused in one sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  const std::string design =
      "ropelab design --quiet --head-dim 32 --context 8 --pipeline fused --method grid --max-pairs "
      "1 --dtype ";
  const Outcome made = run_shell_in(
      folder, design + "float32 --heads 4 --head all --model-file one.json >table.csv && " +
                  design +
                  "float32 --heads 4 --head all --bias-scale before --model-file before.json "
                  ">table.csv && " +
                  design +
                  "float32 --heads 8 --head 1,2,3,4 --model-file eight.json >table.csv && "
                  "sed 's/\"heads\": 8/\"heads\": 4/' eight.json >steep.json && "
                  "sed '0,/\"float32\"/s//\"float16\"/' one.json >mixed.json && "
                  "sed '0,/rope-dim=64/s//rope-dim=64,window=4/' one.json >windows.json && "
                  "sed '/\"step\"/d; /\"step_exact\"/d' one.json >stepless.json");
  CAPTURE(made.error);
  REQUIRE(made.status == 0);
  const auto with = [](const std::string& file) {
    return Arguments{"tiny", "--text", "text.txt", "--windows", "64", "--bias", "design:" + file};
  };
  const std::string right =
      " of head 1, whose slope in this model is 0.25; ropelab design --heads 4 --head all "
      "--head-dim 32 makes one for that";
  const std::string alike =
      " and 'fused,base=10000,rope-dim=64,max-pairs=1' for head 2; the same dtype and pipeline for "
      "all would "
      "be right";
  check_refusals(
      folder,
      {{with("steep.json"), "--bias: 'design:steep.json' is for the slope 0.5" + right},
       {with("before.json"),
        "--bias: 'design:before.json' is for the slope 0.04419417382415922" + right},
       {with("stepless.json"), "--bias: 'design:stepless.json' is for a bias of no slope" + right},
       {with("mixed.json"),
        "--bias: 'design:mixed.json' has float16 and 'fused,base=10000,rope-dim=64,max-pairs=1' "
        "for head 1, "
        "but "
        "float32" +
            alike},
       {with("windows.json"),
        "--bias: 'design:windows.json' has float32 and "
        "'fused,base=10000,rope-dim=64,window=4,max-pairs=1' for "
        "head 1, but float32" +
            alike}});
}

TEST_CASE("files that are read are not written over, by any of the tables") {
  const TemporaryFolder folder;
  furnish(folder);
  std::string ids;
  for (int n = 0; n < 80; ++n) ids += "101 ";
  folder.write("x-attention.csv", ids);
  fs::create_directory(folder / "y-by-position.csv");
  const auto to = [](const char* file, const Arguments& more) {
    Arguments arguments{"tiny", "--tokens", "x-attention.csv", "--windows", "64", "-o", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  check_refusals(
      folder,
      {{to("x.csv", {"--attention"}),
        "-o: 'x-attention.csv' would replace 'x-attention.csv', which is read; name another file"},
       {to("x-attention.csv", {}),
        "-o: 'x-attention.csv' would replace 'x-attention.csv', which is read; name another file"},
       {to("tiny/config.json", {}),
        "-o: 'tiny/config.json' would replace 'tiny/config.json', which is read; name another "
        "file"},
       {to("tiny/model.safetensors", {"--output-format", "csv"}),
        "-o: 'tiny/model.safetensors' would replace 'tiny/model.safetensors', which is read; name "
        "another file"},
       {to("y.csv", {"--by-position"}),
        "-o: 'y-by-position.csv' cannot be written: it is a folder"},
       {to("x.txt", {}),
        "-o: the ending of 'x.txt' names no format; use .csv, .json or .md, or say "
        "--output-format"},
       {to("nowhere/x.csv", {}),
        "-o: 'nowhere/x.csv' cannot be written: 'nowhere' is a folder that does not exist"}});
  CHECK(folder.read("x-attention.csv") == ids);
  CHECK(folder.names() == std::vector<std::string>{"learned", "rotary", "sinusoidal", "text.txt",
                                                   "tiny", "x-attention.csv", "y-by-position.csv"});
  // Without that table the name is free.
  Circumstances there;
  there.folder = folder.path();
  CHECK(run({"bloom", "tiny", "--tokens", "x-attention.csv", "--windows", "64", "-o", "x.csv",
             "--quiet", "--by-position"},
            there)
            .status == 0);
}

TEST_CASE("further tables stand behind the first, or in files beside it") {
  const TemporaryFolder folder;
  furnish(folder);
  const auto outcome = [&](const std::string& more) {
    return run_shell_in(folder,
                        "ropelab bloom tiny --text text.txt --windows 64 --bias none --quiet "
                        "--attention --by-position " +
                            more);
  };
  const auto printed = tables_of(outcome(""));
  REQUIRE(printed.size() == 3);
  CHECK(printed[0].records().size() == 1);
  CHECK(printed[1].records().size() == 16);
  CHECK(printed[2].has_column("bin"));
  CHECK(outcome("-o x.csv").status == 0);
  const std::string all = folder.read("x.csv") + "\n" + folder.read("x-attention.csv") + "\n" +
                          folder.read("x-by-position.csv");
  CHECK(outcome("").output == all);
  CHECK(outcome("-o -").output == all);
  CHECK(outcome("-o /dev/stdout").output == all);
  CHECK(outcome("-o /dev/null").status == 0);
  CHECK(folder.names() == std::vector<std::string>{"learned", "rotary", "sinusoidal", "text.txt",
                                                   "tiny", "x-attention.csv", "x-by-position.csv",
                                                   "x.csv", "x.manifest.json"});

  // As JSON: one object on standard output, an array in each file.
  const auto object = nlohmann::json::parse(outcome("--output-format json").output);
  CHECK(object.size() == 3);
  CHECK(outcome("-o y.json").status == 0);
  CHECK(object.at("table") == nlohmann::json::parse(folder.read("y.json")));
  CHECK(object.at("attention") == nlohmann::json::parse(folder.read("y-attention.json")));
  CHECK(object.at("by-position") == nlohmann::json::parse(folder.read("y-by-position.json")));
  CHECK(object.at("attention").size() == 16);
  // One table alone stays an array.
  const Outcome alone = run_shell_in(folder,
                                     "ropelab bloom tiny --text text.txt --windows 64 --bias none "
                                     "--quiet --output-format json");
  const auto array = nlohmann::json::parse(alone.output);
  REQUIRE(array.is_array());
  CHECK(array.size() == 1);
  CHECK(array[0].at("max_kl") == object.at("table")[0].at("max_kl"));
}

TEST_CASE("the first table is there even where a further one cannot be written") {
  if (!fs::is_character_file("/dev/full")) return;
  const TemporaryFolder folder;
  furnish(folder);
  fs::create_symlink("/dev/full", folder / "x-attention.csv");
  const std::string line =
      "ropelab bloom tiny --text text.txt --windows 64 --bias none --quiet --attention -o ";
  const Outcome outcome = run_shell_in(folder, line + "x.csv");
  CHECK(outcome.status == 1);
  CHECK(outcome.error == "ropelab: 'x-attention.csv' cannot be written: No space left on device\n");
  CHECK(CsvText(folder.read("x.csv")).records().size() == 1);
  CHECK(nlohmann::json::parse(folder.read("x.manifest.json")).at("complete") == true);
  const Outcome full = run_shell_in(folder, line + "/dev/full");
  CHECK(full.status == 1);
  CHECK(full.error == "ropelab: '/dev/full' cannot be written: No space left on device\n");
}

namespace {

// Interrupted once it says so of its rows.
Outcome run_interrupted_saying(const std::string& part, const TemporaryFolder& folder,
                               const Arguments& arguments) {
  Circumstances there;
  there.folder = folder.path();
  return run_interrupted_when(arguments, there, [&](const Outcome& outcome) {
    return outcome.error.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("an interrupted comparison keeps the finished rows of all its tables") {
  const TemporaryFolder folder;
  furnish(folder);
  // The first windows take a moment, the last minutes.
  const Outcome outcome = run_interrupted_saying(
      " rows are kept", folder,
      {"bloom", "tiny", "--text", heldout_file(), "--windows", "16,32768", "--limit", "2", "--bias",
       "none", "--model-dtype", "float64", "--by-position", "-o", "x.csv"});
  CHECK(outcome.status == 130);
  CHECK(outcome.error == "ropelab: interrupted; 1 of 2 rows are kept in 'x.csv.partial'\n");
  CHECK(CsvText(folder.read("x.csv.partial")).at(0, "window") == "16");
  CHECK(CsvText(folder.read("x-by-position.csv.partial")).at(0, "window") == "16");
  CHECK(nlohmann::json::parse(folder.read("x.manifest.json.partial")).at("complete") == false);
  CHECK(!fs::exists(folder / "x.csv"));
  // A whole run clears them away.
  CHECK(run_shell_in(folder,
                     "ropelab bloom tiny --text text.txt --windows 64 --bias none --quiet "
                     "--by-position -o x.csv")
            .status == 0);
  CHECK(folder.names() == std::vector<std::string>{"learned", "rotary", "sinusoidal", "text.txt",
                                                   "tiny", "x-by-position.csv", "x.csv",
                                                   "x.manifest.json"});
}

TEST_CASE("a comparison interrupted before its first row says of how many rows") {
  const TemporaryFolder folder;
  furnish(folder);
  const Outcome outcome = run_interrupted_saying(
      " rows are finished", folder,
      {"bloom", "tiny", "--text", heldout_file(), "--windows", "8192", "--bias", "none,pair",
       "--dtype", "float32,bfloat16,float16,float64,float32", "-o", "x.csv"});
  CHECK(outcome.status == 130);
  CHECK(outcome.error == "ropelab: interrupted; 0 of 6 rows are finished\n");
  CHECK(!fs::exists(folder / "x.csv.partial"));
}

TEST_CASE("the manifest says which options had a meaning") {
  const TemporaryFolder folder;
  furnish(folder);
  const auto parameters = [&](const std::string& more) {
    const Outcome outcome = run_shell_in(
        folder, "ropelab bloom tiny --text text.txt --windows 64 --quiet -o x.csv " + more);
    CHECK(outcome.status == 0);
    return nlohmann::json::parse(folder.read("x.manifest.json")).at("parameters");
  };
  const auto pair = parameters("");
  CHECK(pair.at("bias") == "pair");
  CHECK(pair.at("max-phase") == "0.1");
  CHECK(pair.at("dtype") == "float32");
  const auto none = parameters("--bias none");
  for (const char* name : {"max-phase", "dtype", "pipeline", "split"}) {
    CAPTURE(name);
    CHECK(!none.contains(name));
  }
}
