// ropelab bloom on checkpoints as tests/benchmark writes them at BLOOM-560M's size.
#include <cmath>

#include "app/program.hpp"
#include "benchmark/synthetic_checkpoint.hpp"
#include "catch.hpp"
#include "ropelab/comparison/next_token.hpp"
#include "ropelab/transformer/transformer.hpp"

using namespace ropelab;

namespace {

SyntheticCheckpoint small_checkpoint() {
  SyntheticCheckpoint checkpoint;
  checkpoint.config.hidden_size = 64;
  checkpoint.config.layers = 2;
  checkpoint.config.heads = 4;
  checkpoint.config.vocabulary = 5000;
  return checkpoint;
}

std::vector<Token> tokens_of(std::size_t count, long long vocabulary) {
  std::vector<Token> tokens;
  for (std::size_t n = 0; n < count; ++n) {
    tokens.push_back(static_cast<Token>(static_cast<long long>(n) * 7919 % vocabulary));
  }
  return tokens;
}

std::string text_of(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += std::to_string(token) + '\n';
  return text;
}

// Writes checkpoint and ids into the folder; the arguments that run them.
std::vector<std::string> written_checkpoint(const TemporaryFolder& folder,
                                            const SyntheticCheckpoint& checkpoint,
                                            std::size_t tokens) {
  write_checkpoint(checkpoint, folder / "model");
  folder.write("ids.txt", text_of(tokens_of(tokens, checkpoint.config.vocabulary)));
  return {"bloom", folder / "model", "--tokens", folder / "ids.txt"};
}

std::vector<std::string> operator+(std::vector<std::string> arguments,
                                   const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

double synthetic_number(const CsvText& table, std::size_t row, const std::string& column) {
  return std::stod(table.at(row, column));
}

}  // namespace

TEST_CASE("bloom runs a synthetic checkpoint of three shards in bfloat16") {
  const TemporaryFolder folder;
  SyntheticCheckpoint checkpoint = small_checkpoint();
  checkpoint.shards = 3;
  const CsvText table =
      table_of(written_checkpoint(folder, checkpoint, 128) +
               std::vector<std::string>{"--windows", "64", "--bias", "none,native-relative,pair"});
  REQUIRE(table.records().size() == 3);
  for (std::size_t row = 0; row < 3; ++row) {
    CAPTURE(row);
    CHECK(table.at(row, "windows") == "2");
    // Final LayerNorm leaves a vector of length 8, so that logits are about N(0, 0.16), which
    // costs ln 5000 + 0.16^2/2 less the mean of 126 logits.
    CHECK(std::abs(synthetic_number(table, row, "cross_entropy_native") - std::log(5000)) < 0.1);
    CHECK(std::abs(synthetic_number(table, row, "cross_entropy_replaced") - std::log(5000)) < 0.1);
  }
  // A bias of up to 16 logits more or less moves the attention; its rounding does not.
  CHECK(synthetic_number(table, 0, "max_logit_change") > 1e-4);
  CHECK(synthetic_number(table, 1, "max_logit_change") < 1e-5);
  CHECK(synthetic_number(table, 2, "max_logit_change") < 1e-5);
  CHECK(table.at(2, "same_top") == "1");
}

TEST_CASE("bloom prints the same of one file without prefixes as of three shards") {
  const auto printed = [](int shards, bool prefix) {
    const TemporaryFolder folder;
    SyntheticCheckpoint checkpoint = small_checkpoint();
    checkpoint.shards = shards;
    checkpoint.prefix = prefix;
    return run(written_checkpoint(folder, checkpoint, 64) +
               std::vector<std::string>{"--windows", "64"})
        .output;
  };
  const std::string sharded = printed(3, true);
  CHECK(sharded.find("\nmodel,64,1,pair,float32,fused,0.1,8.") != std::string::npos);
  CHECK(printed(1, false) == sharded);
}

TEST_CASE("a text for a vocabulary of words is refused with what writes its ids") {
  const TemporaryFolder folder;
  written_checkpoint(folder, small_checkpoint(), 2);
  folder.write("it's.txt", "a text");
  const std::string text = folder / "it's.txt";
  for (const char* model : {"model", "model/model.safetensors"}) {
    const Outcome outcome = run({"bloom", folder / model, "--text", text});
    CHECK(outcome.status == 2);
    CHECK(outcome.error ==
          "ropelab: --text: this model has 5000 tokens, not the 256 bytes, and '" + text +
              "' would have to be cut into them; --tokens ids.npy takes what these two lines of "
              "Python write: import numpy, transformers; numpy.save('ids.npy', "
              "transformers.AutoTokenizer.from_pretrained('" +
              (folder / "model") + "')(open('" + (folder / "it\\'s.txt") +
              "', encoding='utf-8').read())['input_ids'])\n");
  }
}

TEST_CASE("bloom takes BLOOM's vocabulary in blocks of rows that leave no trace") {
  const TemporaryFolder folder;
  SyntheticCheckpoint synthetic;
  synthetic.config.hidden_size = 8;
  synthetic.config.layers = 1;
  synthetic.config.heads = 1;
  synthetic.config.vocabulary = 250880;  // of which 2^25 logits are 133 rows
  const CsvText table = table_of(
      written_checkpoint(folder, synthetic, 140) +
      std::vector<std::string>{"--windows", "140", "--bias", "none", "--model-dtype", "float64"});

  const Checkpoint checkpoint(folder / "model");
  const Transformer<double> model(checkpoint);
  const auto tokens = tokens_of(140, synthetic.config.vocabulary);
  const NoBias<double> none;
  RunOptions<double> without_bias;
  without_bias.bias = &none;
  const Matrix<double> native = model.run(tokens), replaced = model.run(tokens, without_bias);
  double loss_before = 0, loss_after = 0, divergence = 0, squares = 0;
  for (Eigen::Index row = 0; row < 140; ++row) {
    const Matrix<double> before = model.logits(native.row(row));
    const Matrix<double> after = model.logits(replaced.row(row));
    const NextTokenChange change =
        next_token_change(const_row_of<double>(before, 0), const_row_of<double>(after, 0));
    divergence += change.divergence / 140;
    if (row == 139) continue;
    const Token next = tokens[static_cast<std::size_t>(row) + 1];
    loss_before -= change.native.log_probability(before(0, next)) / 139;
    loss_after -= change.replaced.log_probability(after(0, next)) / 139;
    squares += std::pow(std::exp(change.replaced.log_probability(after(0, next))) -
                            std::exp(change.native.log_probability(before(0, next))),
                        2);
  }
  // Rows by themselves are added in another order.
  CHECK(std::abs(synthetic_number(table, 0, "cross_entropy_native") - loss_before) < 1e-12);
  CHECK(std::abs(synthetic_number(table, 0, "cross_entropy_replaced") - loss_after) < 1e-12);
  CHECK(std::abs(synthetic_number(table, 0, "mean_kl") - divergence) < 1e-6 * divergence);
  CHECK(synthetic_number(table, 0, "rms_probability_change") == Approx(std::sqrt(squares / 139)));
  // A token is no byte.
  CHECK(table.at(0, "bits_per_byte_native").empty());
  CHECK(table.at(0, "bits_per_byte_replaced").empty());
}
