// The forward pass by itself, for tests/benchmark/bloom.sh: what experiments/torch_bloom.py does in
// PyTorch, of the same tokens, with each bias in turn.
//   bloom_forward /tmp/bloom-560m --tokens 1024 --bias native --bias pair:bfloat16 --runs 3
#include <fmt/core.h>
#include <sys/resource.h>
#include <tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "app/replacement.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/transformer/products.hpp"
#include "ropelab/transformer/transformer.hpp"

namespace {

using namespace ropelab;
using Encoding = app::Encoding<float>;

constexpr Eigen::Index kLogitsAtATime = 1 << 25;  // as `ropelab bloom`

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

struct Clocks {
  double wall, processors;
};

Clocks now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now().time_since_epoch();
  return {wall.count(), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// pair:DTYPE:PIPELINE, of which the last two may be left out; all else is what --bias of
// `ropelab bloom` takes.
Encoding encoding_of(const std::string& text, const BloomConfig& config, std::size_t tokens) {
  std::vector<std::string> parts = {text};
  if (text.starts_with("pair:")) parts = CLI::detail::split(text, ':');
  parts.resize(3);
  app::BiasWord word = app::parse_bias_word(parts[0]);
  fit_to_model(word, config);
  const Format dtype = find_format(parts[1].empty() ? "float32" : parts[1]);
  app::Replacement replacement{&word, dtype, {}, {}, {}, {}, {}};
  replacement.pipeline = parse_pipeline(parts[2].empty() ? "fused" : parts[2], dtype);
  replacement.theta = parse_positive("0.1") / Algebraic(Rational(static_cast<long long>(tokens)));
  return app::make_encoding<float>(replacement, config, 0, tokens, {});
}

// As many rows at a time as `ropelab bloom` takes.
void compute_logits(const Transformer<float>& model, const Matrix<float>& states,
                    Eigen::Index first) {
  const Eigen::Index words = model.config().vocabulary;
  const Eigen::Index most = std::max<Eigen::Index>(1, kLogitsAtATime / words);
  Matrix<float> logits(std::min(most, states.rows() - first), words);
  for (; first < states.rows(); first += most) {
    const Eigen::Index rows = std::min(most, states.rows() - first);
    model.logits(states.middleRows(first, rows), logits.topRows(rows));
  }
}

struct Settings {
  std::string folder, logits = "all";
  std::vector<std::string> biases = {"native"};
  std::size_t tokens = 1024, threads = 2;
  int runs = 3;
};

void run(const Settings& settings) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, settings.threads);
  const Checkpoint checkpoint(settings.folder);
  const Transformer<float> model(checkpoint);
  std::vector<Token> tokens;
  for (std::size_t n = 0; n < settings.tokens; ++n) {
    tokens.push_back(
        static_cast<Token>(static_cast<long long>(n) * 7919 % checkpoint.config().vocabulary));
  }
  std::vector<Encoding> encodings;
  for (const std::string& bias : settings.biases) {
    encodings.push_back(encoding_of(bias, checkpoint.config(), tokens.size()));
  }
  for (int n = 0; n < settings.runs; ++n) {
    for (std::size_t k = 0; k < encodings.size(); ++k) {
      RunOptions<float> options;
      options.bias = encodings[k].bias.get();
      const Clocks start = now();
      const Matrix<float> states = model.run(tokens, options);
      const Eigen::Index last = states.rows() - 1;
      if (settings.logits != "none") {
        compute_logits(model, states, settings.logits == "all" ? 0 : last);
      }
      const Clocks end = now();
      fmt::print("{}: {:.2f} s ({:.2f} s of processors), [{}, {}, {}]\n", settings.biases[k],
                 end.wall - start.wall, end.processors - start.processors, states(last, 0),
                 states(last, 1), states(last, 2));
    }
  }
  fmt::print("peak {:.0f} MiB, OpenBLAS's {}\n", peak_mebibytes(), blas_kernels());
}

}  // namespace

int main(int argc, char* argv[]) {
  Settings settings;
  CLI::App app(
      "Times the forward pass of a BLOOM checkpoint, tokens being n * 7919 mod vocabulary");
  app.option_defaults()->always_capture_default();
  app.add_option("CHECKPOINT", settings.folder)->required();
  app.add_option("--tokens", settings.tokens)->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", settings.threads)->check(CLI::Range(1, 4096));
  app.add_option("--runs", settings.runs, "Of each bias, by turns")->check(CLI::Range(1, 1000));
  app.add_option("--bias", settings.biases,
                 "What --bias of ropelab bloom takes, or pair:DTYPE:PIPELINE; max phase 0.1");
  app.add_option("--logits", settings.logits)->check(CLI::IsMember({"all", "last", "none"}));
  CLI11_PARSE(app, argc, argv);
  try {
    run(settings);
  } catch (const std::exception& problem) {
    std::cerr << "bloom_forward: " << problem.what() << '\n';
    return 1;
  }
}
