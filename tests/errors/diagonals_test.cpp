// The all-pairs kernels against the plain definition, and what must not change their figures.
#include <algorithm>
#include <cmath>

#include <tbb/global_control.h>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/kernel.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/sampled_pairs.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

Construction construction_of(const std::string& phase, std::size_t context, int head = 1,
                             long long head_dim = 64) {
  return {parse_positive(phase) / Algebraic(static_cast<long long>(context)),
          alibi_slope(16, head),
          head_dim,
          {}};
}

// Sums in lanes, by stretches: kernel.hpp says how.
class PlainMoments {
 public:
  PlainMoments(std::size_t distance, std::size_t size, std::size_t longest_stretch)
      : first_(distance / kernel::block * kernel::block), size_(size), longest_(longest_stretch) {}

  void add(std::size_t i, double deviation) {
    if (const std::size_t number = stretch_of(i); number != stretch_) {
      finish_stretch();
      stretch_ = number;
    }
    sums_[i % kernel::lanes] += deviation;
    squares_[i % kernel::lanes] += deviation * deviation;
  }

  void finish(Diagonal& diagonal) {
    finish_stretch();
    diagonal.sum = sum_;
    diagonal.sum_of_squares = sum_of_squares_;
  }

 private:
  std::size_t stretch_of(std::size_t i) const {
    const std::size_t triangle = first_ + kernel::block;
    if (i < triangle) return 0;
    const std::size_t rest = size_ / kernel::padding * kernel::padding;
    return i < rest ? 1 + (i - triangle) / longest_ : size_;
  }

  void finish_stretch() {
    double sum = 0, squares = 0;
    for (std::size_t lane = 0; lane < kernel::lanes; ++lane) {
      sum += sums_[lane];
      squares += squares_[lane];
    }
    sum_ += sum;
    sum_of_squares_ += squares;
    sums_ = squares_ = {};
  }

  std::size_t first_, size_, longest_, stretch_ = 0;
  std::array<double, kernel::lanes> sums_{}, squares_{};
  double sum_ = 0, sum_of_squares_ = 0;
};

bool in_double_lanes(const Pipeline& pipeline) {
  return pipeline[StepName::accumulation]->precision > 24 ||
         pipeline[StepName::scaling]->precision > 24;
}

// What measure_diagonals promises, computed pair by pair.
Diagonal plain_diagonal(const Pipeline& pipeline, const ExactInput& scale,
                        const RotatedTable& table, std::size_t d, DoubleDouble center) {
  Diagonal plain;
  plain.center = center;
  PlainMoments moments(d, table.size(), in_double_lanes(pipeline) ? 512 : 1024);
  for (std::size_t i = d; i < table.size(); ++i) {
    const double f = score_at(pipeline, scale, table, i, i - d).high;
    ++plain.pairs;
    if (d > 0 && !(f < score_at(pipeline, scale, table, i, i - d + 1).high)) ++plain.order_lost;
    if (!std::isfinite(f)) continue;
    ++plain.finite;
    plain.least.high = std::min(plain.least.high, f);
    plain.greatest.high = std::max(plain.greatest.high, f);
    moments.add(i, f - center.high);
  }
  moments.finish(plain);
  return plain;
}

void check_against_plain(const Pipeline& pipeline, const Construction& construction,
                         std::size_t context) {
  const DistanceReference reference(construction, context);
  const ExactInput scale = score_scale(construction);
  const RotatedTable table = rotated_table(pipeline, construction, 0, context);
  const auto diagonals = measure_diagonals(pipeline, scale, table, reference.simulated());
  REQUIRE(diagonals.size() == context);
  int wrong = 0;
  for (std::size_t d = 0; d < context; ++d) {
    const Diagonal& found = diagonals[d];
    const Diagonal plain = plain_diagonal(pipeline, scale, table, d, found.center);
    bool right = found.pairs == plain.pairs && found.finite == plain.finite &&
                 found.order_lost == plain.order_lost;
    if (plain.finite > 0) {
      right = right && found.least == plain.least && found.greatest == plain.greatest &&
              found.sum == plain.sum && found.sum_of_squares == plain.sum_of_squares;
    }
    wrong += right ? 0 : 1;
  }
  INFO(pipeline.name << " context " << context);
  CHECK(wrong == 0);
}

const std::vector<std::string> diagonal_pipelines = {
    "ideal-trig",
    "naive",
    "fp32-rope",
    "fused",
    "fused,scaling=float16",
    "naive,accumulation=float32,scaling=float64",
    "ideal-trig,accumulation=float64,scaling=float32",
    "ideal-trig,storage=float8_e5m2,accumulation=bfloat16"};

TEST_CASE("kernels agree with the plain definition to the bit in every format and pipeline") {
  for (const Format& dtype : all_formats()) {
    for (const std::string& name : diagonal_pipelines) {
      const Pipeline pipeline = parse_pipeline(name, dtype);
      check_against_plain(pipeline, construction_of("0.3", 203), 203);
    }
  }
}

TEST_CASE("kernels agree with the plain definition at every context from 1 to 65") {
  for (std::size_t context = 1; context <= 65; ++context) {
    for (const auto* dtype : {"float16", "float32", "float64"}) {
      check_against_plain(parse_pipeline("naive", find_format(dtype)),
                          construction_of("1", context), context);
    }
  }
}

TEST_CASE("kernels agree with the plain definition across the ends of blocks and stretches") {
  for (const std::size_t context : {511u, 640u, 1087u, 1088u, 1103u, 1200u}) {
    for (const auto* dtype : {"bfloat16", "float32", "float64"}) {
      check_against_plain(parse_pipeline("fp32-rope", find_format(dtype)),
                          construction_of("0.01", context), context);
    }
  }
}

TEST_CASE("every arithmetic of the kernels agrees with the plain definition") {
  // Head dimensions whose root is and is not a power of two; phases at which the order of
  // neighbours is kept and lost, and at which numbers leave their format's range.
  for (const long long head_dim : {64LL, 80LL}) {
    for (const char* phase : {"0.001", "0.1", "2"}) {
      for (const Format& dtype : all_formats()) {
        for (const char* name : {"ideal-trig", "fused", "fused,accumulation=float16"}) {
          check_against_plain(parse_pipeline(name, dtype), construction_of(phase, 333, 5, head_dim),
                              333);
        }
      }
    }
  }
}

TEST_CASE("scores that are infinite, NaN or subnormal are treated as the plain definition does") {
  for (const char* phase : {"1e-5", "1e-3", "1e-40", "3"}) {
    for (const Format& dtype : all_formats()) {
      check_against_plain(parse_pipeline("ideal-trig", dtype), construction_of(phase, 70), 70);
      check_against_plain(parse_pipeline("ideal-trig", saturating(dtype)),
                          construction_of(phase, 70), 70);
    }
  }
}

const std::vector<std::string> fused_pipelines = {"ideal-trig,accumulation=float32-fma",
                                                  "fused,accumulation=float32-fma",
                                                  "fused,accumulation=float32-fma,scaling=float16",
                                                  "fused,accumulation=float32-fma,scaling=float64"};

TEST_CASE("fused accumulation agrees with the plain definition on every instruction set") {
  for (const auto set :
       {InstructionSet::scalar, InstructionSet::sse4, InstructionSet::avx2, InstructionSet::best}) {
    use_instruction_set(set);
    for (const std::string& name : fused_pipelines) {
      for (const auto* dtype : {"float16", "bfloat16", "float32", "float64"}) {
        const Pipeline pipeline = parse_pipeline(name, find_format(dtype));
        check_against_plain(pipeline, construction_of("0.1", 270), 270);
        check_against_plain(pipeline, construction_of("1e-17", 200, 3, 80), 200);
        check_against_plain(pipeline, construction_of("1e-37", 130), 130);
      }
    }
  }
  use_instruction_set(InstructionSet::best);
}

TEST_CASE("no figure depends on the instruction set or on the number of threads") {
  const std::size_t context = 700;
  const Construction construction = construction_of("0.1", context);
  const DistanceReference reference(construction, context);
  for (const Format& dtype : all_formats()) {
    const Pipeline pipeline = parse_pipeline("naive", dtype);
    const RotatedTable table = rotated_table(pipeline, construction, 0, context);
    std::vector<std::vector<Diagonal>> runs;
    for (const auto set : {InstructionSet::scalar, InstructionSet::sse4, InstructionSet::avx2,
                           InstructionSet::best}) {
      for (const std::size_t threads : {1u, 2u}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        use_instruction_set(set);
        runs.push_back(
            measure_diagonals(pipeline, score_scale(construction), table, reference.simulated()));
      }
    }
    use_instruction_set(InstructionSet::best);
    for (const auto& run : runs) {
      CHECK(std::equal(run.begin(), run.end(), runs.front().begin(),
                       [](const Diagonal& a, const Diagonal& b) {
                         return a.finite == b.finite && a.order_lost == b.order_lost &&
                                a.sum == b.sum && a.sum_of_squares == b.sum_of_squares &&
                                (a.finite == 0 || (a.least == b.least && a.greatest == b.greatest));
                       }));
    }
  }
}

TEST_CASE("a sample of all pairs is all pairs") {
  const std::size_t context = 150;
  const Construction construction = construction_of("0.1", context);
  const DistanceReference reference(construction, context);
  const Pipeline pipeline = parse_pipeline("naive", find_format("bfloat16"));
  const Measurement all = measure_all_pairs(pipeline, reference, 7);
  const Measurement sampled = measure_sampled_pairs(pipeline, reference, 7, 1000000, 1);
  CHECK(sampled.errors.pairs == all.errors.pairs);
  CHECK(sampled.errors.rounding_maximum->error == all.errors.rounding_maximum->error);
  CHECK(sampled.errors.rounding_maximum->i == all.errors.rounding_maximum->i);
  CHECK(sampled.errors.rounding_maximum->j == all.errors.rounding_maximum->j);
  CHECK(sampled.errors.total_maximum == all.errors.total_maximum);
  CHECK(sampled.errors.visible_maximum == all.errors.visible_maximum);
  CHECK(*sampled.errors.rounding_rms == Approx(*all.errors.rounding_rms).epsilon(1e-12));
  CHECK(*sampled.errors.total_rms == Approx(*all.errors.total_rms).epsilon(1e-12));
  CHECK(sampled.errors.order_lost == Approx(all.errors.order_lost).epsilon(1e-12));
  CHECK(sampled.weights_total_variation == all.weights_total_variation);
}

TEST_CASE("a sample holds distinct pairs, the three that are always in it, and weighs all pairs") {
  for (const std::uint64_t count : {1u, 10u, 1000u}) {
    const auto sample = sample_pairs(4096, count, 3);
    CHECK(sample.size() == std::max<std::uint64_t>(count, 3));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    double weight = 0;
    for (const SampledPair& pair : sample) {
      CHECK(pair.j <= pair.i);
      CHECK(pair.i < 4096);
      places.emplace_back(pair.i, pair.j);
      weight += pair.weight;
    }
    std::sort(places.begin(), places.end());
    CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
    for (const auto& place : {std::pair{0, 0}, std::pair{4095, 0}, std::pair{4095, 4095}}) {
      CHECK(std::count(places.begin(), places.end(),
                       std::pair<std::uint64_t, std::uint64_t>(place)) == 1);
    }
    if (count == 1000) CHECK(weight == Approx(4096.0 * 4097 / 2).epsilon(1e-12));
  }
}

TEST_CASE("a sample's rms and shares come near those of all pairs") {
  const std::size_t context = 3000;
  const Construction construction = construction_of("0.1", context);
  const DistanceReference reference(construction, context);
  const Pipeline pipeline = parse_pipeline("ideal-trig", find_format("bfloat16"));
  const auto all = measure_all_pairs(pipeline, reference, 0).errors;
  const auto sampled = measure_sampled_pairs(pipeline, reference, 0, 60000, 1).errors;
  CHECK(*sampled.rounding_rms == Approx(*all.rounding_rms).epsilon(0.03));
  CHECK(sampled.order_lost == Approx(all.order_lost).margin(0.02));
  CHECK(sampled.rounding_maximum->error <= all.rounding_maximum->error);
}

}  // namespace
}  // namespace ropelab
