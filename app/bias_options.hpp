// The options that choose a relative bias for `ropelab fit`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/head_options.hpp"
#include "app/text_option.hpp"
#include "ropelab/design/targets.hpp"

namespace ropelab::app {

// One bias: of a head, where the target has heads.
struct BiasChoice {
  std::string target;  // its cell: the name and what has no column of its own
  std::optional<int> heads, head;
  std::optional<Algebraic> slope;
  // How many distances it is known at, where that is limited.
  std::optional<long long> distances{};
  // The bias at distances below so many.
  std::function<RelativeBias(std::size_t, const Interruption&)> bias;
};

// --target, --bidirectional, --heads, --head, --slope and the parameters of each target.
class BiasOptions {
 public:
  void add_to(CLI::App& app);
  // Each target, and each of its heads. Reads the files. Throws UsageError, also for an option
  // that none of the targets takes, and Interrupted.
  std::vector<BiasChoice> read(const Interruption& interruption = {}) const;
  std::vector<std::string> files_read() const;

 private:
  struct Target;
  static const std::vector<Target>& targets();

  void refuse_idle_options(const std::vector<std::string>& names) const;
  std::vector<BiasChoice> choices_of(const std::string& text,
                                     const Interruption& interruption) const;
  // One for each target.
  std::vector<BiasChoice> alibi(const Interruption& interruption) const;
  std::vector<BiasChoice> t5(const Interruption& interruption) const;
  std::vector<BiasChoice> sinusoidal(const Interruption& interruption) const;
  std::vector<BiasChoice> kerple_log(const Interruption& interruption) const;
  std::vector<BiasChoice> kerple_power(const Interruption& interruption) const;
  std::vector<BiasChoice> sandwich(const Interruption& interruption) const;
  std::vector<BiasChoice> table(const std::string& path) const;

  std::string cell(const std::string& text) const;
  Algebraic embedding_base() const;
  int embedding_dim() const;

  TextOption target_;
  HeadOptions heads_;
  TextOption values_, buckets_, max_distance_;
  TextOption embedding_base_, embedding_dim_;
  TextOption r1_, r2_;
  bool bidirectional_ = false;
};

}  // namespace ropelab::app
