// The options of the construction, read without running anything.
#include "app/construction_options.hpp"

#include "app/head_options.hpp"
#include "catch.hpp"

using namespace ropelab;
using namespace ropelab::app;

namespace {

// An option group with what a command line gives it.
template <typename Options>
struct Given {
  template <typename... Defaults>
  explicit Given(const std::string& line, const Defaults&... defaults) {
    options.add_to(application, defaults...);
    application.parse(line);
  }
  CLI::App application;
  Options options;
};

template <typename Options>
auto read(const std::string& line) {
  return Given<Options>(line).options.read();
}

// The sentence that refuses a command line; empty if nothing does.
template <typename Options>
std::string construction_refusal(const std::string& line) {
  try {
    read<Options>(line);
  } catch (const UsageError& error) {
    return error.what();
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return {};
}

const Algebraic tenth(Rational(1, 10));

}  // namespace

TEST_CASE("without options there is the construction of the articles") {
  CHECK(read<ContextOption>("") == std::vector<long long>{65536});
  const Rotation rotation = read<RotationOptions>("");
  CHECK(rotation.kind == RotationKind::max_phase);
  CHECK(rotation.values == std::vector<Algebraic>{tenth});
  const auto heads = read<HeadOptions>("");
  REQUIRE(heads.size() == 1);
  CHECK(heads[0].heads == 16);
  CHECK(heads[0].head == 1);
  CHECK(heads[0].slope == Algebraic(Rational(1, 2), 2));
  CHECK(read<HeadDimOption>("") == std::vector<long long>{64});
  CHECK(read<FormatOptions>("").size() == 3);
  CHECK(read<PipelineOption>("") == std::vector<std::string>{"ideal-trig"});
  CHECK(read<FirstPositionOption>("") == 0);
  CHECK(read<ToleranceOption>("") == Algebraic(Rational(1, 20)));
  CHECK(read<BiasScaleOption>("") == BiasScale::after);
  CHECK(!read<SamplingOption>("").all);
  CHECK(!read<SamplingOption>("").sample);
}

TEST_CASE("a base has the slowest of 64 dimensions' pairs unless told otherwise") {
  const Rotation rotation = read<RotationOptions>("--base 1e4,5e5");
  CHECK(rotation.kind == RotationKind::base);
  CHECK(rotation.values.size() == 2);
  CHECK(rotation.rope_dims == std::vector<int>{64});
  CHECK(rotation.pairs == std::vector<PairChoice>{PairWord::slowest});
}

TEST_CASE("a command may choose what holds if theta, phase and base are not given") {
  const RotationOptions::Default bases{RotationKind::base, "1e4,1e5"};
  CHECK(Given<RotationOptions>("--rope-dim 128", bases).options.read().values.size() == 2);
  const Rotation theta = Given<RotationOptions>("--theta 1e-6", bases).options.read();
  CHECK(theta.kind == RotationKind::theta);
  CHECK(theta.rope_dims.empty());
}

TEST_CASE("pairs are indices, words or ranges") {
  const Rotation rotation = read<RotationOptions>("--base 1e4 --pair 0,nearest,2:4:3,all,slowest");
  CHECK(rotation.pairs ==
        std::vector<PairChoice>{0, PairWord::nearest, 2, 3, 4, PairWord::all, PairWord::slowest});
}

TEST_CASE("heads come for each number of heads, and a slope has none") {
  const auto heads = read<HeadOptions>("--heads 2,4 --head 1,all");
  REQUIRE(heads.size() == 8);
  CHECK(heads[1].heads == 2);
  CHECK(heads[1].head == 1);
  CHECK(heads[7].heads == 4);
  CHECK(heads[7].head == 4);
  const auto slopes = read<HeadOptions>("--slope 0.707,2^(-1/2)");
  REQUIRE(slopes.size() == 2);
  CHECK(!slopes[0].heads);
  CHECK(slopes[0].slope == Algebraic(Rational(707, 1000)));
}

TEST_CASE("formats saturate only where it is wanted") {
  const auto plain = read<FormatOptions>("--dtype float8_e4m3fn,float16");
  const auto saturating = read<FormatOptions>("--dtype float8_e4m3fn,float16 --saturate");
  CHECK(plain[0].overflow == Overflow::nan);
  CHECK(saturating[0].overflow == Overflow::saturate);
  CHECK(saturating[1] == plain[1]);
}

TEST_CASE("an override belongs to the pipeline before it") {
  CHECK(read<PipelineOption>("--pipeline fused,table=bfloat16,naive") ==
        std::vector<std::string>{"fused,table=bfloat16", "naive"});
}

TEST_CASE("N is left with the query, divided evenly or by a power of two") {
  CHECK(read<SplitOption>("") == std::vector<Split>{{}});
  CHECK(read<SplitOption>("--split query,even,key=2^8,key=2^-3,key=2^0") ==
        std::vector<Split>{{}, {true, 0}, {false, 8}, {false, -3}, {}});
  CHECK(to_text(Split{false, -3}) == "key=2^-3");
}

TEST_CASE("pairs of positions are all, or so many") {
  CHECK(read<SamplingOption>("--pairs all").all);
  CHECK(read<SamplingOption>("--pairs sample:1M").sample == 1048576);
}

TEST_CASE("what cannot be meant is refused in a sentence with option and value") {
  CHECK_THAT(construction_refusal<ContextOption>("--context 0"),
             ContainsSubstring("--context: '0'"));
  CHECK_THAT(construction_refusal<ContextOption>("--context 0.5"),
             ContainsSubstring("--context: '0.5'"));
  CHECK_THAT(construction_refusal<ContextOption>("--context 1e20"),
             ContainsSubstring("--context: '1e20'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta 0"), ContainsSubstring("--theta: '0'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta=-1e-6"),
             ContainsSubstring("--theta: '-1e-6'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta nan"),
             ContainsSubstring("--theta: 'nan'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base 0"), ContainsSubstring("--base: '0'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base=-1"), ContainsSubstring("--base: '-1'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base 1e4 --rope-dim 63"),
             ContainsSubstring("--rope-dim: '63'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base 1e4 --rope-dim 0"),
             ContainsSubstring("--rope-dim: '0'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base 1e4 --pair 32"),
             ContainsSubstring("--pair: '32'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--base 1e4 --pair fast"),
             ContainsSubstring("--pair: 'fast'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--pair 3"), ContainsSubstring("--pair: '3'"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta 1e-6 --pair 3"),
             ContainsSubstring("excludes"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta 1e-6 --base 1e4"),
             ContainsSubstring("excludes"));
  CHECK_THAT(construction_refusal<RotationOptions>("--theta 1e-6 --max-phase 1"),
             ContainsSubstring("excludes"));
  CHECK_THAT(construction_refusal<HeadDimOption>("--head-dim 0"),
             ContainsSubstring("--head-dim: '0'"));
  CHECK_THAT(construction_refusal<PipelineOption>("--pipeline quick"),
             ContainsSubstring("'quick'"));
  CHECK_THAT(construction_refusal<PipelineOption>("--pipeline fused,tabel=float16"),
             ContainsSubstring("tabel"));
  CHECK_THAT(construction_refusal<PipelineOption>("--pipeline table=float16"),
             ContainsSubstring("--pipeline"));
  CHECK_THAT(
      construction_refusal<PipelineOption>("--pipeline fused,table=half"),
      ContainsSubstring("'half' is nothing that the step table computes in; there are exact, "
                        "float16, bfloat16"));
  CHECK_THAT(construction_refusal<PipelineOption>("--pipeline fused,table=float32-fma"),
             ContainsSubstring("float8_e5m2") && !ContainsSubstring("float8_e5m2, float32-fma"));
  CHECK_THAT(construction_refusal<PipelineOption>("--pipeline fused,accumulation=half"),
             ContainsSubstring("there are exact, float16") && ContainsSubstring("float32-fma"));
  CHECK(
      construction_refusal<PipelineOption>("--pipeline fused,accumulation=float32-fma,table=exact")
          .empty());
  CHECK_THAT(construction_refusal<SamplingOption>("--pairs some"),
             ContainsSubstring("--pairs: 'some'"));
  CHECK_THAT(construction_refusal<SamplingOption>("--pairs sample:0"),
             ContainsSubstring("--pairs: '0'"));
  CHECK_THAT(construction_refusal<ToleranceOption>("--tolerance 0"),
             ContainsSubstring("--tolerance: '0'"));
  CHECK_THAT(construction_refusal<BiasScaleOption>("--bias-scale now"), ContainsSubstring("'now'"));
  CHECK_THAT(construction_refusal<FirstPositionOption>("--first-position=-1"),
             ContainsSubstring("--first-position: '-1'"));
  CHECK_THAT(construction_refusal<SplitOption>("--split odd"), ContainsSubstring("--split: 'odd'"));
  CHECK_THAT(construction_refusal<SplitOption>("--split key=256"),
             ContainsSubstring("as in key=2^8"));
  CHECK_THAT(construction_refusal<SplitOption>("--split key=2^1/2"),
             ContainsSubstring("--split: '1/2'"));
  CHECK_THAT(construction_refusal<SplitOption>("--split key=2^1024"),
             ContainsSubstring("-1022 to 1023"));
  CHECK(construction_refusal<RotationOptions>("--base 1").empty());
}
