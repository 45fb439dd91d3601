// The limit of a single rotated pair, against every design that can be thought of.
#include "ropelab/design/limit.hpp"

#include <cmath>
#include <random>

#include "catch.hpp"
#include "ropelab/design/head_design.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

double total_error(const Format& format, const std::string& pipeline, const Algebraic& slope,
                   std::size_t context, const RotatedPair& pair) {
  const HeadTask task = alibi_task(slope, 64, context, context, parse_pipeline(pipeline, format));
  HeadDesign design;
  design.pairs = {pair};
  return measure(task, design).measurement.errors.total_maximum.value();
}

TEST_CASE("up to 2^p + 1 positions a dyadic pair has no error, and with one more at least m/3") {
  // A power of two as slope: N = slope 8 / theta is one, too.
  const Algebraic slope = parse_positive("1/2");
  struct Row {
    const char* format;
    int precision, log_theta, log_key;
  };
  for (const auto& [name, precision, log_theta, log_key] :
       {Row{"float16", 11, -17, 8}, Row{"bfloat16", 8, -15, 0}}) {
    const Format format = find_format(name);
    const auto context = (std::size_t{1} << precision) + 1;
    const double n = std::ldexp(4.0, -log_theta);
    const RotatedPair pair{Algebraic::power(2, log_theta, 1),
                           {-std::ldexp(n, -log_key), 0},
                           {0, std::ldexp(1.0, log_key)}};
    INFO(name);
    CHECK(single_pair_limit(precision, static_cast<long long>(context)) == 0);
    CHECK(total_error(format, "fused", slope, context, pair) == 0);
    CHECK(single_pair_limit(precision, static_cast<long long>(context + 1)) == Rational(1, 3));
    const double error = total_error(format, "fused", slope, context + 1, pair);
    CHECK(error >= 0.5 / 3);
    CHECK(error <= 0.5);
  }
}

TEST_CASE("the limit is at least a quarter of L 2^-p, but for a small factor") {
  for (const int p : {4, 8, 11, 24}) {
    const long long numbers = 1LL << p;
    for (const long long context :
         {numbers + 2, numbers + 3, 2 * numbers, 2 * numbers + 5, 3 * numbers, 100 * numbers}) {
      const double share = static_cast<double>(context) / static_cast<double>(numbers);
      const double limit = to_double(single_pair_limit(p, context));
      INFO(p << " bits, context " << context);
      CHECK(limit >= share / (4 * (1 + std::ldexp(1.0, 1 - p))));
      CHECK(limit <= share / 2);
    }
  }
}

TEST_CASE("no theta and N beat the limit") {
  std::mt19937_64 random(7);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const Algebraic slope = parse_positive("1/2");
  struct Row {
    const char* format;
    int precision;
  };
  double closest = 1e9;
  for (const auto& [name, precision] : {Row{"bfloat16", 8}, Row{"float8_e4m3fn", 4}}) {
    for (int n = 0; n < 400; ++n) {
      const auto context =
          static_cast<std::size_t>(std::ldexp(1.0, precision) * std::exp2(uniform(0, 2.5)) + 2);
      const double phase = std::exp2(uniform(-12, 2.5));
      const double theta = phase / static_cast<double>(context);
      // N near slope 8 / theta, within what rounding or a user may make of it.
      const double amplitude = 4 / theta * uniform(0.9, 1.1);
      const int log_key = static_cast<int>(std::ilogb(amplitude) / 2.0);
      const RotatedPair pair{Algebraic(to_rational(theta)),
                             {-std::ldexp(amplitude, -log_key), 0},
                             {0, std::ldexp(1.0, log_key)}};
      for (const char* pipeline : {"fused", "ideal-trig"}) {
        const HeadTask task = alibi_task(
            slope, 64, context, context,
            parse_pipeline(std::string(pipeline) + ",accumulation=float32", find_format(name)));
        HeadDesign design;
        design.pairs = {pair};
        const auto errors = measure(task, design).measurement.errors;
        if (errors.nonfinite_pairs > 0) continue;
        const double limit =
            to_double(single_pair_limit(precision, static_cast<long long>(context))) / 2;
        INFO(name << " " << pipeline << " context " << context << " phase " << phase);
        CHECK(*errors.total_maximum >= limit);
        if (limit > 0) closest = std::min(closest, *errors.total_maximum / limit);
      }
    }
  }
  // It would be a weak limit if nothing came near it.
  CHECK(closest < 6);
}

}  // namespace
}  // namespace ropelab
