// The same model with other position encodings: tests/data/bloom/README.md.
#include "catch.hpp"
#include "transformer/models.hpp"

namespace ropelab {
namespace {

const std::vector<std::string> encodings = {
    "alibi-256-kjv",       "t5-kjv",     "rotary-kjv", "none-kjv", "sinusoidal-kjv",
    "sinusoidal-wide-kjv", "learned-kjv"};

}  // namespace

TEST_CASE("every encoding agrees with float64 references") {
  for (const std::string& name : encodings) {
    const Checkpoint checkpoint(bloom_data(name));
    const Transformer<double> model(checkpoint);
    for (const nlohmann::json& prompt : prompts_of(name)) {
      const auto tokens = prompt.at("token_ids").get<std::vector<Token>>();
      const Outputs<double> outputs = outputs_of(model, tokens);
      CAPTURE(name, tokens.size());
      const auto last = outputs.logits.row(outputs.logits.rows() - 1);
      CHECK(furthest(last, prompt.at("last_logits")) < 1e-9);
      CHECK(std::abs(outputs.cross_entropy - prompt.at("mean_cross_entropy_nats").get<double>()) <
            1e-9);
      const nlohmann::json& states = prompt.at("hidden_states_last_position");
      REQUIRE(outputs.last.states.size() == states.size());
      for (std::size_t k = 0; k < states.size(); ++k) {
        CHECK(furthest(outputs.last.states[k], states[k]) < 1e-9);
      }
    }
  }
}

TEST_CASE("in float they come as close as float can") {
  for (const std::string& name : encodings) {
    const Checkpoint checkpoint(bloom_data(name));
    const Transformer<float> model(checkpoint);
    for (const nlohmann::json& prompt : prompts_of(name)) {
      const auto tokens = prompt.at("token_ids").get<std::vector<Token>>();
      const Outputs<float> outputs = outputs_of(model, tokens);
      CAPTURE(name, tokens.size());
      CHECK(furthest(outputs.logits.row(outputs.logits.rows() - 1), prompt.at("last_logits")) <
            1e-3);
      CHECK(std::abs(outputs.cross_entropy - prompt.at("mean_cross_entropy_nats").get<double>()) <
            1e-5);
    }
  }
}

TEST_CASE("a learned encoding knows the positions of its table and no others") {
  const Checkpoint checkpoint(bloom_data("learned-kjv"));
  const Transformer<float> model(checkpoint);
  const std::vector<Token> tokens(257, 'a');
  CHECK_NOTHROW(model.run(std::span(tokens).first(256)));
  CHECK_THROWS_WITH(
      model.run(tokens),
      "the model has learned 256 positions, 0 to 255, and knows nothing of position 256");
  RunOptions<float> options;
  options.first_position = 250;
  CHECK_NOTHROW(model.run(std::span(tokens).first(6), options));
  CHECK_THROWS_AS(model.run(std::span(tokens).first(7), options), std::invalid_argument);
}

TEST_CASE("a relative encoding does not see where the text starts") {
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(300);
  // Rotary angles of a million rad are off by 1e-10 in double.
  for (const std::string name : {"rotary-kjv", "alibi-256-kjv", "t5-kjv", "none-kjv"}) {
    CAPTURE(name);
    const Checkpoint checkpoint(bloom_data(name));
    const Transformer<double> model(checkpoint);
    RunOptions<double> moved;
    moved.first_position = 1 << 20;
    const Matrix<double> here = model.run(tokens), there = model.run(tokens, moved);
    CHECK((here - there).cwiseAbs().maxCoeff() < 1e-7);
  }
  const Checkpoint checkpoint(bloom_data("sinusoidal-kjv"));
  RunOptions<double> moved;
  moved.first_position = 1;
  const Transformer<double> model(checkpoint);
  CHECK((model.run(tokens) - model.run(tokens, moved)).cwiseAbs().maxCoeff() > 0.1);
}

TEST_CASE("rotations can be taken from elsewhere, and rounded") {
  const Checkpoint checkpoint(bloom_data("rotary-kjv"));
  const Transformer<float> model(checkpoint);
  const std::vector<Token> text = heldout_tokens();
  const std::span<const Token> tokens = std::span(text).first(200);
  const Matrix<float> plain = model.run(tokens);
  const auto change = [&](const RoundedRotary<float>::Formats& formats) {
    const PlainRotary<float> exact(10000, 32);
    const RoundedRotary<float> rotary(exact, formats);
    RunOptions<float> options;
    options.rotary = &rotary;
    return (model.run(tokens, options) - plain).cwiseAbs().maxCoeff();
  };
  CHECK(change({}) == 0);
  const Format float16 = find_format("float16"), bfloat16 = find_format("bfloat16");
  CHECK(change({float16, {}, {}}) > 0);
  // bfloat16 has three bits less.
  CHECK(change({bfloat16, bfloat16, bfloat16}) > change({float16, float16, float16}));
  const Checkpoint without(bloom_data("none-kjv"));
  const PlainRotary<float> rotary(10000, 32);
  RunOptions<float> options;
  options.rotary = &rotary;
  CHECK_THROWS_AS(Transformer<float>(without).run(tokens, options), std::invalid_argument);
}

TEST_CASE("a rotary table turns each pair by its angle") {
  const PlainRotary<double> rotary(10000, 4);
  std::vector<double> cosines(2), sines(2), u = {1, 2, 3, 4};
  rotary.tables(3, cosines, sines);
  rotary.rotate(cosines, sines, u);
  CHECK(u[0] == Approx(std::cos(3) - 3 * std::sin(3)).epsilon(1e-15));
  CHECK(u[2] == Approx(3 * std::cos(3) + std::sin(3)).epsilon(1e-15));
  CHECK(u[1] == Approx(2 * std::cos(0.03) - 4 * std::sin(0.03)).epsilon(1e-15));
  CHECK(u[3] == Approx(4 * std::cos(0.03) + 2 * std::sin(0.03)).epsilon(1e-15));
}

}  // namespace ropelab
