// The small models of tests/data/bloom, and what others computed from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ropelab/transformer/transformer.hpp"

namespace ropelab {

inline std::string bloom_data(const std::string& name) {
  return std::string(ROPELAB_TEST_DATA) + "/bloom/" + name;
}

inline nlohmann::json reference_of(const std::string& model) {
  std::ifstream file(bloom_data(model + "/reference.json"));
  return nlohmann::json::parse(file);
}

inline std::vector<nlohmann::json> prompts_of(const std::string& model) {
  return reference_of(model).at("prompts").get<std::vector<nlohmann::json>>();
}

inline std::vector<Token> heldout_tokens() {
  std::ifstream file(bloom_data("tiny-kjv/heldout.txt"), std::ios::binary);
  std::vector<Token> tokens;
  for (char byte; file.get(byte);) tokens.push_back(static_cast<unsigned char>(byte));
  return tokens;
}

// -ln softmax(logits of position t)[token t+1] for t = 0 ... size-2, by the definition, in double.
template <class Scalar>
std::vector<double> losses(const Matrix<Scalar>& logits, std::span<const Token> tokens) {
  std::vector<double> all;
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    const Eigen::ArrayXd row =
        logits.row(static_cast<Eigen::Index>(t)).template cast<double>().transpose().array();
    const double greatest = row.maxCoeff();
    all.push_back(greatest + std::log((row - greatest).exp().sum()) - row[tokens[t + 1]]);
  }
  return all;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The largest difference between a row and numbers of a reference.
template <class Row>
double furthest(const Row& row, const nlohmann::json& expected) {
  if (static_cast<std::size_t>(row.size()) != expected.size()) return INFINITY;
  double difference = 0;
  for (Eigen::Index k = 0; k < row.size(); ++k) {
    const double here = std::abs(static_cast<double>(row[k]) -
                                 expected[static_cast<std::size_t>(k)].template get<double>());
    if (!(here <= difference)) difference = here;
  }
  return difference;
}

// The states that a run shows at its last position.
template <class Scalar>
struct LastStates {
  std::vector<Eigen::Array<Scalar, Eigen::Dynamic, 1>> states;

  void operator()(int, const ConstMatrixView<Scalar>& rows) {
    states.push_back(rows.row(rows.rows() - 1).transpose());
  }
};

// What a text gives.
template <class Scalar>
struct Outputs {
  Matrix<Scalar> logits;
  double cross_entropy;
  LastStates<Scalar> last;
  AttentionStatistics statistics;
};

template <class Scalar>
Outputs<Scalar> outputs_of(const Transformer<Scalar>& model, const std::vector<Token>& tokens) {
  Outputs<Scalar> outputs;
  RunOptions<Scalar> options;
  options.statistics = &outputs.statistics;
  options.show_states = [&](int n, const ConstMatrixView<Scalar>& rows) { outputs.last(n, rows); };
  outputs.logits = model.logits(model.run(tokens, options));
  outputs.cross_entropy = mean(losses(outputs.logits, tokens));
  return outputs;
}

}  // namespace ropelab
