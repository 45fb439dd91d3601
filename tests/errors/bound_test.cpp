// The a-priori bound on random settings: no measured error may exceed it.
#include "ropelab/errors/bound.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

class RandomSettings {
 public:
  explicit RandomSettings(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }

  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  // 10^exponent times a random number from 1 to 10, for an exponent within the range.
  Algebraic number(int least_exponent, int greatest_exponent) {
    const int exponent =
        least_exponent +
        static_cast<int>(below(static_cast<std::size_t>(greatest_exponent - least_exponent + 1)));
    const double significand = 1 + 9 * static_cast<double>(random_() >> 11) * 0x1p-53;
    return parse_positive(std::to_string(significand) + "e" + std::to_string(exponent));
  }

  // Mostly the source's.
  Split split() {
    const std::size_t choice = below(6);
    if (choice > 1) return {};
    return {choice == 0, choice == 0 ? 0 : static_cast<int>(below(40)) - 20};
  }

  // A preset, with a few steps overridden.
  std::string pipeline() {
    std::string text(one_of(pipeline_names()));
    for (const std::string_view step : step_names) {
      if (below(5) != 0) continue;
      text.append(",").append(step).append("=").append(format_of(step));
    }
    return text;
  }

 private:
  std::string format_of(std::string_view step) {
    const std::size_t formats = all_formats().size();
    const std::size_t choice = below(formats + 2);
    if (choice < formats) return std::string(all_formats()[choice].name);
    return choice > formats && step == "accumulation" ? "float32-fma" : "exact";
  }

  std::mt19937_64 random_;
};

// Checks one setting; says whether it has a bound.
bool check_bound(const Pipeline& pipeline, const Construction& construction, long long first,
                 std::size_t context) {
  const auto bound = rounding_bound(
      pipeline, {construction.theta.to_double(), amplitude(construction).to_double(),
                 construction.key_part.to_double(), static_cast<double>(construction.head_dim),
                 static_cast<double>(first), static_cast<double>(context), std::nullopt,
                 construction.key_part != Algebraic() &&
                     construction.key_part == key_part({true, 0}, amplitude(construction))});
  if (!bound) return false;
  const DistanceReference reference(construction, context);
  const auto errors = measure_all_pairs(pipeline, reference, first).errors;
  INFO(pipeline.name << " in " << pipeline[StepName::rotation].value_or(float64_format()).name
                     << " context " << context << " first " << first << " theta "
                     << construction.theta.to_decimal(20) << " slope "
                     << construction.slope.to_decimal(20) << " head_dim " << construction.head_dim
                     << " key " << construction.key_part.to_decimal(20));
  REQUIRE(errors.nonfinite_pairs == 0);
  CHECK(errors.rounding_maximum->error <= *bound);
  return true;
}

bool check_random(RandomSettings& random, const Algebraic& theta, const Algebraic& slope) {
  const Format& dtype = all_formats()[random.below(all_formats().size())];
  const auto eight_bit = random.below(2) == 0 ? EightBit::saturates : EightBit::overflows;
  const Pipeline pipeline = parse_pipeline(random.pipeline(), dtype, eight_bit);
  const auto context = 1 + random.below(random.one_of<std::size_t>({4, 40, 300}));
  const auto first = static_cast<long long>(
      random.below(random.one_of<std::size_t>({1, 3000, 100000, std::size_t{1} << 53})));
  const auto head_dim = static_cast<long long>(1 + random.below(300));
  Construction construction{theta, slope, head_dim, {}};
  construction.key_part = key_part(random.split(), amplitude(construction));
  return check_bound(pipeline, construction, first, context);
}

TEST_CASE("the rounding bound is never exceeded") {
  RandomSettings random(20240607);
  int bounded = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const Algebraic theta = random.number(-9, 0);
    bounded += check_random(random, theta, random.number(-6, 2)) ? 1 : 0;
  }
  CHECK(bounded > 300);
}

TEST_CASE("the rounding bound is never exceeded at the ends of the range of float64") {
  RandomSettings random(1);
  int bounded = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int theta = random.below(2) == 0 ? -323 + static_cast<int>(random.below(20))
                                           : -300 + static_cast<int>(random.below(300));
    // Between the least slopes there are and an N near the greatest number.
    const int slope =
        -323 +
        static_cast<int>(random.below(static_cast<std::size_t>(std::min(300, theta + 300) + 323)));
    bounded += check_random(random, random.number(theta, theta), random.number(slope, slope));
  }
  CHECK(bounded > 100);
}

TEST_CASE("most settings in use have a rounding bound") {
  RandomSettings random(2);
  int bounded = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Format& dtype = random.one_of<Format>(
        {find_format("float16"), find_format("bfloat16"), float32_format(), float64_format()});
    const Pipeline pipeline = parse_pipeline(random.one_of(pipeline_names()), dtype);
    const Construction construction{random.number(-4, -2), random.number(-3, -1), 64, {}};
    bounded += check_bound(pipeline, construction, 0, 1 + random.below(100)) ? 1 : 0;
  }
  CHECK(bounded > 90);
}

TEST_CASE("a key part that rounds to 0 or overflows leaves no bound that is exceeded") {
  RandomSettings random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Format& dtype = all_formats()[random.below(all_formats().size())];
    Construction construction{random.number(-6, -1), random.number(-3, 0), 64, {}};
    const int exponent = static_cast<int>(random.below(400)) - 200;
    construction.key_part = key_part({false, exponent}, amplitude(construction));
    check_bound(parse_pipeline(random.pipeline(), dtype), construction, 0, 1 + random.below(40));
  }
}

}  // namespace
}  // namespace ropelab
