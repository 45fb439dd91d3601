// ropelab bloom: figures that others computed (tests/data/bloom/README.md).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "app/bloom_program.hpp"

namespace {

using ropelab::CsvText;
namespace fs = std::filesystem;

const CsvText& simulated_reference() {
  static const CsvText table =
      ropelab::read_csv_file(bloom_data("tiny-kjv/simulated_reference.csv"));
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
  for (const char* column :
       {"cross_entropy_replaced", "difference", "mean_kl", "max_kl", "max_logit_change",
        "rms_logit_change", "same_top", "bits_per_byte_replaced", "rms_probability_change"}) {
    CAPTURE(column);
    CHECK(table.at(broken, column) == "nan");
    CHECK(std::isfinite(bloom_number(table, row_with(table, {{"dtype", "float32"}}), column)));
  }
  CHECK(std::isfinite(bloom_number(table, broken, "cross_entropy_native")));
}

TEST_CASE("losses by position agree with extrapolation.csv") {
  const CsvText reference = ropelab::read_csv_file(bloom_data("extrapolation.csv"));
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
    const auto plans = json_of(bloom_data(model + "/reference.json")).at("heldout");
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
  return bytes_of(heldout_file())
      .substr(prompt.at("offset_in_heldout").get<std::size_t>(),
              prompt.at("length").get<std::size_t>());
}

}  // namespace

TEST_CASE("attention statistics of every layer and head agree with Hugging Face's") {
  const std::map<std::string, std::string> names = {{"entropy", "mean_entropy_nats"},
                                                    {"max_weight", "mean_max_weight"},
                                                    {"variance", "mean_variance"}};
  for (const std::string model : {"tiny-kjv", "random-6head"}) {
    const auto prompt = json_of(bloom_data(model + "/reference.json")).at("prompts").at(1);
    const std::string window = std::to_string(prompt.at("length").get<int>());
    const TemporaryFolder folder;
    folder.write("prompt.txt", prompt_text(prompt));
    for (const auto& [dtype, arithmetic, tolerance] :
         {std::tuple("float64", "float64_softmax64", 1e-9),
          std::tuple("float32", "float32", 1e-5)}) {
      const auto& expected = prompt.at(arithmetic);
      const auto tables = tables_of(run(bloom(
          bloom_data(model), {"--text", folder / "prompt.txt", "--windows", window, "--bias",
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
            const auto is_value = [&, name_of = column, most = tolerance](
                                      std::size_t row, const std::string& which) {
              return std::abs(bloom_number(tables[1], row, name_of + which) - value) <= most;
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

TEST_CASE("losses also stand in bits per byte, and the largest differences of attention") {
  const Arguments arguments =
      bloom_on_text("tiny-kjv", {"--windows", "128", "--limit", "2", "--bias", "native,none"});
  Arguments with_attention = arguments;
  with_attention.push_back("--attention");
  const auto tables = tables_of(run(with_attention));
  REQUIRE(tables.size() == 2);
  const CsvText alone = table_of(arguments);
  const std::vector<std::string> appended = {
      "bits_per_byte_native",       "bits_per_byte_replaced",        "rms_probability_change",
      "largest_entropy_difference", "largest_max_weight_difference", "largest_variance_difference"};
  const std::vector<std::string> columns = alone.columns();
  REQUIRE(columns.size() == 20 + appended.size());
  CHECK(std::vector<std::string>(columns.begin() + 20, columns.end()) == appended);
  for (const char* which : {"native", "replaced"}) {
    constexpr double bits_in_a_nat = 1.442695040888963407;
    CHECK(bloom_number(alone, 1, std::string("bits_per_byte_") + which) ==
          Approx(bits_in_a_nat * bloom_number(alone, 1, std::string("cross_entropy_") + which))
              .epsilon(1e-15));
  }
  CHECK(alone.at(0, "bits_per_byte_native") == alone.at(1, "bits_per_byte_native"));
  CHECK(bloom_number(alone, 1, "rms_probability_change") > 0.1);
  CHECK(bloom_number(alone, 1, "rms_probability_change") < 1);
  for (const char* column : {"bits_per_byte_replaced", "rms_probability_change"}) {
    CHECK(alone.at(0, column).empty());
  }
  for (const std::string statistic : {"entropy", "max_weight", "variance"}) {
    CAPTURE(statistic);
    double largest = 0;
    for (std::size_t row = 0; row < tables[1].records().size(); ++row) {
      if (tables[1].at(row, "bias") != "none") continue;
      largest =
          std::max(largest, std::abs(bloom_number(tables[1], row, statistic + "_difference")));
    }
    const std::string column = "largest_" + statistic + "_difference";
    CHECK(largest > 0);
    CHECK(bloom_number(tables[0], 1, column) == largest);
    CHECK(tables[0].at(0, column).empty());
    CHECK(alone.at(1, column).empty());
  }
}

TEST_CASE("checkpoints of 16 bits, as files and as folders") {
  const auto prompt = json_of(bloom_data("tiny-kjv/reference.json")).at("prompts").at(1);
  const TemporaryFolder folder;
  folder.write("prompt.txt", prompt_text(prompt));
  for (const std::string name : {"bf16", "fp16"}) {
    CAPTURE(name);
    const fs::path copy = folder / name;
    fs::create_directory(copy);
    fs::copy(bloom_data("tiny-kjv/config.json"), copy);
    fs::copy(bloom_data("tiny-kjv/model-" + name + ".safetensors"), copy / "model.safetensors");
    for (const std::string& model :
         {copy.string(), bloom_data("tiny-kjv/model-" + name + ".safetensors")}) {
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
  const auto rotary = json_of(bloom_data("rotary-kjv/reference.json")).at("prompts").at(1);
  const TemporaryFolder folder;
  folder.write("prompt.txt", prompt_text(rotary));
  const auto loss = [&](const char* model, const char* bias) {
    const CsvText table =
        table_of(bloom(bloom_data(model), {"--text", folder / "prompt.txt", "--windows", "256",
                                           "--bias", bias, "--model-dtype", "float64"}));
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
  for (const std::size_t row : std::vector<std::size_t>{0, 1}) {
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
