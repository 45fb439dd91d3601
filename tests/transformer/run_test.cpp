// What must not change the outcome of a run: the cache, the number of threads; and what is refused.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>

#include "catch.hpp"
#include "transformer/models.hpp"

namespace ropelab {
namespace {

// The hidden states of a text that is read in parts of these sizes.
template <class Scalar>
Matrix<Scalar> run_in_parts(const Transformer<Scalar>& model, std::span<const Token> tokens,
                            const std::vector<std::size_t>& parts) {
  KeyValueCache<Scalar> cache;
  RunOptions<Scalar> options;
  options.cache = &cache;
  Matrix<Scalar> all(static_cast<Eigen::Index>(tokens.size()), model.config().hidden_size);
  std::size_t first = 0;
  for (const std::size_t part : parts) {
    all.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(part)) =
        model.run(tokens.subspan(first, part), options);
    first += part;
  }
  REQUIRE(first == tokens.size());
  REQUIRE(cache.size() == static_cast<long long>(tokens.size()));
  return all;
}

}  // namespace

TEST_CASE("reading on with a cache is reading at once") {
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(150);
  const std::vector<std::size_t> one_by_one(150, 1);
  for (const std::string name :
       {"tiny-kjv", "random-6head", "rotary-kjv", "t5-kjv", "learned-kjv", "sinusoidal-kjv"}) {
    CAPTURE(name);
    const Checkpoint checkpoint(bloom_data(name));
    const Transformer<double> model(checkpoint);
    const Matrix<double> at_once = model.run(tokens);
    for (const auto& parts : {one_by_one, {150}, {1, 100, 20, 29}, {130, 20}}) {
      CHECK((run_in_parts(model, tokens, parts) - at_once).cwiseAbs().maxCoeff() < 1e-11);
    }
    const Transformer<float> narrow(checkpoint);
    CHECK((run_in_parts(narrow, tokens, one_by_one) - narrow.run(tokens)).cwiseAbs().maxCoeff() <
          1e-3f);
  }
}

TEST_CASE("statistics of parts are those of the whole") {
  const std::vector<Token> text = heldout_tokens();
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<double> model(checkpoint);
  AttentionStatistics whole, parts;
  RunOptions<double> options;
  options.statistics = &whole;
  model.run(std::span(text).first(200), options);
  KeyValueCache<double> cache;
  options.statistics = &parts;
  options.cache = &cache;
  model.run(std::span(text).first(77), options);
  model.run(std::span(text).subspan(77, 123), options);
  for (std::size_t head = 0; head < 4; ++head) {
    CHECK(parts.at(3, head).queries == 200);
    CHECK(parts.at(3, head).mean_entropy() ==
          Approx(whole.at(3, head).mean_entropy()).epsilon(1e-12));
    CHECK(parts.at(3, head).mean_variance() ==
          Approx(whole.at(3, head).mean_variance()).epsilon(1e-12));
  }
}

TEST_CASE("the number of threads changes no bit") {
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(700);
  const Checkpoint checkpoint(bloom_data("tiny-kjv/model-bf16.safetensors"));
  const Transformer<float> model(checkpoint);
  // More than there are processors, if need be.
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 3);
  const auto logits = [&](int threads) {
    tbb::task_arena arena(threads);
    return arena.execute([&] { return model.logits(model.run(tokens)); });
  };
  const Matrix<float> alone = logits(1);
  CHECK(alone == logits(2));
  CHECK(alone == logits(3));
}

TEST_CASE("what a model adds by itself can be replaced") {
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(300);
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<double> model(checkpoint);
  const RelativeAlibi<double> relative(4);
  const NoBias<double> none;
  RunOptions<double> options;
  const Matrix<double> native = model.run(tokens);
  options.bias = &relative;
  CHECK((model.run(tokens, options) - native).cwiseAbs().maxCoeff() < 1e-10);
  options.bias = &none;
  CHECK((model.run(tokens, options) - native).cwiseAbs().maxCoeff() > 0.1);
}

TEST_CASE("a bias that is not finite shows in every state that has seen it") {
  class Broken : public AttentionBias<float> {
    void add_to(const ScoreBlock<float>& block) const override {
      for (std::size_t q = 0; q < block.queries; ++q) {
        if (block.position(q) >= 150) block.visible(q)[0] += std::nanf("");
      }
    }
  };
  const std::vector<Token> tokens(200, 'a');
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Broken broken;
  RunOptions<float> options;
  options.bias = &broken;
  const Matrix<float> states = Transformer<float>(checkpoint).run(tokens, options);
  CHECK(states.topRows(128).allFinite());
  CHECK(states.bottomRows(50).array().isNaN().all());
}

TEST_CASE("tokens outside the vocabulary are refused, and nothing is a text too") {
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<float> model(checkpoint);
  const std::vector<Token> beyond = {1, 256}, below = {-1};
  CHECK_THROWS_WITH(model.run(beyond), "token 256 is not in the vocabulary of 256, 0 to 255");
  CHECK_THROWS_WITH(model.run(below), "token -1 is not in the vocabulary of 256, 0 to 255");
  CHECK(model.run({}).rows() == 0);
  CHECK(model.logits(model.run({})).rows() == 0);
}

TEST_CASE("an interrupted run leaves its cache as it was") {
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<float> model(checkpoint);
  const std::vector<Token> tokens = {10, 20, 30, 40};
  KeyValueCache<float> cache;
  RunOptions<float> options;
  options.cache = &cache;
  model.run(std::span(tokens).first(2), options);
  std::atomic<bool> stop = false;
  RunOptions<float> stopped = options;
  stopped.interruption = Interruption(stop);
  stopped.show_states = [&](int n, const ConstMatrixView<float>&) { stop = n == 2; };
  CHECK_THROWS_AS(model.run(std::span(tokens).subspan(2), stopped), Interrupted);
  CHECK(cache.size() == 2);
  const Matrix<float> rest = model.run(std::span(tokens).subspan(2), options);
  CHECK((rest - model.run(tokens).bottomRows(2)).cwiseAbs().maxCoeff() < 1e-5f);
}

}  // namespace ropelab
