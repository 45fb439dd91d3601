// Rotations as formats and pipelines compute them, against plain ones and against the definition.
#include "ropelab/transformer/computed_rotary.hpp"

#include "catch.hpp"
#include "ropelab/formats/rounder.hpp"
#include "transformer/models.hpp"

namespace ropelab {
namespace {

const FrequencyGrid& grid() {
  static const FrequencyGrid grid(Rational(10000), 32);
  return grid;
}

template <class Scalar>
struct Tables {
  std::vector<Scalar> cosines = std::vector<Scalar>(16), sines = std::vector<Scalar>(16);

  Tables(const Rotary<Scalar>& rotary, long long position) {
    rotary.tables(position, cosines, sines);
  }
};

}  // namespace

TEST_CASE("an exact rotary table in double is correctly rounded, as a plain one nearly is") {
  const Pipeline exact = parse_pipeline("exact", float64_format());
  const long double half_ulp = 0x1p-53L;
  for (const long long first : {0LL, 65'536LL, 1'048'576LL}) {
    const ComputedRotary<double> computed(exact, grid(), first, 50);
    const PlainRotary<double> plain(10000, 32);
    for (const long long position : {first, first + 1, first + 49}) {
      CAPTURE(position);
      const Tables<double> here(computed, position), there(plain, position);
      for (std::size_t r = 0; r < 16; ++r) {
        const long double angle = static_cast<long double>(position) *
                                  std::pow(10000.0L, -static_cast<long double>(r) / 16);
        // Half an ulp of a double below 1, and what long double leaves open in the angle.
        const long double tolerance = half_ulp + 0x1p-62L * (1 + angle);
        CHECK(std::abs(here.cosines[r] - std::cos(angle)) <= tolerance);
        CHECK(std::abs(here.sines[r] - std::sin(angle)) <= tolerance);
        // The power and the product of a plain angle are each off by up to an ulp.
        const double plain_tolerance = 0x1p-52 + 0x1p-51 * static_cast<double>(angle);
        CHECK(std::abs(here.cosines[r] - there.cosines[r]) <= plain_tolerance);
        CHECK(std::abs(here.sines[r] - there.sines[r]) <= plain_tolerance);
      }
    }
  }
}

TEST_CASE("a model turned exactly is the model") {
  const Checkpoint checkpoint(bloom_data("rotary-kjv"));
  const Transformer<double> model(checkpoint);
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(200);
  const ComputedRotary<double> rotary(parse_pipeline("exact", float64_format()), grid(), 0, 200);
  RunOptions<double> options;
  options.rotary = &rotary;
  CHECK((model.run(tokens, options) - model.run(tokens)).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("every step of a rotary table and rotation rounds as its pipeline says") {
  for (const char* dtype : {"float16", "bfloat16"}) {
    CAPTURE(dtype);
    const Rounder round(find_format(dtype)), to_float(float32_format());
    const ComputedRotary<float> naive(parse_pipeline("naive", find_format(dtype)), grid(), 990, 20);
    const ComputedRotary<float> late(parse_pipeline("fp32-rope", find_format(dtype)), grid(), 990,
                                     20);
    for (const long long position : {990LL, 1001LL, 1009LL}) {
      const Tables<float> all(naive, position), last(late, position);
      for (std::size_t r = 0; r < 16; ++r) {
        const double theta =
            static_cast<double>(std::pow(10000.0L, -static_cast<long double>(r) / 16));
        const auto place = static_cast<double>(position);
        const double phase = round(round(place) * round(theta));
        CHECK(all.cosines[r] == round(std::cos(phase)));
        CHECK(all.sines[r] == round(std::sin(phase)));
        const double float_phase = to_float(place * to_float(theta));
        CHECK(last.cosines[r] == round(to_float(std::cos(float_phase))));
        CHECK(last.sines[r] == round(to_float(std::sin(float_phase))));
      }
      std::vector<float> turned(32);
      for (std::size_t n = 0; n < 32; ++n) turned[n] = static_cast<float>(n * n % 37) / 9 - 2;
      const std::vector<float> before = turned;
      naive.rotate(all.cosines, all.sines, turned);
      for (std::size_t r = 0; r < 16; ++r) {
        const double u = round(before[r]), v = round(before[r + 16]);
        const double c = all.cosines[r], s = all.sines[r];
        CHECK(turned[r] == round(round(u * c) - round(v * s)));
        CHECK(turned[r + 16] == round(round(v * c) + round(u * s)));
      }
    }
  }
}

TEST_CASE("a computed rotary table ends where its positions do") {
  const ComputedRotary<float> rotary(parse_pipeline("fused", float32_format()), grid(), 100, 5);
  CHECK_NOTHROW(Tables<float>(rotary, 104));
  CHECK_THROWS_AS(Tables<float>(rotary, 105), std::out_of_range);
  CHECK_THROWS_AS(Tables<float>(rotary, 99), std::out_of_range);
}

TEST_CASE("no rotation leaves queries and keys as they are") {
  const NoRotary<float> rotary;
  const Tables<float> tables(rotary, 12345);
  std::vector<float> turned = {1, 2, 3, 4};
  rotary.rotate(std::span(tables.cosines).first(2), std::span(tables.sines).first(2), turned);
  CHECK(turned == std::vector<float>{1, 2, 3, 4});
  for (std::size_t r = 0; r < 16; ++r) {
    CHECK(tables.cosines[r] == 1);
    CHECK(tables.sines[r] == 0);
  }
}

}  // namespace ropelab
