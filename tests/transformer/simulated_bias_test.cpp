// The bias that formats make against the steps of a pipeline, one pair of positions at a time.
#include "ropelab/transformer/simulated_bias.hpp"

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/exact/parse.hpp"
#include "transformer/models.hpp"

namespace ropelab {
namespace {

constexpr int kHeads = 4;
constexpr long long kHeadDim = 32, kFirst = 70'000;
constexpr std::size_t kPositions = 80;

Algebraic scale() { return Algebraic() / square_root(Rational(kHeadDim)); }

RotatedTable table_of(const Pipeline& pipeline, int head) {
  const Construction construction{
      parse_positive("0.1/1024"), alibi_slope(kHeads, head), kHeadDim, {}};
  return rotated_table(pipeline, construction, kFirst, kPositions);
}

SimulatedBias<float> bias_of(const Pipeline& pipeline) {
  std::vector<ScoreRows> heads;
  for (int head = 1; head <= kHeads; ++head) {
    heads.emplace_back(pipeline, scale(), score_table(table_of(pipeline, head)));
  }
  return {std::move(heads), kFirst};
}

}  // namespace

TEST_CASE("a simulated bias adds F of each head, query and key") {
  constexpr std::size_t queries = 9, keys = 40;
  constexpr long long first_query = kFirst + 51, first_key = kFirst + 20;
  for (const char* name : {"ideal-trig", "fused", "ideal-trig,scaling=float32"}) {
    for (const char* dtype : {"float16", "bfloat16", "float32"}) {
      CAPTURE(name, dtype);
      const Pipeline pipeline = parse_pipeline(name, find_format(dtype));
      const SimulatedBias<float> bias = bias_of(pipeline);
      for (int head = 1; head <= kHeads; ++head) {
        const RotatedTable table = table_of(pipeline, head);
        std::vector<float> scores(queries * keys);
        for (std::size_t n = 0; n < scores.size(); ++n) scores[n] = static_cast<float>(n % 13) / 7;
        const std::vector<float> before = scores;
        const ScoreBlock<float> block{scores.data(), keys, head, first_query, queries, first_key};
        bias.add_to(block);
        int wrong = 0;
        for (std::size_t q = 0; q < queries; ++q) {
          for (std::size_t k = 0; k < block.visible(q).size(); ++k) {
            const auto f = score_steps<DoubleDouble>(
                pipeline, ExactInput(scale()),
                table.query(static_cast<std::size_t>(block.position(q) - kFirst)),
                table.key(k + static_cast<std::size_t>(first_key - kFirst)));
            const auto expected = static_cast<float>(std::get<double>(f.scaled));
            wrong += scores[q * keys + k] != before[q * keys + k] + expected;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a simulated bias ends where its positions do") {
  const SimulatedBias<float> bias = bias_of(parse_pipeline("fused", float32_format()));
  std::vector<float> scores(200);
  const auto add = [&](long long first_query, long long first_key) {
    bias.add_to({scores.data(), 100, 1, first_query, 2, first_key});
  };
  CHECK_NOTHROW(add(kFirst + 78, kFirst));
  CHECK_THROWS_AS(add(kFirst + 79, kFirst), std::invalid_argument);
  CHECK_THROWS_AS(add(kFirst + 5, kFirst - 1), std::invalid_argument);
}

TEST_CASE("a model with a bias in double is nearly the model, step by step as at once") {
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<double> model(checkpoint);
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(150);
  const Pipeline pipeline = parse_pipeline("exact", float64_format());
  std::vector<ScoreRows> heads;
  for (int head = 1; head <= kHeads; ++head) {
    const Construction construction{
        parse_positive("1e-5"), alibi_slope(kHeads, head), kHeadDim, {}};
    heads.emplace_back(pipeline, scale(),
                       score_table(rotated_table(pipeline, construction, 0, tokens.size())));
  }
  const SimulatedBias<double> bias(std::move(heads), 0);
  RunOptions<double> options;
  options.bias = &bias;
  const Matrix<double> replaced = model.run(tokens, options);
  // The bias is off by m d (d theta)^2/6, at most 1.4e-5 at d = 149 and m = 1/4.
  const double change = (replaced - model.run(tokens)).cwiseAbs().maxCoeff();
  CHECK(change < 1e-4);
  CHECK(change > 1e-12);

  KeyValueCache<double> cache;
  options.cache = &cache;
  double furthest_step = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const Matrix<double> state = model.run(tokens.subspan(t, 1), options);
    const auto row = replaced.row(static_cast<Eigen::Index>(t));
    furthest_step = std::max(furthest_step, (state.row(0) - row).cwiseAbs().maxCoeff());
  }
  CHECK(furthest_step < 1e-10);
}

}  // namespace ropelab
