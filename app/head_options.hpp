// The options that choose heads, or slopes instead.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/model_config.hpp"
#include "app/text_option.hpp"
#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"

namespace ropelab::app {

// A slope and, unless the user gave the slope itself, the head whose ALiBi slope it is.
struct HeadChoice {
  std::optional<int> heads;
  std::optional<int> head;  // from 1
  Algebraic slope;          // logits per position
};

// --heads and --head, or --slope.
class HeadOptions {
 public:
  void add_to(CLI::App& app, const std::string& default_head = "1");
  // As many heads as the model has, unless slopes are given. Throws UsageError where the model has
  // other slopes than alibi_slope.
  void take_defaults(const ModelConfig& model);
  // Whether slopes are given, and not heads.
  bool fixes_slope() const { return slope_.given(); }
  // In the order of the columns: for each number of heads, each head. Throws Interrupted.
  std::vector<HeadChoice> read(const Interruption& interruption = {}) const;
  // Those of --head among so many, where a file says how many there are: one for each of its
  // columns. Throws UsageError also where --heads says otherwise.
  std::vector<int> read_among(int heads, const std::string& file,
                              const Interruption& interruption = {}) const;
  // The options that are given, of "--heads", "--head" and "--slope".
  std::vector<std::string> given() const;

 private:
  std::vector<int> chosen_of(int heads, const Interruption& interruption) const;

  TextOption heads_;
  TextOption head_;
  TextOption slope_;
};

}  // namespace ropelab::app
