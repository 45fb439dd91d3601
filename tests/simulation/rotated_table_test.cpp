// Tables of rotated vectors, made the quick way, against the plain steps, to the bit.
#include "ropelab/simulation/rotated_table.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/quick_rotation.hpp"

namespace ropelab {
namespace {

constexpr std::array presets = {"ideal-trig", "naive", "fp32-rope", "fused"};

std::vector<Format> dtypes() {
  std::vector<Format> formats(all_formats().begin(), all_formats().end());
  for (const Format& format : all_formats()) {
    if (format.bits == 8) formats.push_back(saturating(format));
  }
  return formats;
}

Construction construction(const std::string& theta, const std::string& key_part = "1") {
  return {parse_positive(theta), parse_positive("1/3"), 64, parse_positive(key_part)};
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

using Vectors = std::array<double, 4>;

// One position by the plain steps.
template <class Exact>
class PlainSteps {
 public:
  PlainSteps(const Pipeline& pipeline, const Construction& of)
      : pipeline_(pipeline),
        theta_(of.theta),
        query_{
            step_negated(rotation_input<Exact>(pipeline, ExactInput(amplitude(of) / of.key_part))),
            0.0},
        key_{0.0, rotation_input<Exact>(pipeline, ExactInput(of.key_part))} {}
  PlainSteps(const Pipeline& pipeline, const RotatedPair& of)
      : pipeline_(pipeline),
        theta_(of.theta),
        query_{of.query[0], of.query[1]},
        key_{of.key[0], of.key[1]} {}

  Vectors operator()(double position) const {
    const auto angle = angle_steps<Exact>(pipeline_, theta_, position);
    const auto query = rotation_steps(pipeline_, angle, query_).stored;
    const auto key = rotation_steps(pipeline_, angle, key_).stored;
    return {std::get<double>(query.first), std::get<double>(query.second),
            std::get<double>(key.first), std::get<double>(key.second)};
  }

 private:
  const Pipeline& pipeline_;
  ExactInput theta_;
  Components<Exact> query_, key_;
};

// How a table compares with the plain steps: with Bounded everywhere it decides, with Real there
// where it does not, and at some more.
struct Comparison {
  int positions = 0, by_real = 0, different = 0;
};

template <class Rotated>
void compare(Comparison& result, const Pipeline& pipeline, const Rotated& of,
             long long first_position, std::size_t count) {
  const RotatedTable table = rotated_table(pipeline, of, first_position, count);
  const PlainSteps<Bounded> bounded(pipeline, of);
  const PlainSteps<Real> real(pipeline, of);
  const auto check = [&](std::size_t n, const Vectors& expected) {
    const Vectors found = {table.query_first.high[n], table.query_second.high[n],
                           table.key_first.high[n], table.key_second.high[n]};
    bool same = true;
    for (std::size_t c = 0; c < 4; ++c) same = same && same_bits(found[c], expected[c]);
    if (!same) ++result.different;
  };
  for (std::size_t n = 0; n < count; ++n) {
    const double position = static_cast<double>(first_position + static_cast<long long>(n));
    ++result.positions;
    bool decided = true;
    try {
      check(n, bounded(position));
    } catch (const Undecided&) {
      decided = false;
    }
    if (decided && (result.positions % 211 != 0)) continue;
    ++result.by_real;
    check(n, real(position));
  }
}

TEST_CASE("a table is what the plain steps make, for every dtype and preset") {
  for (const Format& dtype : dtypes()) {
    for (const char* preset : presets) {
      const Pipeline pipeline = parse_pipeline(preset, dtype);
      Comparison result;
      for (const char* theta : {"0.1/65536", "1e-6", "0.3333", "1"}) {
        compare(result, pipeline, construction(theta), 0, 3000);
        compare(result, pipeline, construction(theta), (1 << 24) - 500, 1000);
      }
      // Beyond 2^25 rad, and at last beyond 2^40, the quick way gives up.
      compare(result, pipeline, construction("1"), 1LL << 40, 50);
      compare(result, pipeline, construction("1e-6"), 1LL << 40, 500);
      compare(result, pipeline, construction("1/1099511627776"), (1LL << 53) - 500, 500);
      INFO(dtype.name << " " << preset << ": of " << result.positions << " positions "
                      << result.by_real << " by Real");
      CHECK(result.different == 0);
      CHECK(result.by_real >= 80);
    }
  }
}

TEST_CASE("a table is what the plain steps make where numbers leave the range of a format") {
  for (const Format& dtype : dtypes()) {
    for (const char* preset : presets) {
      const Pipeline pipeline = parse_pipeline(preset, dtype);
      Comparison result;
      for (const char* theta : {"1e-5", "1e-7", "1e-30", "1e-39", "1e-45", "1e-200", "1e-305",
                                "1e-320", "5e-324", "1e5"}) {
        for (const char* key_part : {"1", "1e-8", "1e6", "1e39"}) {
          compare(result, pipeline, construction(theta, key_part), 0, 40);
          compare(result, pipeline, construction(theta, key_part), 65500, 40);
        }
      }
      INFO(dtype.name << " " << preset);
      CHECK(result.different == 0);
    }
  }
}

TEST_CASE("a table is what the plain steps make of pipelines with overrides") {
  for (const char* overrides :
       {"position=exact", "theta=exact", "phase=exact", "position=float16,theta=exact",
        "theta=bfloat16,phase=exact", "position=exact,theta=float32,phase=float64", "trig=float16",
        "trig=float64", "trig=exact", "table=float8_e5m2,rotation=float16",
        "table=float64,rotation=bfloat16", "rotation=float8_e4m3fn,storage=float32",
        "rotation=float64,storage=float8_e5m2"}) {
    for (const char* dtype : {"float16", "float32", "float64", "float8_e4m3fn"}) {
      for (const char* preset : presets) {
        const auto text = std::string(preset) + "," + overrides;
        for (const auto eight_bit : {EightBit::overflows, EightBit::saturates}) {
          const Pipeline pipeline = parse_pipeline(text, find_format(dtype), eight_bit);
          Comparison result;
          for (const char* theta : {"1e-6", "3/4", "1e-42"}) {
            compare(result, pipeline, construction(theta), 0, 60);
            compare(result, pipeline, construction(theta), 65500, 60);
          }
          INFO(text << " " << dtype);
          CHECK(result.different == 0);
        }
      }
    }
  }
}

TEST_CASE("a table of any fixed vectors is what the plain steps make") {
  const std::vector<RotatedPair> pairs = {
      {parse_positive("0.1/65536"), {-3.7e6, 1.25}, {0.001, 3}},
      {parse_positive("1/3"), {1.0 / 3, -1.0 / 7}, {-5, 1e-7}},
      {parse_positive("2^-20"), {262144, 0}, {0, 4}},
      {parse_positive("1e-3"), {0, 70000}, {0, 0}},
      {parse_positive("1e-3"), {1e-30, 1e30}, {1e300, -1e-300}},
  };
  for (const Format& dtype : dtypes()) {
    for (const std::string text : {"ideal-trig", "naive", "fp32-rope", "fused", "naive,table=exact",
                                   "fused,trig=float64", "fp32-rope,rotation=float64"}) {
      const Pipeline pipeline = parse_pipeline(text, dtype);
      Comparison result;
      for (const RotatedPair& pair : pairs) {
        compare(result, pipeline, pair, 0, 200);
        compare(result, pipeline, pair, 65500, 200);
      }
      INFO(dtype.name << " " << text);
      CHECK(result.different == 0);
    }
  }
}

TEST_CASE("the construction is a rotated pair like any other") {
  const Construction of{parse_positive("1/4096"), parse_positive("1/2"), 64, parse_positive("4")};
  const RotatedPair same{of.theta, {-4096, 0}, {0, 4}};  // N = 2^14
  for (const Format& dtype : dtypes()) {
    const Pipeline pipeline = parse_pipeline("fused", dtype);
    const RotatedTable expected = rotated_table(pipeline, of, 7, 500);
    const RotatedTable found = rotated_table(pipeline, same, 7, 500);
    for (std::size_t n = 0; n < 500; ++n) {
      CHECK(same_bits(found.query_first.high[n], expected.query_first.high[n]));
      CHECK(same_bits(found.query_second.high[n], expected.query_second.high[n]));
      CHECK(same_bits(found.key_first.high[n], expected.key_first.high[n]));
      CHECK(same_bits(found.key_second.high[n], expected.key_second.high[n]));
    }
  }
}

TEST_CASE("the quick way serves every preset, and nearly every position") {
  for (const Format& dtype : dtypes()) {
    for (const char* preset : presets) {
      const Pipeline pipeline = parse_pipeline(preset, dtype);
      REQUIRE(QuickRotation::serves(pipeline));
      const ExactInput theta(parse_positive("1/3000"));
      const double part = -round_to(*pipeline[StepName::rotation], 3.0);
      const QuickRotation rotation(pipeline, theta, {part, 0, 0, 3});
      int left = 0;
      for (int position = 0; position < 20000; ++position) left += !rotation.at(position);
      INFO(dtype.name << " " << preset);
      CHECK(left < (dtype == float64_format() ? 300 : 2));
    }
  }
  for (const char* step : {"trig", "table", "rotation", "storage"}) {
    const std::string text = std::string("naive,") + step + "=exact";
    CHECK_FALSE(QuickRotation::serves(parse_pipeline(text, float32_format())));
  }
}

TEST_CASE("a position whose sine is a tie is not decided the quick way") {
  // The sine of x = 2^-26 (1 + 2^-24) is x less a 2^-55th of it, in float32 just below a tie.
  const Pipeline pipeline = parse_pipeline("ideal-trig", float32_format());
  const ExactInput theta(parse_positive("16777217/1125899906842624"));
  const QuickRotation rotation(pipeline, theta, {-1, 0, 0, 1});
  CHECK_FALSE(rotation.at(1));
  CHECK(rotation.at(3));
  Comparison result;
  compare(result, pipeline, Construction{theta.algebraic(), parse_positive("1"), 64, {}}, 0, 100);
  CHECK(result.different == 0);
}

TEST_CASE("a phase beyond what Real takes is refused, also beyond the range of doubles") {
  for (const Format& dtype : dtypes()) {
    const Pipeline exact = parse_pipeline("ideal-trig", dtype);
    for (const char* root : {"1e10", "1e152", "1e200"}) {
      Construction of = construction(root);
      of.theta = of.theta * of.theta;
      CHECK_NOTHROW(rotated_table(exact, of, 0, 1));
      CHECK_THROWS_AS(rotated_table(exact, of, 1, 1), std::domain_error);
      CHECK_THROWS_AS(rotated_table(exact, of, 10000000, 1), std::domain_error);
    }
    // In a format an infinite phase is a step's value, and no angle.
    const RotatedTable rounded =
        rotated_table(parse_pipeline("fused", dtype), construction("1e40"), 1, 1);
    CHECK(std::isnan(rounded.key_first.high[0]));
  }
}

}  // namespace
}  // namespace ropelab
