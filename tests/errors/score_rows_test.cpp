// Blocks of scores against the plain definition, to the bit, on every instruction set.
#include "ropelab/errors/score_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <type_traits>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

const std::vector<InstructionSet> sets = {InstructionSet::scalar, InstructionSet::sse4,
                                          InstructionSet::avx2, InstructionSet::best};

// Every dtype, the 8-bit ones saturating as well.
std::vector<Format> dtypes() {
  std::vector<Format> formats(all_formats().begin(), all_formats().end());
  for (const Format& format : all_formats()) {
    if (format.bits == 8) formats.push_back(saturating(format));
  }
  return formats;
}

const std::vector<std::string> score_pipelines = {
    "ideal-trig",
    "naive",
    "fp32-rope",
    "fused",
    "exact",
    "fused,scaling=float16",
    "fused,scaling=exact",
    "fused,storage=exact",
    "ideal-trig,scaling=float32",
    "ideal-trig,accumulation=exact",
    "naive,accumulation=float32,scaling=float64",
    "ideal-trig,accumulation=float64,scaling=float32",
    "ideal-trig,storage=float8_e5m2,accumulation=bfloat16",
    "ideal-trig,accumulation=float32-fma",
    "fused,accumulation=float32-fma",
    "fused,accumulation=float32-fma,scaling=float16",
    "naive,accumulation=float32-fma,scaling=float64",
    "exact,accumulation=float32-fma"};

Algebraic scale_of(long long head_dim) { return Algebraic() / square_root(Rational(head_dim)); }

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// The plain definition.
class ScoreJudge {
 public:
  ScoreJudge(const Pipeline& pipeline, const Algebraic& scale, const ScoreTable& table)
      : pipeline_(pipeline), scale_(scale), table_(table) {}

  StepValue<DoubleDouble> operator()(std::size_t i, std::size_t j) const {
    if (table_.terms() == 2) {
      const auto q = table_.query_row(i), k = table_.key_row(j);
      return score_steps<DoubleDouble>(pipeline_, scale_, {q[0], q[1]}, {k[0], k[1]}).scaled;
    }
    Accumulation<DoubleDouble> sum(pipeline_);
    for (std::size_t n = 0; n < table_.terms(); ++n) {
      sum.add(table_.query_row(i)[n], table_.key_row(j)[n]);
    }
    return step_product(pipeline_[StepName::scaling], sum.sum_so_far(),
                        rounded_scale<DoubleDouble>(pipeline_, scale_));
  }

 private:
  const Pipeline& pipeline_;
  ExactInput scale_;
  const ScoreTable& table_;
};

// Exact numbers are rounded by way of Real.
template <class Number>
Number as_number(const StepValue<DoubleDouble>& value) {
  if (const double* rounded = std::get_if<double>(&value)) return static_cast<Number>(*rounded);
  const Format& format = std::is_same_v<Number, float> ? float32_format() : float64_format();
  return static_cast<Number>(round_to(format, to_real(std::get<DoubleDouble>(value))));
}

struct Count {
  int pairs = 0, wrong = 0, not_finite = 0;
};

// Fills and adds one block between guards, as Number.
template <class Number>
void check_block(const ScoreRows& rows, const ScoreJudge& judge, const ScoreRange& block,
                 Count& count) {
  const Number guard = Number{-12345.25};
  const std::size_t stride = std::max<std::size_t>(block.keys + block.first_key % 3, 1);
  std::vector<Number> filled(block.queries * stride + 1, guard), added(filled);
  for (std::size_t n = 0; n < added.size(); ++n) added[n] = static_cast<Number>(n % 17) / 7;
  const std::vector<Number> before = added;
  rows.fill(block, filled.data(), stride);
  rows.add(block, added.data(), stride);
  for (std::size_t n = 0; n < filled.size(); ++n) {
    const std::size_t i = n / stride, j = n % stride;
    if (i == block.queries || j >= block.keys) {
      count.wrong += !same_bits(filled[n], guard) || !same_bits(added[n], before[n]);
      continue;
    }
    const Number expected = as_number<Number>(judge(block.first_query + i, block.first_key + j));
    ++count.pairs;
    count.not_finite += !std::isfinite(expected);
    count.wrong += !same_bits(filled[n], expected) ||
                   !same_bits(added[n], static_cast<Number>(before[n] + expected));
  }
}

// Blocks at random places, of all widths up to 80, that reach the end of the table.
Count check_sampled_blocks(const Pipeline& pipeline, const Algebraic& scale,
                           const ScoreTable& table, unsigned seed, int blocks) {
  const ScoreRows rows(pipeline, scale, table);
  REQUIRE(rows.size() == table.size());
  const ScoreJudge judge(pipeline, scale, table);
  Count count;
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int n = 0; n < blocks; ++n) {
    ScoreRange block{};
    block.queries = below(4);
    block.keys = below(std::min<std::size_t>(table.size(), 80) + 1);
    block.first_query = below(table.size() - block.queries + 1);
    block.first_key = n % 3 == 0 ? table.size() - block.keys : below(table.size() - block.keys + 1);
    check_block<float>(rows, judge, block, count);
    check_block<double>(rows, judge, block, count);
  }
  return count;
}

void check_everywhere(const Pipeline& pipeline, const Algebraic& scale, const ScoreTable& table) {
  for (const InstructionSet set : sets) {
    use_instruction_set(set);
    const Count count = check_sampled_blocks(pipeline, scale, table, 1, 6);
    INFO(pipeline.name << " storage "
                       << (pipeline[StepName::storage] ? pipeline[StepName::storage]->name : "")
                       << " terms " << table.terms() << " set " << instruction_set_in_use());
    CHECK(count.wrong == 0);
    CHECK(count.pairs > 100);
  }
  use_instruction_set(InstructionSet::best);
}

Construction score_construction(const std::string& theta, long long head_dim, int head = 1) {
  return {parse_positive(theta), alibi_slope(16, head), head_dim, {}};
}

TEST_CASE("blocks of one pair are the plain definition in every dtype and pipeline") {
  for (const Format& dtype : dtypes()) {
    for (const std::string& name : score_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      for (const char* theta : {"0.1/65536", "0.01", "2^-12"}) {
        check_everywhere(
            pipeline, scale_of(64),
            score_table(rotated_table(pipeline, score_construction(theta, 64), 0, 131)));
      }
      // A scale that is no power of two, and positions far on.
      check_everywhere(
          pipeline, scale_of(80),
          score_table(rotated_table(pipeline, score_construction("1e-3", 80, 5), 65000, 131)));
    }
  }
}

TEST_CASE("blocks are the plain definition where numbers leave the range of their format") {
  for (const Format& dtype : dtypes()) {
    for (const std::string& name : score_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      for (const char* theta : {"1e-5", "1e-7", "1e-30", "1e-40", "3"}) {
        for (const char* key_part : {"1", "1e-8", "1e6"}) {
          Construction of = score_construction(theta, 64);
          of.key_part = parse_positive(key_part);
          const Count count = check_sampled_blocks(
              pipeline, scale_of(64), score_table(rotated_table(pipeline, of, 0, 90)), 3, 4);
          INFO(name << " " << dtype.name << " " << theta << " " << key_part);
          CHECK(count.wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("numbers beyond float16 make infinities and NaN, or the largest number if they clamp") {
  // N = 2^(-1/2) 8/1e-5 is beyond 65504: its products with sine and cosine are infinite, of either
  // sign, and NaN with 0.
  const Pipeline pipeline = parse_pipeline("ideal-trig", find_format("float16"));
  std::vector<float> out(20 * 20);
  ScoreRows(pipeline, scale_of(64),
            score_table(rotated_table(pipeline, score_construction("1e-5", 64), 0, 20)))
      .fill({0, 20, 0, 20}, out.data(), 20);
  for (const float score : out) CHECK(std::isnan(score));
  // 4000 p is beyond it from position 17 on.
  ScoreRows(pipeline, scale_of(64), factor_table(pipeline, parse_positive("4000"), 1, 0, 0, 20))
      .fill({0, 20, 0, 20}, out.data(), 20);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < 20; ++j) {
      const float score = out[20 * i + j];
      INFO(i << " " << j);
      if (i < 17 && j < 17) CHECK(std::isfinite(score));
      if (i >= 17 && j < 17) CHECK(score == -HUGE_VALF);
      if (i < 17 && j >= 17) CHECK(score == HUGE_VALF);
      if (i >= 17 && j >= 17) CHECK(std::isnan(score));
    }
  }
  const Pipeline clamped = parse_pipeline("ideal-trig", saturating(find_format("float8_e5m2")));
  ScoreRows(clamped, scale_of(64), factor_table(clamped, parse_positive("4000"), 1, 0, 0, 20))
      .fill({0, 20, 0, 20}, out.data(), 20);
  CHECK(out[20 * 19] == -57344.0F / 8);
  CHECK(out[20 * 19 + 19] == 0);
}

TEST_CASE("a score known by hand") {
  // With theta = 2^-10 and slope 1/2, N = 4096 and F(i,j) = -512 sin((i-j)/1024) but for rounding.
  const Construction of{parse_positive("2^-10"), parse_positive("1/2"), 64, {}};
  const Pipeline pipeline = parse_pipeline("ideal-trig", float64_format());
  const ScoreRows rows(pipeline, scale_of(64), score_table(rotated_table(pipeline, of, 0, 300)));
  std::vector<double> out(5 * 7);
  rows.fill({290, 5, 40, 7}, out.data(), 7);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 7; ++j) {
      // A few roundings of numbers up to 512 in float64.
      CHECK(out[static_cast<std::size_t>(7 * i + j)] ==
            Approx(-512 * std::sin((250 + i - j) / 1024.0)).margin(512 * 0x1p-50));
    }
  }
}

std::vector<RotatedPair> pairs_of(int count, double size) {
  std::vector<RotatedPair> pairs;
  for (int n = 0; n < count; ++n) {
    const double x = size / (n + 1);
    pairs.push_back({Algebraic(Rational(1, 100 * (n + 3))), {-x, x / 3}, {0.25 * n, 1}});
  }
  return pairs;
}

TEST_CASE("blocks of several pairs are the plain definition") {
  for (const Format& dtype : dtypes()) {
    for (const std::string& name : score_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      for (const int count : {2, 5}) {
        check_everywhere(pipeline, scale_of(64),
                         score_table(pipeline, pairs_of(count, 300), 17, 101));
      }
      for (const double size : {1e-9, 60000.0, 1e38}) {
        const Count count = check_sampled_blocks(
            pipeline, scale_of(96), score_table(pipeline, pairs_of(3, size), 0, 90), 5, 4);
        INFO(name << " " << dtype.name << " " << size);
        CHECK(count.wrong == 0);
      }
    }
  }
}

// Pairs whose products are 2^exponent and then, again and again, the least number that raises the
// sum by a last place when it is rounded.
std::vector<RotatedPair> rising_sum(const Format& format, int exponent, int count) {
  double sum = std::ldexp(1.0, exponent);
  std::vector<RotatedPair> pairs;
  for (double product = sum; count > 0; --count) {
    pairs.push_back({parse_positive("1e-9"), {1, 0}, {product, 0}});
    product = next_above(format, round_to(format, ulp(format, sum) / 2));
    sum += ulp(format, sum);
  }
  return pairs;
}

TEST_CASE("sums of many terms are the plain definition where roundings add up") {
  for (const char* dtype : {"float8_e5m2", "float8_e4m3fn", "bfloat16"}) {
    const Format format = find_format(dtype);
    int finite = 0, infinite = 0;
    for (const auto eight_bit : {EightBit::overflows, EightBit::saturates}) {
      const Pipeline pipeline = parse_pipeline("ideal-trig", format, eight_bit);
      for (int exponent = -8; exponent < std::ilogb(format.largest); ++exponent) {
        const Count count = check_sampled_blocks(
            pipeline, Algebraic(1),
            score_table(pipeline, rising_sum(format, exponent, 3 << (format.precision - 1)), 0, 8),
            6, 4);
        INFO(dtype << " " << exponent);
        CHECK(count.wrong == 0);
        infinite += count.not_finite;
        finite += count.pairs - count.not_finite;
      }
    }
    CHECK(finite > 0);
    if (format.bits == 8) CHECK(infinite > 0);
  }
}

TEST_CASE("blocks of factors are the plain definition") {
  for (const Format& dtype : dtypes()) {
    for (const std::string& name : score_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      const int terms = pipeline[StepName::storage] ? 3 : 1;
      check_everywhere(pipeline, scale_of(64),
                       factor_table(pipeline, parse_positive("2^(5/2)"), terms, 2, 0, 131));
      const Count count = check_sampled_blocks(
          pipeline, scale_of(64),
          factor_table(pipeline, parse_positive("2^(5/2)"), terms, -3, 70000, 131), 7, 6);
      INFO(name << " " << dtype.name);
      CHECK(count.wrong == 0);
    }
  }
}

TEST_CASE("every width of a block ends where it should, on every instruction set") {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    const Pipeline pipeline = parse_pipeline("fused", find_format(dtype));
    for (const auto& table :
         {score_table(rotated_table(pipeline, score_construction("1e-4", 64), 0, 150)),
          score_table(pipeline, pairs_of(3, 10), 0, 150)}) {
      const ScoreRows rows(pipeline, scale_of(64), table);
      const ScoreJudge judge(pipeline, scale_of(64), table);
      for (const InstructionSet set : sets) {
        use_instruction_set(set);
        Count count;
        for (std::size_t keys = 0; keys <= 140; ++keys) {
          check_block<float>(rows, judge, {keys, 2, 150 - keys, keys}, count);
          check_block<double>(rows, judge, {3, 1, keys / 14, keys}, count);
        }
        INFO(dtype << " set " << instruction_set_in_use());
        CHECK(count.wrong == 0);
      }
      use_instruction_set(InstructionSet::best);
    }
  }
}

TEST_CASE("rows longer than what is converted at a time are whole") {
  const std::size_t size = 2500;
  const Pipeline pipeline = parse_pipeline("fused", float32_format());
  const ScoreTable table =
      score_table(rotated_table(pipeline, score_construction("0.1/2500", 64), 0, size));
  const ScoreRows rows(pipeline, scale_of(64), table);
  const ScoreJudge judge(pipeline, scale_of(64), table);
  Count count;
  check_block<double>(rows, judge, {7, 2, 3, size - 3}, count);
  check_block<float>(rows, judge, {7, 2, 3, size - 3}, count);
  CHECK(count.wrong == 0);
  CHECK(count.not_finite == 0);
}

TEST_CASE("blocks may be made by several threads at once, side by side") {
  const std::size_t size = 333;
  const Pipeline pipeline = parse_pipeline("fused", find_format("bfloat16"));
  const ScoreRows rows(
      pipeline, scale_of(64),
      score_table(rotated_table(pipeline, score_construction("1e-4", 64), 0, size)));
  std::vector<float> alone(size * size), together(size * size, 1);
  rows.fill({0, size, 0, size}, alone.data(), size);
  std::vector<std::thread> threads;
  // Neighbouring columns, so that a store beyond the end of a block would be seen.
  for (std::size_t first = 0; first < size; first += 37) {
    threads.emplace_back([&, first] {
      for (int n = 0; n < 20; ++n) {
        rows.fill({0, size, first, std::min<std::size_t>(37, size - first)},
                  together.data() + first, size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(together == alone);
}

TEST_CASE("blocks outside the table, rows that overlap and tables without terms are refused") {
  const Pipeline pipeline = parse_pipeline("fused", float32_format());
  const ScoreTable table =
      score_table(rotated_table(pipeline, score_construction("1e-4", 64), 0, 10));
  const ScoreRows rows(pipeline, scale_of(64), table);
  std::vector<float> out(200);
  CHECK_NOTHROW(rows.fill({0, 10, 0, 10}, out.data(), 10));
  CHECK_NOTHROW(rows.fill({10, 0, 10, 0}, out.data(), 0));
  CHECK_THROWS_AS(rows.fill({1, 10, 0, 10}, out.data(), 10), std::invalid_argument);
  CHECK_THROWS_AS(rows.fill({0, 10, 3, 8}, out.data(), 10), std::invalid_argument);
  CHECK_THROWS_AS(rows.fill({11, 0, 0, 1}, out.data(), 10), std::invalid_argument);
  CHECK_THROWS_AS(rows.fill({0, std::size_t(-1), 0, 1}, out.data(), 10), std::invalid_argument);
  CHECK_THROWS_AS(rows.add({0, 2, 0, 10}, out.data(), 9), std::invalid_argument);
  CHECK_THROWS_AS(ScoreRows(pipeline, scale_of(64), {}), std::invalid_argument);
  ScoreTable ragged = table;
  ragged.key[1].high.pop_back();
  CHECK_THROWS_AS(ScoreRows(pipeline, scale_of(64), ragged), std::invalid_argument);
}

}  // namespace
}  // namespace ropelab
