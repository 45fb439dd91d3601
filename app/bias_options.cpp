#include "app/bias_options.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bias_files.hpp"
#include "app/construction_options.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

constexpr std::string_view kTable = "table:";
constexpr int kMostBuckets = 65536;
constexpr int kLargestDim = 65536;

}  // namespace

struct BiasOptions::Target {
  std::string name;
  std::vector<std::string> options;  // that it takes, besides --bidirectional
  std::vector<BiasChoice> (BiasOptions::*choices)(const Interruption&) const;
};

const std::vector<BiasOptions::Target>& BiasOptions::targets() {
  static const std::vector<Target> all = {
      {"alibi", {"--heads", "--head", "--slope"}, &BiasOptions::alibi},
      {"t5", {"--heads", "--head", "--values", "--buckets", "--max-distance"}, &BiasOptions::t5},
      {"sinusoidal", {"--embedding-base", "--embedding-dim"}, &BiasOptions::sinusoidal},
      {"kerple-log", {"--r1", "--r2"}, &BiasOptions::kerple_log},
      {"kerple-power", {"--r1", "--r2"}, &BiasOptions::kerple_power},
      {"sandwich",
       {"--heads", "--head", "--embedding-base", "--embedding-dim"},
       &BiasOptions::sandwich}};
  return all;
}

void BiasOptions::add_to(CLI::App& app) {
  target_.add_to(app, "--target", kTargets,
                 "What is to be represented: alibi, t5, sinusoidal, kerple-log, kerple-power, "
                 "sandwich, or table:FILE, a number a line or distance,number; a list",
                 "alibi");
  app.add_flag("--bidirectional", bidirectional_,
               "Keys ahead of the query are seen as well, as in encoders");
  heads_.add_to(app);
  values_.add_to(app, "--values", "FILE",
                 "t5: the learned values, a line for each bucket with a number for each head");
  buckets_.add_to(app, "--buckets", "INTEGER", "t5: how many, of both directions", "32");
  max_distance_.add_to(app, "--max-distance", "INTEGER",
                       "t5: from which distance on all keys share a bucket", "128");
  embedding_base_.add_to(app, "--embedding-base", "NUMBER",
                         "sinusoidal, sandwich: base of the frequencies", "10000");
  embedding_dim_.add_to(app, "--embedding-dim", "INTEGER",
                        "sinusoidal, sandwich: dimension of the embeddings", "128");
  r1_.add_to(app, "--r1", "NUMBER", "kerple: -r1 log(1 + r2 d) or -r1 d^r2", "1");
  r2_.add_to(app, "--r2", "NUMBER", "kerple: see --r1; at most 2 for the power", "1");
}

std::vector<BiasChoice> BiasOptions::read(const Interruption& interruption) const {
  const auto texts = target_.read([](const std::string& text) { return split_list(text); });
  refuse_idle_options(texts);
  std::vector<BiasChoice> choices;
  for (const std::string& text : texts) {
    for (BiasChoice& choice : choices_of(text, interruption)) choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<std::string> BiasOptions::files_read() const {
  std::vector<std::string> files;
  if (values_.given()) files.push_back(values_.text());
  for (const std::string& text : split_list(target_.text())) {
    if (text.starts_with(kTable)) files.push_back(text.substr(kTable.size()));
  }
  return files;
}

void BiasOptions::refuse_idle_options(const std::vector<std::string>& names) const {
  auto given = heads_.given();
  for (const TextOption* option :
       {&values_, &buckets_, &max_distance_, &embedding_base_, &embedding_dim_, &r1_, &r2_}) {
    if (option->given()) given.push_back(option->name());
  }
  for (const std::string& option : given) {
    std::vector<std::string> takers;
    for (const Target& target : targets()) {
      const auto& options = target.options;
      if (std::find(options.begin(), options.end(), option) != options.end()) {
        takers.push_back(target.name);
      }
    }
    const auto is_taker = [&](const std::string& name) {
      return std::find(takers.begin(), takers.end(), name) != takers.end();
    };
    if (std::none_of(names.begin(), names.end(), is_taker)) {
      throw UsageError(option, fmt::format("--target '{}' does not take it; {} would",
                                           target_.text(), fmt::join(takers, " or ")));
    }
  }
}

std::vector<BiasChoice> BiasOptions::choices_of(const std::string& text,
                                                const Interruption& interruption) const {
  if (text.starts_with(kTable)) return table(text.substr(kTable.size()));
  for (const Target& target : targets()) {
    if (target.name == text) return (this->*target.choices)(interruption);
  }
  std::vector<std::string> names;
  for (const Target& target : targets()) names.push_back(target.name);
  throw UsageError(target_.name(),
                   fmt::format("'{}' is none of {}, {}FILE", text, fmt::join(names, ", "), kTable));
}

std::string BiasOptions::cell(const std::string& text) const {
  return bidirectional_ ? text + ":bidirectional" : text;
}

std::vector<BiasChoice> BiasOptions::alibi(const Interruption& interruption) const {
  std::vector<BiasChoice> choices;
  for (const HeadChoice& head : heads_.read(interruption)) {
    choices.push_back({cell("alibi"),
                       head.heads,
                       head.head,
                       head.slope,
                       {},
                       [slope = head.slope, both = bidirectional_](auto, const auto&) {
                         return alibi_bias(slope, both);
                       }});
  }
  return choices;
}

std::vector<BiasChoice> BiasOptions::t5(const Interruption& interruption) const {
  if (!values_.given()) {
    throw UsageError("--values", "t5 needs the file of its learned values, a line for each bucket");
  }
  T5Buckets buckets{0, 0, bidirectional_};
  buckets.count = buckets_.read([](const std::string& text) {
    return static_cast<int>(parse_integer(text, 2, kMostBuckets));
  });
  buckets.max_distance = max_distance_.read(
      [](const std::string& text) { return static_cast<int>(parse_integer(text, 2, 1 << 30)); });
  buckets_.read([&](const std::string&) { return t5_bucket(buckets, 0); });
  if (values_.text().empty()) {
    throw UsageError(values_.name(), "'' is no name; write that of the file of t5's values");
  }
  const auto values = values_.read(
      [&](const std::string& path) { return read_bucket_values(path, buckets.count); });
  const int heads = static_cast<int>(values.front().size());
  std::string name = fmt::format("t5:values={}", values_.text());
  if (buckets_.given()) name += fmt::format(":buckets={}", buckets.count);
  if (max_distance_.given()) name += fmt::format(":max-distance={}", buckets.max_distance);
  std::vector<BiasChoice> choices;
  for (const int head : heads_.read_among(heads, values_.text(), interruption)) {
    std::vector<Rational> of_head;
    for (const auto& bucket : values) of_head.push_back(bucket[static_cast<std::size_t>(head - 1)]);
    choices.push_back({cell(name),
                       heads,
                       head,
                       {},
                       {},
                       [buckets, of_head](std::size_t distances, const Interruption& stop) {
                         return t5_bias(buckets, of_head, distances, stop);
                       }});
  }
  return choices;
}

Algebraic BiasOptions::embedding_base() const {
  return embedding_base_.read([](const std::string& text) { return parse_positive(text); });
}

int BiasOptions::embedding_dim() const {
  return embedding_dim_.read([](const std::string& text) {
    const auto dim = static_cast<int>(parse_integer(text, 2, kLargestDim));
    if (dim % 2 != 0) {
      throw std::invalid_argument(
          fmt::format("'{}' is odd; pairs of components need an even "
                      "number",
                      text));
    }
    return dim;
  });
}

std::vector<BiasChoice> BiasOptions::sinusoidal(const Interruption&) const {
  const FrequencyGrid grid(embedding_base(), embedding_dim());
  const std::string name =
      fmt::format("sinusoidal:base={}:dim={}", grid.base().to_double(), grid.rope_dim());
  return {{cell(name),
           {},
           {},
           {},
           {},
           [grid, both = bidirectional_](std::size_t distances, const Interruption& stop) {
             return sinusoidal_bias(grid, both, distances, stop);
           }}};
}

std::vector<BiasChoice> BiasOptions::kerple_log(const Interruption&) const {
  const Algebraic r1 = r1_.read(parse_positive), r2 = r2_.read(parse_positive);
  const auto bias = [r1 = r1.to_real(), r2 = r2.to_real(), both = bidirectional_](
                        std::size_t distances, const Interruption& stop) {
    return kerple_log_bias(r1, r2, both, distances, stop);
  };
  r2_.read([&](const std::string&) { return bias(1, {}); });
  return {{cell(fmt::format("kerple-log:r1={}:r2={}", r1.to_double(), r2.to_double())),
           {},
           {},
           {},
           {},
           bias}};
}

std::vector<BiasChoice> BiasOptions::kerple_power(const Interruption&) const {
  const Algebraic r1 = r1_.read(parse_positive), r2 = r2_.read(parse_positive);
  const auto bias = [r1 = r1.to_real(), r2 = r2.to_real(), both = bidirectional_](
                        std::size_t distances, const Interruption& stop) {
    return kerple_power_bias(r1, r2, both, distances, stop);
  };
  r2_.read([&](const std::string&) { return bias(1, {}); });
  return {{cell(fmt::format("kerple-power:r1={}:r2={}", r1.to_double(), r2.to_double())),
           {},
           {},
           {},
           {},
           bias}};
}

std::vector<BiasChoice> BiasOptions::sandwich(const Interruption& interruption) const {
  const Algebraic base = embedding_base();
  const int dim = embedding_dim();
  if (heads_.fixes_slope()) throw UsageError("--slope", "sandwich has heads and no slopes");
  std::vector<BiasChoice> choices;
  for (const HeadChoice& head : heads_.read(interruption)) {
    choices.push_back({cell(fmt::format("sandwich:base={}:dim={}", base.to_double(), dim)),
                       head.heads,
                       head.head,
                       {},
                       {},
                       [=, heads = *head.heads, chosen = *head.head, both = bidirectional_](
                           std::size_t distances, const Interruption& stop) {
                         return sandwich_bias(heads, chosen, base, dim, both, distances, stop);
                       }});
  }
  return choices;
}

std::vector<BiasChoice> BiasOptions::table(const std::string& path) const {
  if (path.empty()) {
    throw UsageError(target_.name(),
                     fmt::format("'{0}' names no file; {0}FILE would be right", kTable));
  }
  const BiasTable table =
      target_.read([&](const std::string&) { return read_bias_table(path, bidirectional_); });
  const std::size_t ahead = bidirectional_ ? table.ahead.size() : table.behind.size();
  return {{cell(std::string(kTable) + path),
           {},
           {},
           {},
           static_cast<long long>(std::min(table.behind.size(), ahead)),
           [table](std::size_t, const Interruption&) {
             return table_bias(table.behind, table.ahead);
           }}};
}

}  // namespace ropelab::app
