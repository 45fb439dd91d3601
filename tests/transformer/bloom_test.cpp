// BLOOM's forward pass against Hugging Face's code: tests/data/bloom/README.md.
#include "catch.hpp"
#include "transformer/models.hpp"

namespace ropelab {
namespace {

// The states that Hugging Face lists: all but those of the last layer before the final LayerNorm.
template <class Scalar>
double furthest_state(const LastStates<Scalar>& last, const nlohmann::json& expected) {
  double difference = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const bool is_final = k + 1 == expected.size();
    const double here = furthest(is_final ? last.states.back() : last.states[k], expected[k]);
    if (!(here <= difference)) difference = here;
  }
  return difference;
}

double furthest_statistic(const AttentionStatistics& statistics, const nlohmann::json& attention) {
  double difference = 0;
  for (std::size_t layer = 0; layer < attention.size(); ++layer) {
    const nlohmann::json& heads = attention.at("layer_" + std::to_string(layer));
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const HeadStatistics& here = statistics.at(layer, head);
      const nlohmann::json& expected = heads[head];
      for (const double d : {here.mean_entropy() - expected.at("mean_entropy_nats").get<double>(),
                             here.mean_greatest() - expected.at("mean_max_weight").get<double>(),
                             here.mean_variance() - expected.at("mean_variance").get<double>()}) {
        if (!(std::abs(d) <= difference)) difference = std::abs(d);
      }
    }
  }
  return difference;
}

// Of every prompt: `tolerance` for logits and states, the others are means of what varies less.
template <class Scalar>
void check_prompts(const std::string& model, const std::string& weights,
                   const std::string& arithmetic, double tolerance) {
  const Checkpoint checkpoint(bloom_data(model + weights));
  const Transformer<Scalar> transformer(checkpoint);
  for (const nlohmann::json& prompt : prompts_of(model)) {
    const nlohmann::json& expected = prompt.at(arithmetic);
    const Outputs<Scalar> outputs =
        outputs_of(transformer, prompt.at("token_ids").get<std::vector<Token>>());
    CAPTURE(model, arithmetic, prompt.at("name").get<std::string>());
    const auto last = outputs.logits.row(outputs.logits.rows() - 1);
    Eigen::Index first_choice = 0;
    last.maxCoeff(&first_choice);
    CHECK(furthest(last, expected.at("last_logits")) < tolerance);
    CHECK(first_choice == expected.at("argmax_last").get<int>());
    CHECK(furthest_state(outputs.last, expected.at("hidden_states_last_position")) < tolerance);
    CHECK(std::abs(outputs.cross_entropy - expected.at("mean_cross_entropy_nats").get<double>()) <
          tolerance / 10);
    CHECK(furthest_statistic(outputs.statistics, expected.at("attention")) < tolerance / 10);
  }
}

// Mean loss over the windows of the held-out text, or over the first of them.
template <class Scalar>
double heldout_loss(const Transformer<Scalar>& model, std::size_t window, std::size_t windows) {
  const std::vector<Token> text = heldout_tokens();
  std::vector<double> means;
  for (std::size_t n = 0; n < windows; ++n) {
    const std::span<const Token> tokens = std::span(text).subspan(n * window, window);
    means.push_back(mean(losses(model.logits(model.run(tokens)), tokens)));
  }
  return mean(means);
}

}  // namespace

TEST_CASE("double agrees with Hugging Face's code in float64 throughout") {
  check_prompts<double>("tiny-kjv", "", "float64_softmax64", 1e-9);
  check_prompts<double>("random-6head", "", "float64_softmax64", 1e-9);
}

TEST_CASE("float agrees with Hugging Face's float32 as far as its own +m j lets it") {
  check_prompts<float>("tiny-kjv", "", "float32", 5e-4);
  check_prompts<float>("random-6head", "", "float32", 5e-4);
}

TEST_CASE("so do the weights kept in bfloat16 and float16") {
  check_prompts<float>("tiny-kjv", "/model-bf16.safetensors", "bf16_weights", 5e-4);
  check_prompts<float>("tiny-kjv", "/model-fp16.safetensors", "fp16_weights", 5e-4);
}

TEST_CASE("held-out losses in windows of 256 and 1024, to six digits") {
  const auto check = [](const std::string& model, std::size_t window, std::size_t windows) {
    const nlohmann::json reference = reference_of(model);
    const nlohmann::json& expected =
        reference.at("heldout").at(std::to_string(window)).at("float32");
    const Checkpoint checkpoint(bloom_data(model));
    const double loss = heldout_loss(Transformer<float>(checkpoint), window, windows);
    CAPTURE(model, window);
    // In float32 the digits after them hang on the order of sums.
    CHECK(std::abs(loss - expected.at("mean_cross_entropy_nats").get<double>()) < 5e-7);
  };
  check("tiny-kjv", 256, 256);
  check("random-6head", 256, 256);
  check("tiny-kjv", 1024, 64);
}

TEST_CASE("held-out losses in double, window by window") {
  const Checkpoint checkpoint(bloom_data("tiny-kjv"));
  const Transformer<double> model(checkpoint);
  const nlohmann::json reference = reference_of("tiny-kjv");
  const nlohmann::json& heldout = reference.at("heldout");
  const std::vector<Token> text = heldout_tokens();
  for (const std::size_t window : {256u, 1024u}) {
    const nlohmann::json& expected = heldout.at(std::to_string(window)).at("float64_softmax64");
    const nlohmann::json& losses_there = expected.at("per_window_hf_loss_nats");
    for (const std::size_t n : {0u, 1u, 40u, 63u}) {
      const std::span<const Token> tokens = std::span(text).subspan(n * window, window);
      const double loss = mean(losses(model.logits(model.run(tokens)), tokens));
      CHECK(std::abs(loss - losses_there[n].get<double>()) < 1e-9);
    }
  }
}

}  // namespace ropelab
