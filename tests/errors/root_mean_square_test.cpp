// The rms errors against sums of 512-bit numbers over every pair, for errors of any size.
#include <cmath>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

struct PlainRms {
  std::optional<double> rounding, total;
};

PlainRms plain_rms(const Pipeline& pipeline, const DistanceReference& reference) {
  const std::size_t context = reference.context();
  const ExactInput scale = score_scale(reference.construction());
  const RotatedTable table = rotated_table(pipeline, reference.construction(), 0, context);
  Real rounding = 0, total = 0;
  long long count = 0;
  for (std::size_t d = 0; d < context; ++d) {
    const Real simulated = reference.exact_simulated(d), bias = reference.exact_bias(d);
    for (std::size_t i = d; i < context; ++i) {
      const DoubleDouble f = score_at(pipeline, scale, table, i, i - d);
      if (!std::isfinite(f.high)) continue;
      const Real from_simulated = to_real(f) - simulated, from_bias = to_real(f) - bias;
      rounding += from_simulated * from_simulated;
      total += from_bias * from_bias;
      ++count;
    }
  }
  if (count == 0) return {};
  return {to_double(Real(sqrt(rounding / count))), to_double(Real(sqrt(total / count)))};
}

bool is_near_rms(const std::optional<double>& value, const std::optional<double>& expected) {
  if (!value || !expected) return !value && !expected;
  return *value == *expected || std::abs(*value - *expected) <= 1e-10 * *expected ||
         std::abs(*value - *expected) <= 0x1p-1074;
}

// Whether both measurements, of all pairs and of a sample that holds them all, agree.
bool rms_agrees(const Pipeline& pipeline, const DistanceReference& reference) {
  const PlainRms plain = plain_rms(pipeline, reference);
  const PairErrors all = measure_all_pairs(pipeline, reference, 0).errors;
  const PairErrors sampled = measure_sampled_pairs(pipeline, reference, 0, 1 << 20, 1).errors;
  return is_near_rms(all.rounding_rms, plain.rounding) && is_near_rms(all.total_rms, plain.total) &&
         is_near_rms(sampled.rounding_rms, plain.rounding) &&
         is_near_rms(sampled.total_rms, plain.total);
}

const std::vector<std::string> rms_pipelines = {"ideal-trig",
                                                "naive",
                                                "fp32-rope",
                                                "fused",
                                                "fused,scaling=float16",
                                                "naive,accumulation=float64,scaling=float32",
                                                "naive,accumulation=exact",
                                                "fused,accumulation=float32-fma,table=exact"};

TEST_CASE("rms errors are good to 1e-10 in every format and pipeline, however small they are") {
  const char* slopes[] = {"1/2", "2^(-1/2)", "1/3"};
  for (const char* phase : {"1e-14", "1e-9", "1e-4", "0.3", "7"}) {
    for (const std::size_t context : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 16u, 33u, 65u}) {
      const Construction construction{
          parse_positive(phase) / Algebraic(static_cast<long long>(context)),
          parse_positive(slopes[context % 3]),
          64,
          {}};
      const DistanceReference reference(construction, context);
      for (const Format& dtype : all_formats()) {
        for (const std::string& name : rms_pipelines) {
          if (rms_agrees(parse_pipeline(name, dtype), reference)) continue;
          FAIL_CHECK(phase << " context " << context << " " << dtype.name << " " << name);
        }
      }
    }
  }
}

Real plain_truncation_rms(const DistanceReference& reference) {
  const std::size_t context = reference.context();
  Real sum = 0;
  for (std::size_t d = 0; d < context; ++d) {
    const Real error = reference.exact_truncation(d);
    sum += error * error * Real(context - d);
  }
  return sqrt(sum / (Real(context) * Real(context + 1) / 2));
}

TEST_CASE("rms errors and weights hold at the ends of the range of float64") {
  struct Case {
    const char *theta, *slope;
  };
  const Case cases[] = {
      {"1e-3", "1e155"},   {"1e-3", "1e170"},  {"1e-3", "1e250"},  {"1e-3", "1e300"},
      {"1e-3", "1e-150"},  {"1e-3", "1e-170"}, {"1e-3", "1e-290"}, {"1e-3", "1e-305"},
      {"1e-308", "1/2"},   {"1e-309", "1/2"},  {"5e-324", "1/2"},  {"1e-308", "1e-150"},
      {"1e-150", "1e150"}, {"1e-100", "1/3"},  {"1", "1e300"},     {"1e-3", "1.7e308"}};
  for (const auto& [theta, slope] : cases) {
    for (const std::size_t context : {2u, 20u}) {
      const DistanceReference reference({parse_positive(theta), parse_positive(slope), 64, {}},
                                        context);
      INFO("theta " << theta << " slope " << slope << " context " << context);
      CHECK(
          is_near_rms(truncation_error(reference).rms, to_double(plain_truncation_rms(reference))));
      const double exact =
          total_variation(reference.native_weights(), softmax(reference.simulated()));
      CHECK((exact >= 0 && exact <= 1));
      for (const char* dtype : {"float64", "float32", "bfloat16"}) {
        for (const char* name : {"ideal-trig", "naive", "naive,accumulation=exact"}) {
          const Pipeline pipeline = parse_pipeline(name, find_format(dtype));
          INFO(dtype << " " << name);
          CHECK(rms_agrees(pipeline, reference));
          const auto computed = measure_all_pairs(pipeline, reference, 0).weights_total_variation;
          CHECK((!computed || (*computed >= 0 && *computed <= 1)));
        }
      }
    }
  }
}

TEST_CASE("the relative truncation error does not depend on the slope") {
  const auto largest = [](const char* slope) {
    const DistanceReference reference({parse_positive("1"), parse_positive(slope), 64, {}}, 20);
    return to_double(truncation_error(reference).relative_maximum);
  };
  for (const char* slope : {"1e-308", "1e300", "1.7e308"}) CHECK(largest(slope) == largest("1"));
}

TEST_CASE("doubles near S are as far from it as bounded") {
  for (const char* theta : {"1e-300", "1e-9", "1e-4", "0.02", "1", "1000003"}) {
    for (const char* slope : {"1e300", "1", "1e-9", "1e-290"}) {
      const DistanceReference reference({parse_positive(theta), parse_positive(slope), 64, {}},
                                        300);
      int beyond = 0;
      for (std::size_t d = 0; d < 300; ++d) {
        const Real simulated = to_real(reference.simulated()[d]) - reference.exact_simulated(d);
        const Real bias = to_real(reference.bias(d)) - reference.exact_bias(d);
        if (abs(simulated) > Real(reference.simulated_error(d))) ++beyond;
        if (abs(bias) > Real(reference.bias_error(d))) ++beyond;
      }
      INFO("theta " << theta << " slope " << slope);
      CHECK(beyond == 0);
    }
  }
}

}  // namespace
}  // namespace ropelab
