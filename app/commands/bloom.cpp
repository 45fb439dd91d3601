// ropelab bloom: a BLOOM model with its own position encoding, and with what stands in for it.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/construction_options.hpp"
#include "app/model_comparison.hpp"
#include "app/terminal.hpp"
#include "ropelab/checkpoint/token_file.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/sweep/values.hpp"
#include "ropelab/table/text_file.hpp"

namespace ropelab::app {
namespace {

constexpr int kBytes = 256;
constexpr const char* kAttention = "attention";
constexpr const char* kByPosition = "by-position";

// As Python writes a text.
std::string in_python(const std::string& text) {
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "'";
}

// Windows of one length.
struct Point {
  EvaluationPlan plan;
  std::vector<Replacement> replacements;
};

class Bloom : public Command {
 public:
  void add_options(CLI::App& app) override {
    folder_.add_to(
        app, "DIR", "",
        "Folder of a checkpoint in Hugging Face's BLOOM layout, or a file of weights or an "
        "index with config.json beside it");
    folder_.option()->required();
    text_.add_to(app, "--text", "FILE", "A text, for models whose vocabulary is the 256 bytes");
    tokens_.add_to(app, "--tokens", "FILE", "Token ids: whole numbers, or an .npy of them");
    tokens_.option()->excludes(text_.option());
    windows_.add_to(app, "--windows", kIntegers, "Tokens of a window, which starts fresh", "1024");
    stride_.add_to(app, "--stride", "INTEGER",
                   "Start a window every so many tokens, and count only the predictions of those "
                   "that are new (default: windows do not overlap)");
    limit_.add_to(app, "--limit", "COUNT", "Only the first COUNT windows");
    biases_.add_to(app, "--bias", kBiases,
                   "What to replace the model's encoding by: native (nothing), native-absolute "
                   "(+m j), native-relative (-m (i-j)), none, pair (the construction), "
                   "design:FILE (of ropelab design --model-file), rotary (the model's own "
                   "rotation in a format; all but it and native leave a rotation out); default: "
                   "pair for ALiBi, rotary for rotary models, else native");
    max_phase_.add_to(app, "--max-phase", kNumbers, "pair: phase over a window, rad", "0.1");
    theta_.add_to(app, "--theta", kNumbers, "pair: rotation per position, rad");
    theta_.option()->excludes(max_phase_.option());
    formats_.add_to(app, "float32");
    pipelines_.add_to(app, "fused");
    split_.add_to(app);
    first_position_.add_to(app);
    arithmetic_.add_to(app, "--model-dtype", "FORMAT",
                       "What the model itself computes in: float32 or float64", "float32");
    app.add_flag("--attention", wants_statistics_,
                 "Also a table of the attention weights of every layer and head");
    app.add_flag("--by-position", wants_bins_,
                 "Also a table of the loss by position in the window");
  }

  void set_up(const Interruption& interruption) override {
    say_when_mapped_file_is_lost(
        fmt::format("'{}': a file of weights became shorter, or unreadable, while it was in use; "
                    "one that stays as it is would be right",
                    folder_.text()));
    checkpoint_ =
        folder_.read([](const std::string& text) { return std::make_unique<Checkpoint>(text); });
    window_lengths_ = windows_.read([&](const std::string& text) {
      return parse_integer_values(text, 2, kMostPositions, interruption);
    });
    read_tokens();
    read_arithmetic();
    first_ = first_position_.read();
    read_biases();
    refuse_options_without_meaning();
    const auto rotations = rotation().read(
        [&](const std::string& text) { return parse_positive_values(text, interruption); });
    for (const long long window : window_lengths_) {
      points_.push_back({plan(static_cast<std::size_t>(window)), {}});
      add_replacements(points_.back(), rotations);
    }
  }

  std::vector<std::string> columns() const override {
    return {"model",
            "window",
            "windows",
            "bias",
            "dtype",
            "pipeline",
            "max_phase",
            "cross_entropy_native",
            "cross_entropy_replaced",
            "difference",
            "standard_error",
            "ci_low",
            "ci_high",
            "p_value",
            "mean_kl",
            "p99_kl",
            "max_kl",
            "max_logit_change",
            "rms_logit_change",
            "same_top",
            "bits_per_byte_native",
            "bits_per_byte_replaced",
            "rms_probability_change",
            "largest_entropy_difference",
            "largest_max_weight_difference",
            "largest_variance_difference"};
  }

  std::optional<std::size_t> rows_in_all() const override {
    std::size_t rows = 0;
    for (const Point& point : points_) rows += point.replacements.size();
    return rows;
  }

  std::vector<std::string> files_read() const override {
    std::vector<std::string> files = checkpoint_->files();
    files.push_back(text_.given() ? text_.text() : tokens_.text());
    for (const BiasWord& word : words_) {
      if (word.kind == ReplacementKind::design) {
        files.push_back(word.text.substr(word.text.find(':') + 1));
      }
    }
    return files;
  }

  Parameters resolved_parameters(const Interruption&) const override {
    Parameters parameters;
    const auto without_meaning = [&](std::initializer_list<const char*> names) {
      for (const char* name : names) parameters.emplace_back(name, "");
    };
    if (!has_computed()) without_meaning({"dtype", "pipeline"});
    if (!has(ReplacementKind::pair)) without_meaning({"split", "max-phase"});
    return parameters;
  }

  void run(Run& run, Table& table) override {
    run.set_instruction_set(instruction_set_in_use());
    if (in_double_) {
      run_all(run, table, Transformer<double>(*checkpoint_));
    } else {
      run_all(run, table, Transformer<float>(*checkpoint_));
    }
  }

  std::vector<std::string> further_names() const override {
    std::vector<std::string> names;
    if (wants_statistics_) names.push_back(kAttention);
    if (wants_bins_) names.push_back(kByPosition);
    return names;
  }
  std::vector<FurtherTable> further_tables() override {
    std::vector<FurtherTable> tables;
    if (statistics_) tables.push_back({kAttention, std::move(*statistics_)});
    if (bins_) tables.push_back({kByPosition, std::move(*bins_)});
    return tables;
  }

 private:
  void read_tokens() {
    const long long vocabulary = checkpoint_->config().vocabulary;
    if (tokens_.given()) {
      ids_ =
          tokens_.read([&](const std::string& file) { return read_token_ids(file, vocabulary); });
      return require_two(tokens_);
    }
    if (!text_.given()) {
      throw UsageError("--text",
                       "there is nothing to read; --text FILE or --tokens FILE is needed");
    }
    if (vocabulary != kBytes) {
      throw UsageError(
          "--text",
          fmt::format(
              "this model has {} tokens, not the 256 bytes, and '{}' would have to be cut into "
              "them; --tokens ids.npy takes what these two lines of Python write: import numpy, "
              "transformers; numpy.save('ids.npy', transformers.AutoTokenizer.from_pretrained({})("
              "open({}, encoding='utf-8').read())['input_ids'])",
              vocabulary, text_.text(), in_python(folder_of_model()), in_python(text_.text())));
    }
    ids_ = text_.read(
        [&](const std::string& file) { return read_bytes_as_ids(file, tokens_of_limit()); });
    require_two(text_);
  }

  // How many tokens the windows of --limit reach over; nothing where that is more than is read.
  std::optional<std::size_t> tokens_of_limit() const {
    if (!limit_.given()) return std::nullopt;
    const auto further_windows = static_cast<double>(*whole(limit_) - 1);
    double most = 2;
    for (const long long window : window_lengths_) {
      const auto length = static_cast<double>(window);
      const double stride = stride_.given() ? static_cast<double>(*whole(stride_)) : length;
      most = std::max(most, further_windows * stride + length);
    }
    if (most > static_cast<double>(kMostBytesOfFile)) return std::nullopt;
    return static_cast<std::size_t>(most);
  }

  static std::optional<std::size_t> whole(const TextOption& option) {
    if (!option.given()) return std::nullopt;
    return option.read([](const std::string& text) {
      return static_cast<std::size_t>(parse_integer(text, 1, kMostPositions));
    });
  }

  // The checkpoint's, where its tokenizer is.
  std::string folder_of_model() const {
    const std::filesystem::path path(folder_.text());
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return path.string();
    return path.has_parent_path() ? path.parent_path().string() : ".";
  }

  void require_two(const TextOption& option) const {
    if (ids_.size() >= 2) return;
    throw UsageError(option.name(), fmt::format("'{}' holds one token; two or more, the second to "
                                                "be predicted, would be right",
                                                option.text()));
  }

  void read_arithmetic() {
    in_double_ = arithmetic_.read([](const std::string& text) {
      if (text != "float32" && text != "float64") {
        throw std::invalid_argument(fmt::format("'{}' is neither float32 nor float64", text));
      }
      return text == "float64";
    });
  }

  void read_biases() {
    const PositionEncoding encoding = checkpoint_->config().encoding;
    biases_.set_default(encoding == PositionEncoding::alibi    ? "pair"
                        : encoding == PositionEncoding::rotary ? "rotary"
                                                               : "native");
    words_ = biases_.read([&](const std::string& text) {
      std::vector<BiasWord> words;
      for (const std::string& item : split_list(text)) {
        words.push_back(parse_bias_word(item));
        fit_to_model(words.back(), checkpoint_->config());
      }
      return words;
    });
  }

  bool has(ReplacementKind kind) const {
    return std::any_of(words_.begin(), words_.end(),
                       [kind](const BiasWord& word) { return word.kind == kind; });
  }
  bool has_computed() const {
    return std::any_of(words_.begin(), words_.end(),
                       [](const BiasWord& word) { return is_computed(word.kind); });
  }

  void refuse_options_without_meaning() const {
    const auto refuse = [](const TextOption& option, const char* biases) {
      if (!option.given()) return;
      throw UsageError(option.name(),
                       fmt::format("'{}' means nothing without --bias {}", option.text(), biases));
    };
    if (!has_computed()) {
      refuse(formats_.option(), "pair or rotary");
      refuse(pipelines_.option(), "pair or rotary");
      if (formats_.eight_bit() == EightBit::saturates) {
        throw UsageError("--saturate", "it means nothing without --bias pair or rotary");
      }
    }
    if (!has(ReplacementKind::pair)) {
      for (const TextOption* option : {&max_phase_, &theta_, &split_.option()}) {
        refuse(*option, "pair");
      }
    }
  }

  // What says how fast pairs turn.
  const TextOption& rotation() const { return theta_.given() ? theta_ : max_phase_; }

  // Throws UsageError where the text has no such windows.
  EvaluationPlan plan(std::size_t window) const {
    const EvaluationPlan plan{ids_.size(), window, whole(stride_), whole(limit_)};
    try {
      evaluation_windows(plan);
    } catch (const std::invalid_argument& error) {
      throw UsageError(plan.stride && *plan.stride > window ? "--stride" : "--windows",
                       error.what());
    }
    require_positions(static_cast<long long>(window));
    return plan;
  }

  // That the model knows them, and doubles too.
  void require_positions(long long window) const {
    const BloomConfig& model = checkpoint_->config();
    const bool learned = model.encoding == PositionEncoding::learned;
    const long long positions = learned ? model.max_positions : kMostPositions;
    if (first_ + window <= positions) return;
    const std::string known = learned ? fmt::format("the model has learned {} positions", positions)
                                      : fmt::format("positions end at 2^53, {}", positions);
    if (first_ + 2 > positions && positions >= 2) {
      throw UsageError("--first-position",
                       fmt::format("'{}' is out of range; {}, so one of at most {} would be right",
                                   first_, known, positions - 2));
    }
    throw UsageError("--windows",
                     fmt::format("'{}' is too long; {}, so one of at most {} would be "
                                 "right{}",
                                 window, known, positions - first_,
                                 first_ == 0 ? "" : fmt::format(" from position {} on", first_)));
  }

  void add_replacements(Point& point, const std::vector<Algebraic>& rotations) const {
    for (const BiasWord& word : words_) {
      if (is_computed(word.kind)) {
        add_computed(point, word, rotations);
      } else {
        add(point, as_it_is(word));
      }
    }
  }

  static Replacement as_it_is(const BiasWord& word) {
    Replacement replacement{&word, {}, {}, {}, {}, {}, {}};
    if (word.kind == ReplacementKind::design) {
      const DesignedHead& head = word.heads.front();
      replacement.dtype = find_format(head.dtype);
      replacement.pipeline = head.pipeline;
      replacement.pipeline_cell = head.pipeline_cell;
    }
    return replacement;
  }

  void add_computed(Point& point, const BiasWord& word,
                    const std::vector<Algebraic>& rotations) const {
    for (const Format& dtype : formats_.read()) {
      for (const std::string& name : pipelines_.read()) {
        const Pipeline pipeline = parse_pipeline(name, dtype, formats_.eight_bit());
        const std::string cell = name + (saturates(pipeline) ? ",saturate" : "");
        const Replacement replacement{&word, dtype, pipeline, {}, {}, {}, cell};
        if (word.kind == ReplacementKind::pair) {
          add_pairs(point, replacement, rotations);
        } else {
          add(point, replacement);
        }
      }
    }
  }

  void add_pairs(Point& point, Replacement pair, const std::vector<Algebraic>& rotations) const {
    const Algebraic length{Rational(static_cast<long long>(point.plan.window))};
    const std::string cell = pair.pipeline_cell;
    for (const Split& split : split_.read()) {
      pair.split = split;
      pair.pipeline_cell = cell + (split == Split{} ? std::string() : ",split=" + to_text(split));
      for (const Algebraic& value : rotations) {
        pair.theta = theta_.given() ? value : value / length;
        pair.max_phase = theta_.given() ? value * length : value;
        require_angle_in_reach(*pair.theta, point.plan.window);
        add(point, pair);
      }
    }
  }

  void require_angle_in_reach(const Algebraic& theta, std::size_t window) const {
    const Algebraic last{Rational(first_ + static_cast<long long>(window) - 1)};
    if ((theta * last).to_double() <= 0x1p64) return;
    throw UsageError(
        rotation().name(),
        fmt::format("'{}' turns beyond 2^64 rad; a smaller one, or a smaller window or "
                    "first position, would be right",
                    rotation().text()));
  }

  // With the settings that have no column of their own.
  void add(Point& point, Replacement replacement) const {
    std::string& cell = replacement.pipeline_cell;
    const auto append = [&](const std::string& setting) {
      cell += (cell.empty() ? "" : ",") + setting;
    };
    if (point.plan.stride) append(fmt::format("stride={}", *point.plan.stride));
    if (first_ != 0) append(fmt::format("first-position={}", first_));
    if (in_double_) append("model-dtype=float64");
    point.replacements.push_back(std::move(replacement));
  }

  // The name of the folder or file, also where it is given as "." or "..".
  std::string model_name() const {
    std::filesystem::path path(folder_.text());
    if (path.filename().empty()) path = path.parent_path();
    if (path.filename() != "." && path.filename() != "..") return path.filename().string();
    std::error_code ignored;
    return std::filesystem::canonical(path, ignored).filename().string();
  }

  template <class Scalar>
  void run_all(Run& run, Table& table, const Transformer<Scalar>& model) {
    if (wants_statistics_) {
      statistics_.emplace(std::vector<std::string>{
          "model", "window", "bias", "dtype", "pipeline", "max_phase", "layer", "head",
          "entropy_native", "entropy_replaced", "entropy_difference", "max_weight_native",
          "max_weight_replaced", "max_weight_difference", "variance_native", "variance_replaced",
          "variance_difference"});
    }
    if (wants_bins_) {
      bins_.emplace(std::vector<std::string>{
          "model", "window", "mode", "stride", "bin", "bias", "dtype", "pipeline", "max_phase",
          "cross_entropy_native", "cross_entropy_replaced", "count"});
    }
    run.over(
        points_.size(), [&](std::size_t n) { add_rows(run, table, model, points_[n]); },
        [&](std::size_t n) { return static_cast<double>(points_[n].replacements.size() + 1); });
  }

  template <class Scalar>
  void add_rows(Run& run, Table& table, const Transformer<Scalar>& model, const Point& point) {
    std::vector<Replacement> to_run;
    for (const Replacement& replacement : point.replacements) {
      if (replacement.word->kind != ReplacementKind::native) to_run.push_back(replacement);
      note_shorter_designs(run, replacement, point.plan.window);
    }
    const ModelFigures figures = compare(model, {ids_, point.plan, first_, wants_statistics_},
                                         to_run, run.point_interruption());
    std::size_t next = 0;
    for (const Replacement& replacement : point.replacements) {
      const bool is_native = replacement.word->kind == ReplacementKind::native;
      const ReplacedFigures* replaced = is_native ? nullptr : &figures.replaced[next++];
      add_row(table, point, replacement, figures, replaced);
      if (statistics_) add_statistics(point, replacement, figures, replaced);
      if (bins_) add_bins(point, replacement, figures, replaced);
    }
  }

  static void note_shorter_designs(Run& run, const Replacement& replacement, std::size_t window) {
    for (const DesignedHead& head : replacement.word->heads) {
      if (static_cast<std::size_t>(head.context) >= window) continue;
      return run.note(
          fmt::format("'{}' was designed for {} positions, fewer than the {} of a window",
                      replacement.word->text, head.context, window));
    }
  }

  // The columns that say what was run.
  void name(Table::Row& row, const Point& point, const Replacement& replacement) const {
    row.set("model", model_name())
        .set("window", point.plan.window)
        .set("bias", replacement.word->text)
        .set("dtype", replacement.dtype ? Cell(replacement.dtype->name) : Cell())
        .set("pipeline",
             replacement.pipeline_cell.empty() ? Cell() : Cell(replacement.pipeline_cell))
        .set("max_phase",
             replacement.max_phase ? Cell(replacement.max_phase->to_double()) : Cell());
  }

  void add_row(Table& table, const Point& point, const Replacement& replacement,
               const ModelFigures& figures, const ReplacedFigures* replaced) const {
    Table::Row row = table.add_row();
    name(row, point, replacement);
    const double native = figures.native_losses.mean().mean;
    row.set("windows", figures.windows)
        .set("cross_entropy_native", native)
        .set("bits_per_byte_native", in_bits_per_byte(native));
    if (replaced == nullptr) return;
    const ComparisonFigures& c = replaced->comparison;
    row.set("cross_entropy_replaced", c.cross_entropy_replaced)
        .set("difference", c.difference.mean)
        .set("standard_error", c.difference.standard_error)
        .set("ci_low", c.difference.ci_low)
        .set("ci_high", c.difference.ci_high)
        .set("p_value", c.difference.p_value)
        .set("mean_kl", c.mean_kl)
        .set("p99_kl", c.p99_kl)
        .set("max_kl", c.max_kl)
        .set("max_logit_change", c.max_logit_change)
        .set("rms_logit_change", c.rms_logit_change)
        .set("same_top", c.same_top)
        .set("bits_per_byte_replaced", in_bits_per_byte(c.cross_entropy_replaced))
        .set("rms_probability_change", c.rms_probability_change);
    if (statistics_) add_largest_differences(row, figures.native_statistics, replaced->statistics);
  }

  // Nothing where a token is not a byte.
  std::optional<double> in_bits_per_byte(double nats_per_token) const {
    if (checkpoint_->config().vocabulary != kBytes) return std::nullopt;
    return bits_per_byte(nats_per_token);
  }

  // A mean over the queries of a head, and the columns it is in.
  struct Statistic {
    const char* name;
    double (HeadStatistics::*mean)() const;
  };
  static constexpr std::array<Statistic, 3> kStatistics = {
      {{"entropy", &HeadStatistics::mean_entropy},
       {"max_weight", &HeadStatistics::mean_greatest},
       {"variance", &HeadStatistics::mean_variance}}};

  template <class OfHead>
  void for_heads(OfHead of_head) const {
    const BloomConfig& model = checkpoint_->config();
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(model.layers); ++layer) {
      for (std::size_t head = 0; head < static_cast<std::size_t>(model.heads); ++head) {
        of_head(layer, head);
      }
    }
  }

  void add_largest_differences(Table::Row& row, const AttentionStatistics& native,
                               const AttentionStatistics& replaced) const {
    for (const auto& [name, mean] : kStatistics) {
      double largest = 0;
      for_heads([&, mean = mean](std::size_t layer, std::size_t head) {
        const double difference =
            std::abs((replaced.at(layer, head).*mean)() - (native.at(layer, head).*mean)());
        // NaN stays.
        if (!(difference <= largest) && !std::isnan(largest)) largest = difference;
      });
      row.set(fmt::format("largest_{}_difference", name), largest);
    }
  }

  void add_statistics(const Point& point, const Replacement& replacement,
                      const ModelFigures& figures, const ReplacedFigures* replaced) {
    for_heads([&](std::size_t layer, std::size_t head) {
      Table::Row row = statistics_->add_row();
      name(row, point, replacement);
      row.set("layer", layer + 1).set("head", head + 1);
      for (const auto& [statistic, mean] : kStatistics) {
        const std::string column = statistic;
        const double before = (figures.native_statistics.at(layer, head).*mean)();
        row.set(column + "_native", before);
        if (replaced == nullptr) continue;
        const double after = (replaced->statistics.at(layer, head).*mean)();
        row.set(column + "_replaced", after).set(column + "_difference", after - before);
      }
    });
  }

  void add_bins(const Point& point, const Replacement& replacement, const ModelFigures& figures,
                const ReplacedFigures* replaced) {
    const auto add = [&](const std::string& bin, const MeanLoss& native,
                         std::optional<MeanLoss> after) {
      if (native.predictions == 0) return;
      Table::Row row = bins_->add_row();
      name(row, point, replacement);
      row.set("mode", point.plan.stride ? "sliding" : "nonoverlapping")
          .set("stride", point.plan.stride.value_or(point.plan.window))
          .set("bin", bin)
          .set("cross_entropy_native", native.mean)
          .set("count", native.predictions);
      if (after) row.set("cross_entropy_replaced", after->mean);
    };
    const auto of = [&](auto part) -> std::optional<MeanLoss> {
      if (replaced == nullptr) return std::nullopt;
      return part(replaced->losses);
    };
    add("all", figures.native_losses.mean(),
        of([](const LossByPosition& losses) { return losses.mean(); }));
    const auto bins = figures.native_losses.by_bin();
    for (std::size_t n = 0; n < bins.size(); ++n) {
      add(bins[n].bin.name(), bins[n].loss,
          of([&](const LossByPosition& losses) { return losses.by_bin()[n].loss; }));
    }
    if (!point.plan.stride) return;
    add("nonoverlapping-targets", figures.native_losses.mean_over_nonoverlapping_targets(),
        of([](const LossByPosition& losses) { return losses.mean_over_nonoverlapping_targets(); }));
  }

  TextOption folder_, text_, tokens_, windows_, stride_, limit_, biases_, max_phase_, theta_,
      arithmetic_;
  FormatOptions formats_;
  PipelineOption pipelines_;
  SplitOption split_;
  FirstPositionOption first_position_;
  bool wants_statistics_ = false, wants_bins_ = false;

  std::unique_ptr<Checkpoint> checkpoint_;
  std::vector<long long> window_lengths_;
  std::vector<Token> ids_;
  bool in_double_ = false;
  long long first_ = 0;
  std::vector<BiasWord> words_;
  std::vector<Point> points_;
  std::optional<Table> statistics_, bins_;
};

}  // namespace

CommandEntry bloom_command() {
  return {
      "bloom", "Run a BLOOM model with its own bias and with one that replaces it",
      R"(  $ ropelab bloom tests/data/bloom/tiny-kjv --text tests/data/bloom/tiny-kjv/heldout.txt --windows 256 --limit 4 --bias none,pair --max-phase 1 --dtype float16 | cut -d, -f1-7
  model,window,windows,bias,dtype,pipeline,max_phase
  tiny-kjv,256,4,none,,,
  tiny-kjv,256,4,pair,float16,fused,1
)",
      make_command<Bloom>};
}

}  // namespace ropelab::app
