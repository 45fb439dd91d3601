// ropelab bloom: figures that others computed (tests/data/bloom/README.md), what it reads, what it
// refuses, and where its tables go.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/table/csv_reader.hpp"

namespace {

using ropelab::CsvText;
namespace fs = std::filesystem;

std::string data(const std::string& name) {
  return std::string(ROPELAB_TEST_DATA) + "/bloom/" + name;
}
const std::string heldout = data("tiny-kjv/heldout.txt");

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
nlohmann::json json_of(const std::string& path) { return nlohmann::json::parse(bytes_of(path)); }

using Arguments = std::vector<std::string>;

Arguments bloom(const std::string& model, const Arguments& more) {
  Arguments arguments{"bloom", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
// On the held-out text.
Arguments bloom_on_text(const std::string& model, const Arguments& more) {
  Arguments arguments = bloom(data(model), {"--text", heldout});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The tables that a run printed, an empty line between them.
std::vector<CsvText> tables_of(const Outcome& outcome) {
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  std::vector<CsvText> tables;
  const std::string& text = outcome.output;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size() - 1);
    tables.emplace_back(text.substr(begin, end + 1 - begin));
    begin = end + 2;
  }
  return tables;
}

double bloom_number(const CsvText& table, std::size_t row, const std::string& column) {
  const std::string& text = table.at(row, column);
  CAPTURE(column, text);
  REQUIRE(!text.empty());
  return std::stod(text);
}

// The row whose cells say this; the test fails unless there is one alone.
std::size_t row_with(const CsvText& table, const std::map<std::string, std::string>& cells) {
  std::optional<std::size_t> found;
  for (std::size_t row = 0; row < table.records().size(); ++row) {
    bool fits = true;
    for (const auto& [column, text] : cells) fits = fits && table.at(row, column) == text;
    if (!fits) continue;
    REQUIRE(!found);
    found = row;
  }
  CAPTURE(cells);
  REQUIRE(found);
  return *found;
}

const CsvText& simulated_reference() {
  static const CsvText table = ropelab::read_csv_file(data("tiny-kjv/simulated_reference.csv"));
  return table;
}

struct Tolerance {
  double loss;      // nats, of mean cross-entropies and their difference
  double relative;  // of the other figures
  double floor;     // logits, of the largest change: what the rounding of a float logit can do
};

void check_figures(const CsvText& table, std::size_t row, std::size_t expected_row,
                   const Tolerance& tolerance) {
  const CsvText& reference = simulated_reference();
  const auto expected = [&](const char* column) {
    return bloom_number(reference, expected_row, column);
  };
  const auto check = [&](const char* column, double value, double within) {
    INFO(column << " " << bloom_number(table, row, column) << ", not " << value);
    CHECK(std::abs(bloom_number(table, row, column) - value) <= within);
  };
  check("cross_entropy_replaced", expected("mean_cross_entropy_nats"), tolerance.loss);
  check("difference", expected("delta_cross_entropy_nats"), tolerance.loss);
  for (const auto& [column, name] :
       std::map<const char*, const char*>{{"mean_kl", "mean_kl_nats"}, {"max_kl", "max_kl_nats"}}) {
    check(column, expected(name), tolerance.relative * expected(name));
  }
  const double change = expected("max_abs_delta_logit");
  check("max_logit_change", change, tolerance.relative * change + tolerance.floor);
  // Shares are of 16384 positions, of which rounding may turn one.
  check("same_top", expected("top1_agreement"), 1.01 / 16384);
}

// Windows 16 of 1024, as in the reference.
Arguments reference_windows(const Arguments& more) {
  Arguments arguments = bloom_on_text("tiny-kjv", {"--windows", "1024", "--limit", "16"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const std::string same = "ideal-trig,scaling=float32";
const std::string wide_sum = "ideal-trig,accumulation=float32,scaling=float32";

// Rounding that differs between two float forward passes (another order of additions, another
// exp) moves a mean loss by some 1e-8 nats and a logit by some 1e-5.
constexpr double kLossNoise = 1e-7, kLogitNoise = 5e-5;

}  // namespace

TEST_CASE("replacing ALiBi in float64 and float32 gives what a PyTorch run gives") {
  const CsvText table =
      table_of(reference_windows({"--bias", "none,native-relative,pair", "--max-phase", "1",
                                  "--dtype", "float64,float32", "--pipeline", same}));
  REQUIRE(table.records().size() == 4);
  const auto row = [&](const char* bias, const char* dtype) {
    return row_with(table, {{"bias", bias}, {"dtype", dtype}});
  };
  const CsvText& reference = simulated_reference();
  const auto expected = [&](const char* dtype) {
    return row_with(reference, {{"dtype", dtype}, {"accumulate", "same"}, {"phase", "1.0"}});
  };
  // Measured: losses within 2.1e-8 nats, other figures within 1.3e-5 of themselves.
  const Tolerance close{kLossNoise, 1e-4, kLogitNoise};
  check_figures(table, row("pair", "float64"), expected("float64"), close);
  check_figures(table, row("pair", "float32"), expected("float32"), close);
  check_figures(table, row("none", ""), row_with(reference, {{"mode", "control_nobias"}}), close);
  // Nothing but rounding is left here: of each pass by itself, so only the size agrees.
  check_figures(table, row("native-relative", ""),
                row_with(reference, {{"mode", "control_relative"}}),
                {kLossNoise, 0.1, kLogitNoise});
  CHECK(bloom_number(table, 0, "cross_entropy_native") ==
        Approx(bloom_number(reference, row_with(reference, {{"mode", "native"}}),
                            "mean_cross_entropy_nats"))
            .margin(kLossNoise));
}

TEST_CASE("replacing ALiBi in 16-bit formats gives what a PyTorch run gives") {
  const CsvText table = table_of(reference_windows(
      {"--dtype", "bfloat16,float16", "--max-phase", "0.1", "--pipeline", same + "," + wide_sum}));
  REQUIRE(table.records().size() == 4);
  for (std::size_t row = 0; row < 4; ++row) {
    const std::string dtype = table.at(row, "dtype"), pipeline = table.at(row, "pipeline");
    CAPTURE(dtype, pipeline);
    CHECK((pipeline == same || pipeline == wide_sum));
    const std::size_t expected =
        row_with(simulated_reference(), {{"dtype", dtype},
                                         {"accumulate", pipeline == same ? "same" : "float32"},
                                         {"phase", "0.1"}});
    // The reference's sines pass through float64, which could round a few of 8192 components to
    // the neighbour; none has done so: measured within 4e-6.
    check_figures(table, row, expected, {kLossNoise, 1e-4, kLogitNoise});
  }
}

TEST_CASE("an amplitude beyond float16 makes every figure NaN, and no other run's") {
  const CsvText table = table_of(
      bloom_on_text("tiny-kjv", {"--windows", "1024", "--limit", "2", "--dtype", "float16,float32",
                                 "--max-phase", "0.01", "--pipeline", same}));
  const std::size_t broken = row_with(table, {{"dtype", "float16"}});
  for (const char* column : {"cross_entropy_replaced", "difference", "mean_kl", "max_kl",
                             "max_logit_change", "rms_logit_change", "same_top"}) {
    CAPTURE(column);
    CHECK(table.at(broken, column) == "nan");
    CHECK(std::isfinite(bloom_number(table, row_with(table, {{"dtype", "float32"}}), column)));
  }
  CHECK(std::isfinite(bloom_number(table, broken, "cross_entropy_native")));
}

TEST_CASE("losses by position agree with extrapolation.csv") {
  const CsvText reference = ropelab::read_csv_file(data("extrapolation.csv"));
  const auto check = [&](const CsvText& bins, const std::string& bin) {
    const std::size_t row = row_with(bins, {{"bin", bin}});
    CAPTURE(bins.at(row, "model"), bins.at(row, "window"), bin);
    const std::size_t expected = row_with(reference, {{"model", bins.at(row, "model")},
                                                      {"window", bins.at(row, "window")},
                                                      {"mode", bins.at(row, "mode")},
                                                      {"stride", bins.at(row, "stride")},
                                                      {"bin", bin}});
    CHECK(bins.at(row, "count") == reference.at(expected, "count"));
    CHECK(std::abs(bloom_number(bins, row, "cross_entropy_native") -
                   bloom_number(reference, expected, "mean_nats")) < 1e-9);
  };
  const auto bins_of = [](const std::string& model, const Arguments& plan) {
    Arguments arguments =
        bloom_on_text(model, {"--bias", "native", "--model-dtype", "float64", "--by-position"});
    arguments.insert(arguments.end(), plan.begin(), plan.end());
    const auto tables = tables_of(run(arguments));
    REQUIRE(tables.size() == 2);
    return tables[1];
  };
  // Early bins of windows with a stride hold predictions of the first window alone.
  for (const char* model : {"tiny-kjv", "alibi-256-kjv", "t5-kjv", "rotary-kjv", "none-kjv",
                            "sinusoidal-kjv", "sinusoidal-wide-kjv", "learned-kjv"}) {
    const CsvText short_windows =
        bins_of(model, {"--windows", "256", "--stride", "64", "--limit", "1"});
    for (const char* bin : {"0-63", "64-127"}) check(short_windows, bin);
    // The others' long windows: see the next test.
    if (model != std::string("tiny-kjv") && model != std::string("rotary-kjv")) continue;
    const CsvText long_windows =
        bins_of(model, {"--windows", "1024", "--stride", "256", "--limit", "1"});
    for (const char* bin : {"0-63", "64-127", "128-255", "256-511"}) check(long_windows, bin);
  }
  const CsvText all = bins_of("rotary-kjv", {"--windows", "256"});
  REQUIRE(all.records().size() == 4);
  for (const char* bin : {"all", "0-63", "64-127", "128-255"}) check(all, bin);
}

TEST_CASE("the first windows of every model and plan lose what they should") {
  for (const std::string model : {"alibi-256-kjv", "t5-kjv", "rotary-kjv", "none-kjv",
                                  "sinusoidal-kjv", "sinusoidal-wide-kjv", "learned-kjv"}) {
    const auto plans = json_of(data(model + "/reference.json")).at("heldout");
    CHECK(plans.size() >= 2);
    for (const auto& plan : plans) {
      const auto window = plan.at("window").get<std::size_t>();
      const auto stride = plan.at("stride").get<std::size_t>();
      const bool slides = plan.at("mode") == "sliding";
      if (window > 1024 && model != "rotary-kjv") continue;
      const std::size_t limit = window > 1024 ? 1 : 2;
      CAPTURE(model, window, stride);
      Arguments arguments =
          bloom_on_text(model, {"--bias", "native", "--model-dtype", "float64", "--windows",
                                std::to_string(window), "--limit", std::to_string(limit)});
      if (slides) arguments.insert(arguments.end(), {"--stride", std::to_string(stride)});
      const CsvText table = table_of(arguments);
      double sum = 0, count = 0;
      for (std::size_t n = 0; n < limit; ++n) {
        const auto predictions = static_cast<double>(slides && n > 0 ? stride : window - 1);
        sum += predictions * plan.at("first_windows_mean_nats").at(n).get<double>();
        count += predictions;
      }
      CHECK(bloom_number(table, 0, "cross_entropy_native") ==
            Approx(sum / count).margin(1e-9).epsilon(0));
      CHECK(table.at(0, "windows") == std::to_string(limit));
      CHECK(table.at(0, "pipeline") ==
            (slides ? "stride=" + std::to_string(stride) + ",model-dtype=float64"
                    : "model-dtype=float64"));
    }
  }
}

namespace {

// The piece of the held-out text that prompt `n` of a reference is.
std::string prompt_text(const nlohmann::json& prompt) {
  return bytes_of(heldout).substr(prompt.at("offset_in_heldout").get<std::size_t>(),
                                  prompt.at("length").get<std::size_t>());
}

}  // namespace

TEST_CASE("attention statistics of every layer and head agree with Hugging Face's") {
  const std::map<std::string, std::string> names = {{"entropy", "mean_entropy_nats"},
                                                    {"max_weight", "mean_max_weight"},
                                                    {"variance", "mean_variance"}};
  for (const std::string model : {"tiny-kjv", "random-6head"}) {
    const auto prompt = json_of(data(model + "/reference.json")).at("prompts").at(1);
    const std::string window = std::to_string(prompt.at("length").get<int>());
    const TemporaryFolder folder;
    folder.write("prompt.txt", prompt_text(prompt));
    for (const auto& [dtype, arithmetic, tolerance] :
         {std::tuple("float64", "float64_softmax64", 1e-9),
          std::tuple("float32", "float32", 1e-5)}) {
      const auto& expected = prompt.at(arithmetic);
      const auto tables = tables_of(run(
          bloom(data(model), {"--text", folder / "prompt.txt", "--windows", window, "--bias",
                              "native,native-absolute", "--model-dtype", dtype, "--attention"})));
      REQUIRE(tables.size() == 2);
      CAPTURE(model, dtype);
      for (const char* column : {"cross_entropy_native", "cross_entropy_replaced"}) {
        CHECK(bloom_number(tables[0], 1, column) ==
              Approx(expected.at("mean_cross_entropy_nats").get<double>())
                  .margin(tolerance)
                  .epsilon(0));
      }
      const auto& layers = expected.at("attention");
      std::size_t rows = 0;
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const auto& heads = layers.at("layer_" + std::to_string(layer));
        for (std::size_t head = 0; head < heads.size(); ++head) {
          const auto row_of = [&](const char* bias) {
            ++rows;
            return row_with(tables[1], {{"bias", bias},
                                        {"layer", std::to_string(layer + 1)},
                                        {"head", std::to_string(head + 1)}});
          };
          const std::size_t alone = row_of("native"), both = row_of("native-absolute");
          for (const auto& [column, name] : names) {
            CAPTURE(layer, head, column);
            const double value = heads[head].at(name).get<double>();
            const auto is_value = [&](std::size_t row, const std::string& which) {
              return std::abs(bloom_number(tables[1], row, column + which) - value) <= tolerance;
            };
            CHECK(is_value(alone, "_native"));
            CHECK(tables[1].at(alone, column + "_replaced").empty());
            CHECK(tables[1].at(alone, column + "_difference").empty());
            CHECK(is_value(both, "_native"));
            CHECK(is_value(both, "_replaced"));
            CHECK(tables[1].at(both, column + "_difference") == "0");
          }
        }
      }
      CHECK(tables[1].records().size() == rows);
    }
  }
}

TEST_CASE("checkpoints of 16 bits, as files and as folders") {
  const auto prompt = json_of(data("tiny-kjv/reference.json")).at("prompts").at(1);
  const TemporaryFolder folder;
  folder.write("prompt.txt", prompt_text(prompt));
  for (const std::string name : {"bf16", "fp16"}) {
    CAPTURE(name);
    const fs::path copy = folder / name;
    fs::create_directory(copy);
    fs::copy(data("tiny-kjv/config.json"), copy);
    fs::copy(data("tiny-kjv/model-" + name + ".safetensors"), copy / "model.safetensors");
    for (const std::string& model :
         {copy.string(), data("tiny-kjv/model-" + name + ".safetensors")}) {
      const CsvText table = table_of(
          bloom(model, {"--text", folder / "prompt.txt", "--windows", "256", "--bias", "native"}));
      CHECK(table.at(0, "model") == fs::path(model).filename());
      // In float, whose noise is some 1e-7 over these 255 predictions; float32's own weights give
      // another loss in the fifth digit.
      CHECK(bloom_number(table, 0, "cross_entropy_native") ==
            Approx(prompt.at(name + "_weights").at("mean_cross_entropy_nats").get<double>())
                .margin(1e-6)
                .epsilon(0));
    }
  }
}

TEST_CASE("what replaces a rotation leaves it out") {
  const auto rotary = json_of(data("rotary-kjv/reference.json")).at("prompts").at(1);
  const TemporaryFolder folder;
  folder.write("prompt.txt", prompt_text(rotary));
  const auto loss = [&](const char* model, const char* bias) {
    const CsvText table =
        table_of(bloom(data(model), {"--text", folder / "prompt.txt", "--windows", "256", "--bias",
                                     bias, "--model-dtype", "float64"}));
    return bloom_number(table, 0, "cross_entropy_replaced");
  };
  // Of a PyTorch program, to six decimals: tests/data/bloom/README.md.
  CHECK(loss("rotary-kjv", "none") == Approx(4.315013).margin(6e-7).epsilon(0));
  CHECK(loss("rotary-kjv", "native-relative") == Approx(4.016887).margin(6e-7).epsilon(0));
  CHECK(loss("none-kjv", "native-relative") == Approx(2.799940).margin(6e-7).epsilon(0));
}

TEST_CASE("a rotation in formats, at the start of a text and far on") {
  const auto losses = [](const Arguments& more) {
    Arguments arguments = bloom_on_text("rotary-kjv", {"--windows", "256", "--limit", "2"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return table_of(arguments);
  };
  for (const char* first : {"0", "64K", "1M"}) {
    CAPTURE(first);
    const CsvText exact = losses({"--dtype", "float64", "--pipeline", "exact", "--model-dtype",
                                  "float64", "--first-position", first});
    // Angles of the plain rotation at 2^20 are off by 1e-10 rad.
    CHECK(std::abs(bloom_number(exact, 0, "difference")) < 1e-8);
    CHECK(bloom_number(exact, 0, "max_logit_change") < 1e-7);
    CHECK(exact.at(0, "max_phase").empty());
    const CsvText rounded =
        losses({"--dtype", "float16,bfloat16", "--pipeline", "naive", "--first-position", first});
    REQUIRE(rounded.records().size() == 2);
    for (std::size_t row = 0; row < 2; ++row) {
      CHECK(rounded.at(row, "bias") == "rotary");
      // Beyond 65504 a float16 position is infinite, and its cosine NaN.
      const bool is_lost = rounded.at(row, "dtype") == "float16" && first != std::string("0");
      CHECK(std::isnan(bloom_number(rounded, row, "difference")) == is_lost);
      if (!is_lost) CHECK(bloom_number(rounded, row, "max_logit_change") > 1e-3);
    }
    // bfloat16 tells no two of these positions apart far on: the text has no order left.
    const double loss = bloom_number(rounded, 1, "cross_entropy_replaced");
    CHECK((first == std::string("0") ? loss < 3 : loss > 3));
  }
}

TEST_CASE("the bias of a pair does not see where the text starts, but for rounding") {
  const auto table = [](const char* first) {
    return table_of(bloom_on_text(
        "tiny-kjv",
        {"--windows", "256", "--limit", "2", "--dtype", "float64", "--pipeline", "exact",
         "--model-dtype", "float64", "--theta", "1e-4", "--first-position", first}));
  };
  const CsvText here = table("0"), there = table("1M");
  CHECK(bloom_number(here, 0, "cross_entropy_replaced") ==
        Approx(bloom_number(there, 0, "cross_entropy_replaced")).margin(1e-9).epsilon(0));
  CHECK(bloom_number(here, 0, "max_phase") == Approx(0.0256).epsilon(1e-15));
  CHECK(here.at(0, "pipeline") == "exact,model-dtype=float64");
  CHECK(there.at(0, "pipeline") == "exact,first-position=1048576,model-dtype=float64");
}

TEST_CASE("theta and max phase say the same, and settings without a column are in the pipeline") {
  const auto row = [](const Arguments& more) {
    Arguments arguments = bloom_on_text("tiny-kjv", {"--windows", "64", "--limit", "2"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments).output;
  };
  CHECK(row({"--theta", "1/64"}) == row({"--max-phase", "1"}));
  CHECK(row({"--theta", "1/64"}) != row({"--theta", "1/65"}));
  const CsvText table = table_of(bloom_on_text(
      "tiny-kjv", {"--windows", "64", "--limit", "1", "--dtype", "float8_e4m3fn,float32",
                   "--saturate", "--split", "query,even", "--stride", "64"}));
  REQUIRE(table.records().size() == 4);
  CHECK(table.at(0, "pipeline") == "fused,saturate,stride=64");
  CHECK(table.at(1, "pipeline") == "fused,saturate,split=even,stride=64");
  CHECK(table.at(2, "pipeline") == "fused,stride=64");
  CHECK(table.at(3, "pipeline") == "fused,split=even,stride=64");
}

namespace {

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
  const std::string text = bytes_of(heldout).substr(0, 300);
  folder.write("text.txt", text);
  std::string ids;
  for (const char byte : text) ids += std::to_string(static_cast<unsigned char>(byte)) + "\n";
  folder.write("ids.txt", ids);
  folder.write("ids.npy", npy(text));
  const auto output = [&](const char* option, const char* file) {
    const Outcome outcome =
        run(bloom(data("tiny-kjv"), {option, folder / file, "--windows", "100"}));
    CAPTURE(outcome.error);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string from_text = output("--text", "text.txt");
  CHECK(CsvText(from_text).at(0, "windows") == "3");
  CHECK(output("--tokens", "ids.txt") == from_text);
  CHECK(output("--tokens", "ids.npy") == from_text);
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
  folder.write("short.txt", bytes_of(heldout).substr(0, 100));
  CHECK(table_of(bloom(data("tiny-kjv"),
                       {"--text", folder / "short.txt", "--windows", "32", "--limit", "99"}))
            .at(0, "windows") == "3");
}

TEST_CASE("a design of ropelab design stands in for ALiBi") {
  const TemporaryFolder folder;
  const Outcome designed = run_shell_in(
      folder,
      "ropelab design --heads 4 --head all --head-dim 32 --context 32 --dtype float32 --pipeline "
      "fused --method single --model-file one.json -o one.csv && ropelab design --heads 4 --head "
      "all --head-dim 32 --context 32 --dtype float16 --pipeline fused --method dyadic "
      "--model-file dyadic.json -o dyadic.csv");
  CAPTURE(designed.error);
  REQUIRE(designed.status == 0);
  const std::string one = "design:" + (folder / "one.json"),
                    dyadic = "design:" + (folder / "dyadic.json");
  const CsvText table = table_of(bloom_on_text(
      "tiny-kjv", {"--windows", "32", "--limit", "8", "--bias", one + "," + dyadic + ",none"}));
  REQUIRE(table.records().size() == 3);
  CHECK(table.at(0, "bias") == one);
  CHECK(table.at(0, "dtype") == "float32");
  CHECK(table.at(1, "dtype") == "float16");
  CHECK(table.at(1, "pipeline") == "fused");
  CHECK(table.at(0, "max_phase").empty());
  // Their errors are hundredths of a logit at most.
  for (std::size_t row : {0, 1}) {
    CHECK(bloom_number(table, row, "max_logit_change") > 0);
    CHECK(std::abs(bloom_number(table, row, "difference")) < 1e-3);
    CHECK(bloom_number(table, row, "same_top") > 0.99);
  }
  const Arguments on_one = {"--limit", "1", "--bias", one, "--windows"};
  const auto remark = [&](const char* window) {
    Arguments arguments = bloom_on_text("tiny-kjv", on_one);
    arguments.push_back(window);
    return run(arguments).error;
  };
  CHECK(remark("32").empty());
  CHECK_THAT(remark("33"), ContainsSubstring("'" + one +
                                             "' was designed for 32 positions, fewer "
                                             "than the 33 of a window"));
  // Of other heads, of another dimension, of one head alone.
  run_shell_in(folder,
               "ropelab design --heads 8 --head all --head-dim 32 --context 8 --dtype float32 "
               "--method single --model-file eight.json -o eight.csv; ropelab design --heads 4 "
               "--head all --head-dim 64 --context 8 --dtype float32 --method single --model-file "
               "wide.json -o wide.csv; ropelab design --heads 4 --head 1 --head-dim 32 --context 8 "
               "--dtype float32 --method single --model-file first.json -o first.csv");
  for (const auto& [file, head] :
       {std::pair("eight.json", "1"), std::pair("wide.json", "1"), std::pair("first.json", "2")}) {
    const std::string word = "design:" + (folder / file);
    const Outcome outcome = run(bloom_on_text("tiny-kjv", {"--windows", "64", "--bias", word}));
    CHECK(outcome.status == 2);
    CHECK(outcome.error ==
          "ropelab: --bias: '" + word + "' has no design of head " + head +
              " of 4 with head_dim 32, which this model needs; ropelab design --heads 4 --head all "
              "--head-dim 32 makes one\n");
  }
  // Two designs for the same head.
  run_shell_in(folder,
               "ropelab design --heads 4 --head all --head-dim 32 --context 32 --dtype "
               "float16,float32 --method single --model-file two.json -o two.csv");
  const std::string two = "design:" + (folder / "two.json");
  const Outcome outcome = run(bloom_on_text("tiny-kjv", {"--windows", "64", "--bias", two}));
  CHECK(outcome.status == 2);
  CHECK(outcome.error == "ropelab: --bias: '" + two +
                             "' has 2 designs of head 1; a file with one, of one context, dtype, "
                             "pipeline and method, would be right\n");
}

TEST_CASE("one thread and two give the same bytes") {
  const auto output = [](const char* threads) {
    return run(bloom_on_text("tiny-kjv", {"--windows", "300", "--limit", "3", "--stride", "100",
                                          "--attention", "--by-position", "--bias", "pair,none",
                                          "--dtype", "float16,float32", "--threads", threads}))
        .output;
  };
  const std::string one = output("1");
  CHECK(one.size() > 1000);
  CHECK(output("2") == one);
}

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
  folder.write("text.txt", bytes_of(heldout).substr(0, 200));
  fs::create_directory_symlink(data("tiny-kjv"), folder / "tiny");
  for (const char* name : {"rotary", "learned", "sinusoidal"}) {
    fs::create_directory_symlink(data(std::string(name) + "-kjv"), folder / name);
  }
}

}  // namespace

TEST_CASE("checkpoints and texts that cannot be read are refused in one sentence") {
  const TemporaryFolder folder;
  furnish(folder);
  for (const char* name : {"empty", "bare", "headless", "unsafe", "gpt"}) {
    fs::create_directory(folder / name);
  }
  fs::copy(data("tiny-kjv/config.json"), folder / "bare/config.json");
  fs::copy(data("tiny-kjv/config.json"), folder / "unsafe/config.json");
  for (const char* name : {"headless", "gpt"}) {
    fs::copy(data("random-6head/model.safetensors"),
             folder / (name + std::string("/model.safetensors")));
  }
  folder.write("unsafe/model.safetensors", "hello\n");
  folder.write("gpt/config.json", R"({"model_type": "gpt2"})");
  folder.write("empty.txt", "");
  folder.write("one.txt", "a");
  folder.write("words.txt", "1 2\n3 four\n");
  folder.write("large.txt", "1 2 256\n");
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
       {{"learned", "--text", heldout, "--windows", "256,257"},
        "--windows: '257' is too long; the model has learned 256 positions, so one of at most 256 "
        "would be right"},
       {{"learned", "--text", heldout, "--windows", "256", "--first-position", "1"},
        "--windows: '256' is too long; the model has learned 256 positions, so one of at most 255 "
        "would be right from position 1 on"},
       {{"learned", "--text", heldout, "--windows", "256", "--first-position", "300"},
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
  CHECK(nlohmann::json::parse(alone.output) == object.at("table"));
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

TEST_CASE("an interrupted comparison keeps the finished rows of all its tables") {
  const TemporaryFolder folder;
  furnish(folder);
  Circumstances interrupted;
  interrupted.folder = folder.path();
  interrupted.interrupt_after_seconds = 2;
  // The first windows take a moment, the last minutes.
  const Outcome outcome =
      run({"bloom", "tiny", "--text", heldout, "--windows", "16,32768", "--limit", "2", "--bias",
           "none", "--model-dtype", "float64", "--by-position", "-o", "x.csv"},
          interrupted);
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
