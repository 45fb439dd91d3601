// Model files: written by design and fit, read back, and broken.
#include "app/design_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "app/program.hpp"
#include "catch.hpp"
#include "ropelab/errors/score_rows.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab::app {
namespace {

// A table, and the heads of the model file written with it.
struct Written {
  CsvText table;
  std::vector<DesignedHead> heads;
};

Written written_design(const std::string& line) {
  CAPTURE(line);
  const TemporaryFolder folder;
  CsvText table = table_of(run_shell_in(folder, "ropelab " + line + " --model-file model.json"));
  return {std::move(table), read_design_file(folder / "model.json")};
}

HeadTask task_of(const DesignedHead& head) {
  return alibi_task(slope_of_score(head).value(), head.head_dim,
                    static_cast<std::size_t>(head.context), static_cast<std::size_t>(head.window),
                    head.pipeline);
}

template <class Number>
std::string cell(const std::optional<Number>& x) {
  return x ? fmt::format("{}", *x) : "";
}

// The figures of one row, measured again from what the file holds.
void check_row(const CsvText& table, std::size_t row, const DesignedHead& head) {
  INFO(table.at(row, "method") << " " << table.at(row, "dtype") << " "
                               << table.at(row, "pipeline"));
  CHECK(table.at(row, "context") == std::to_string(head.context));
  CHECK(table.at(row, "head_dim") == std::to_string(head.head_dim));
  CHECK(table.at(row, "dtype") == head.dtype);
  CHECK(table.at(row, "pipeline") == head.pipeline_cell);
  CHECK(table.at(row, "method") == name_of(head.design.method));
  CHECK(table.at(row, "slope") == fmt::format("{}", head.slope->to_double()));
  const DesignErrors errors = measure(task_of(head), head.design);
  const PairErrors& pairs = errors.measurement.errors;
  CHECK(table.at(row, "truncation_max_abs") == fmt::format("{}", errors.truncation.maximum));
  CHECK(table.at(row, "truncation_rms") == fmt::format("{}", errors.truncation.rms));
  REQUIRE(pairs.rounding_maximum);
  CHECK(table.at(row, "rounding_max_abs") == fmt::format("{}", pairs.rounding_maximum->error));
  CHECK(table.at(row, "rounding_max_i") == std::to_string(pairs.rounding_maximum->i));
  CHECK(table.at(row, "rounding_max_j") == std::to_string(pairs.rounding_maximum->j));
  CHECK(table.at(row, "rounding_rms") == cell(pairs.rounding_rms));
  CHECK(table.at(row, "total_max_abs") == cell(pairs.total_maximum));
  CHECK(table.at(row, "total_rms") == cell(pairs.total_rms));
  CHECK(table.at(row, "visible_max_abs") == cell(pairs.visible_maximum));
  CHECK(table.at(row, "weights_tv_exact") ==
        fmt::format("{}", errors.exact_weights_total_variation));
  CHECK(table.at(row, "weights_tv_computed") == cell(errors.measurement.weights_total_variation));
}

// The largest error of the scores that a model would add.
double largest_error(const DesignedHead& head) {
  const auto size = static_cast<std::size_t>(head.context);
  const ScoreRows rows(head.pipeline, score_scale(head), score_table(head, 0, size));
  std::vector<double> scores(size * size);
  rows.fill({0, size, 0, size}, scores.data(), size);
  const double slope = slope_of_score(head)->to_double();
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j =
             i + 1 - std::min<std::size_t>(i + 1, static_cast<std::size_t>(head.window));
         j <= i; ++j) {
      const double bias = -slope * static_cast<double>(i - j) + head.design.offset;
      largest = std::max(largest, std::fabs(scores[i * size + j] - bias));
    }
  }
  return largest;
}

TEST_CASE("what is read back from a model file measures as the table says") {
  for (const std::string line :
       {"--compare --heads 6 --head 1,6 --context 200 --dtype float16,float32 --pipeline fused "
        "--max-pairs 3 --base 1e4 --rope-dim 32",
        "--compare --head 3 --context 150 --dtype bfloat16,float64 --pipeline "
        "naive,accumulation=float32-fma --base 5e5 --rope-dim 62 --scaling ntk:factor=3 "
        "--head-dim 80",
        "--method best,rank-2,native --head 2 --context 120 --window 50 --dtype "
        "float8_e5m2,float16 "
        "--pipeline fp32-rope --saturate --bias-scale before",
        "--method single,native --slope 0.3,1/7 --context 100 --dtype float16 --pipeline fused "
        "--kv-heads ''",
        "--method grid --slope 0.01 --context 128 --dtype float32 --pipeline fused --base 1e4 "
        "--rope-dim 32 --scaling "
        "yarn:factor=32/3:original=64:truncate=false,llama3:factor=8:original=100"}) {
    CAPTURE(line);
    const Written both = written_design("design " + line);
    std::size_t n = 0;
    for (std::size_t row = 0; row < both.table.records().size(); ++row) {
      if (both.table.at(row, "status") != "ok") continue;
      REQUIRE(n < both.heads.size());
      const DesignedHead& head = both.heads[n++];
      check_row(both.table, row, head);
      if (head.design.method == Method::native) continue;
      // Doubles stand for the bias here.
      const double total = std::stod(both.table.at(row, "total_max_abs"));
      CHECK(largest_error(head) == Approx(total).margin(1e-12).epsilon(1e-9));
    }
    CHECK(n == both.heads.size());
    CHECK(n >= 2);
  }
}

TEST_CASE("a model file of fit is read back, the bias by its name") {
  const Written both = written_design(
      "fit --target kerple-log,alibi --heads 4 --head 2 --context 90 --dtype bfloat16 --pipeline "
      "fused --max-pairs 2");
  REQUIRE(both.heads.size() == 2);
  CHECK(both.heads[0].target == "kerple-log:r1=1:r2=1");
  CHECK_FALSE(both.heads[0].step);
  CHECK_FALSE(both.heads[0].head);
  CHECK(both.table.at(0, "offset") == fmt::format("{}", both.heads[0].design.offset));
  CHECK(both.heads[1].heads == 4);
  CHECK(both.heads[1].head == 2);
  check_row(both.table, 1, both.heads[1]);
}

// Of a head as no search would find it.
DesignedHead odd_head() {
  DesignedHead head{};
  head.slope = parse_positive("2^(-1/2)");
  head.context = 50;
  head.window = 20;
  head.head_dim = 80;
  head.dtype = "float8_e4m3fn";
  head.pipeline = parse_pipeline("fused,accumulation=float32-fma,table=exact",
                                 saturating(find_format("float8_e4m3fn")), EightBit::saturates);
  head.pipeline_cell = "fused,accumulation=float32-fma,table=exact,saturate,window=20";
  head.step = *head.slope * square_root(Rational(80));
  head.design.method = Method::multi_pair;
  head.design.pairs = {
      {parse_positive("1/3"), {-0.0, 0.1}, {5e-324, -1.7976931348623157e308}},
      {Algebraic::power(500000, -62, 64) * Algebraic(Rational(3, 7), 63), {1, 0}, {0, -1}}};
  head.design.offset = -1.0 / 3;
  return head;
}

TEST_CASE("everything that makes a head's scores is read back to the bit") {
  const TemporaryFolder folder;
  const DesignedHead head = odd_head();
  DesignedHead factors = head;
  factors.design = {.method = Method::rank_two, .factor_terms = 3, .unit_exponent = -5};
  factors.heads = 12;
  factors.head = 7;
  folder.write("model.json", design_file({head, factors}));
  const auto read = read_design_file(folder / "model.json");
  REQUIRE(read.size() == 2);
  CHECK(read[0].slope == head.slope);
  CHECK(read[0].step == head.step);
  CHECK(read[0].window == 20);
  CHECK(read[0].head_dim == 80);
  CHECK(read[0].pipeline.steps == head.pipeline.steps);
  CHECK(read[0].pipeline.fused_accumulation);
  CHECK(read[0].pipeline.name == head.pipeline.name);
  CHECK(read[0].pipeline_cell == head.pipeline_cell);
  CHECK(read[0].design.offset == -1.0 / 3);
  CHECK(read[0].design.pairs == head.design.pairs);
  CHECK(std::signbit(read[0].design.pairs[0].query[0]));
  CHECK(score_scale(read[0]) == Algebraic(Rational(1, 80), 2));
  CHECK(slope_of_score(read[0]) == head.slope);
  CHECK(read[1].heads == 12);
  CHECK(read[1].head == 7);
  CHECK(read[1].design.method == Method::rank_two);
  CHECK(read[1].design.factor_terms == 3);
  CHECK(read[1].design.unit_exponent == -5);
  CHECK(design_file(read) == folder.read("model.json"));
}

TEST_CASE("a table of a read-back head is the design's own") {
  DesignedHead head = odd_head();
  head.pipeline = parse_pipeline("naive", find_format("float32"));
  const ScoreTable table = score_table(head, 5, 30);
  const ScoreTable expected = score_table(head.pipeline, head.design.pairs, 5, 30);
  REQUIRE(table.terms() == 4);
  for (std::size_t n = 0; n < 4; ++n) CHECK(table.key[n].high == expected.key[n].high);
  head.design = {.method = Method::rank_two, .factor_terms = 2};
  CHECK(score_table(head, 0, 30).terms() == 4);
  head.design = {.method = Method::native};
  CHECK_THROWS_AS(score_table(head, 0, 30), std::invalid_argument);
}

TEST_CASE("a broken model file is refused in one sentence that begins with its path") {
  struct Broken {
    std::string from, to, part;  // the first `from` becomes `to`
  };
  const std::string good = design_file({odd_head()});
  const std::vector<Broken> table{
      {"{", "", "this is not JSON"},
      {good, "", "this is not JSON"},
      {good, "[1]", "it holds a list"},
      {good, "{}", "it has no format; 'ropelab design 2'"},
      {good, "{\"format\": \"ropelab design 2\"}", "it has no list of heads"},
      {good, "{\"format\": \"ropelab design 2\", \"heads\": []}", "it has no list of heads"},
      {good, "{\"format\": \"ropelab design 2\", \"heads\": [3]}", "head 1 of its list: it is 3"},
      {"ropelab design 2", "ropelab design 1", "its format is \"ropelab design 1\""},
      {"\"context\": 50", "\"contest\": 50", "it has no context"},
      {"\"context\": 50", "\"context\": 0", "context: '0'"},
      {"\"context\": 50", "\"context\": \"50\"", "context is \"50\"; a whole number"},
      {"\"context\": 50", "\"context\": 50.5", "context: '50.5' is not a whole number"},
      {"\"context\": 50", "\"context\": 10", "window: '20'"},
      {"\"head_dim\": 80", "\"head_dim\": -80", "head_dim: '-80'"},
      {"\"head_dim\": 80", "\"head_dim\": 64", "score_scale has 0.1118"},
      {"\"dtype\": \"float8_e4m3fn\"", "\"dtype\": \"float12\"", "dtype: 'float12'"},
      {"\"steps\": \"fused", "\"steps\": \"infused", "steps: 'infused' is not a pipeline"},
      {"\"saturate\": true", "\"saturate\": 1", "saturate is 1; true or false"},
      {"\"saturate\": true,", "", "it has no saturate"},
      {"\"multi-pair\"", "\"many\"", "method is 'many'; one of single, dyadic"},
      {"\"multi-pair\"", "\"native\"", "it has 2 frequencies; 'native' has none"},
      {"\"multi-pair\"", "\"rank-2\"", "it has 2 frequencies; 'rank-2' has none"},
      {"\"extra_dimensions\": 4", "\"extra_dimensions\": 2", "extra_dimensions has 2"},
      {"0.3333333333333333", "0.25", "inverse_frequencies has 0.25 where inverse_frequencies_hex"},
      {"0.3333333333333333", "1e-999", "inverse_frequencies holds '1e-999'"},
      {"0.3333333333333333", "null", "inverse_frequencies holds null; numbers alone"},
      {"\"3^-1\"", "\"3^-2\"", "inverse_frequencies has 0.3333333333333333 where"},
      {"\"3^-1\"", "\"1/3\"", "'1/3' is no product of powers"},
      {"\"3^-1\"", "\"2^(1/0)\"", "is no product of powers"},
      {"\"3^-1\",", "", "inverse_frequencies holds 2 numbers; 1 would be right"},
      {"\"-0x0p+0\"", "\"0x0p+0\"", "query has -0 where query_hex is 0"},
      {"\"-0x0p+0\"", "\"0\"", "query_hex holds '0'; a number that float64 has, as in 0x1.8p+1"},
      {"\"-0x0p+0\"", "\"nan\"", "query_hex holds 'nan'"},
      {"\"-0x0p+0\"", "7", "query_hex holds 7; strings alone"},
      {"\"-0x0p+0\",", "", "query_hex holds 3 numbers; 4 would be right"},
      {"\"key\":", "\"kee\":", "it has no key; a list of numbers"},
      {"\"slope_exact\": \"2^(-1/2)\"", "\"slope_exact\": \"2^(-1/3)\"", "slope has 0.7071"},
      {"\"slope_exact\"", "\"slope_exactly\"", "it has no slope_exact"},
      {"\"slope\":", "\"slop\":", "it has no slope; a number"},
      {"\"offset\": -0", "\"offset\": \"\", \"x\": -0", "offset is \"\"; a number"},
      {"\"offset\": -0", "\"offset\": -1e300, \"x\": -0",
       "offset is -1e+300; a number that float32 has"},
      {"\"pipeline\": \"fused", "\"pipeline\": \"naive",
       "by steps and saturate, 'fused,accumulation=float32-fma,table=exact,saturate', and "
       "settings"},
      {",saturate,window=20", ",window=20",
       "pipeline is 'fused,accumulation=float32-fma,table=exact,"},
      {",saturate,window=20", ",saturate\\n", "table=exact,saturate\\x0a'; by steps"},
      {",saturate,window=20", ",saturate,\\\"", "saturate,\"'; by steps"},
      {",saturate,window=20", ",saturated", "saturated'; by steps"},
      {"table=exact\",", "table=exact,table=exact\",",
       "steps: 'fused,accumulation=float32-fma,table=exact,table=exact' gives the step table more"},
      {"\"bias_enters\"", "\"bias\"", "it has no bias_enters; a string"},
      {"as extra components", "as it likes", "bias_enters is 'as it likes: each pair"},
      {"\"window\": 20", "\"window\": 20, \"head\": 1", "it has no heads"},
      {"\"window\": 20", "\"window\": 20, \"heads\": 4, \"head\": 5", "head: '5'"},
      {"\"window\": 20", "\"window\": 20, \"window\": 20", "'window' more than once"},
  };
  const TemporaryFolder folder;
  const std::string path = folder / "model.json";
  for (const Broken& broken : table) {
    INFO(broken.from.substr(0, 40) << " -> " << broken.to);
    std::string text = good;
    const auto place = text.find(broken.from);
    REQUIRE(place != std::string::npos);
    folder.write("model.json", text.replace(place, broken.from.size(), broken.to));
    std::string sentence = "nothing was refused";
    try {
      read_design_file(path);
    } catch (const std::invalid_argument& problem) {
      sentence = problem.what();
    }
    CHECK_THAT(sentence, ContainsSubstring(broken.part));
    CHECK(sentence.rfind("'" + path + "': ", 0) == 0);
    CHECK(std::count(sentence.begin(), sentence.end(), '\n') == 0);
  }
  CHECK_THROWS_AS(read_design_file(folder / "none.json"), std::invalid_argument);
}

TEST_CASE("factors need terms, a unit that is a power of two, and a step") {
  DesignedHead head = odd_head();
  head.design = {.method = Method::rank_two, .factor_terms = 3, .unit_exponent = 4};
  const TemporaryFolder folder;
  const std::string good = design_file({head});
  for (const auto& [from, to, part] : std::vector<std::array<std::string, 3>>{
           {"\"terms\": 3", "\"terms\": 0", "terms: '0'"},
           {"\"terms\": 3", "\"terms\": 2", "extra_dimensions has 6"},
           {"\"unit\": 16.0", "\"unit\": 17.0", "unit is 17; a power of two"},
           {"\"unit\": 16.0", "\"unit\": -16.0", "unit is -16"},
           {"\"unit\": 16.0", "\"unite\": 16.0", "it has no unit"},
           {"\"step\"", "\"stepp\"", "it has no step; a number"}}) {
    std::string text = good;
    REQUIRE(text.find(from) != std::string::npos);
    folder.write("model.json", text.replace(text.find(from), from.size(), to));
    CHECK_THROWS_WITH(read_design_file(folder / "model.json"), ContainsSubstring(part));
  }
  head.step = std::nullopt;
  folder.write("model.json", design_file({head}));
  CHECK_THROWS_WITH(read_design_file(folder / "model.json"),
                    ContainsSubstring("it has no step; 'rank-2' needs one"));
}

}  // namespace
}  // namespace ropelab::app
