// ropelab attention: attention weights under the native and the simulated bias.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/attention_content.hpp"
#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "ropelab/errors/attention.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

// Of all the figures of one query.
constexpr double kBytesPerQuery = 300;

// Which queries of a context are looked at.
struct QueryChoice {
  bool all = false;
  std::size_t count = 0;  // a sample of so many, unless all; 1 is the last one
};

QueryChoice parse_queries(const std::string& text) {
  if (text == "all") return {true, 0};
  if (text == "last") return {false, 1};
  try {
    return {false, static_cast<std::size_t>(parse_integer(text, 1, kMostPositions))};
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(
        fmt::format("'{}' is neither all nor last nor a number of queries, as in 64", text));
  }
}

AddedBias parse_bias(const std::string& name) {
  const auto found =
      std::find(added_bias_names.begin(), added_bias_names.end(), std::string_view(name));
  if (found != added_bias_names.end()) {
    return static_cast<AddedBias>(found - added_bias_names.begin());
  }
  throw std::invalid_argument(
      fmt::format("'{}' is no bias; there are {}", name, fmt::join(added_bias_names, ", ")));
}

std::string_view name_of(AddedBias bias) {
  return added_bias_names[static_cast<std::size_t>(bias)];
}

class Attention : public Command {
 public:
  void add_options(CLI::App& app) override {
    options_.add_to(app);
    options_.add_content_to(app);
    scores_.add_to(app, *app.get_option("--content"));
    queries_.add_to(app, "--queries", "COUNT|all|last",
                    "Look at a sample of so many queries, spread over the context and with its "
                    "last; at all of them, or at the last",
                    "64");
    queries_.option()->excludes(&scores_.file_option());
    biases_.add_to(app, "--bias", kBiases,
                   fmt::format("Which rows to print: {}", fmt::join(added_bias_names, ", ")),
                   "exact,native,pair");
  }

  void set_up(const Interruption& interruption) override {
    const auto settings = options_.read(interruption);
    require_tables_fit(settings);
    choice_ = queries_.read(parse_queries);
    chosen_biases_ = biases_.read([](const std::string& text) {
      std::vector<AddedBias> biases;
      for (const std::string& item : split_list(text)) biases.push_back(parse_bias(item));
      return biases;
    });
    if (scores_.reads_file()) read_file(settings, interruption);
    add_points(settings, interruption);
    for (const Setting& setting : settings) {
      const auto context = static_cast<double>(setting.context);
      require_context_fits(setting.context,
                           kBytesPerQuery * static_cast<double>(count(setting)) / context);
    }
  }

  std::vector<std::string> columns() const override {
    return {"context", "max_phase",  "head_dim", "heads",
            "head",    "slope",      "dtype",    "pipeline",
            "bias",    "tv",         "kl",       "max_weight_change",
            "entropy", "max_weight", "variance", "half_weight_distance",
            "status"};
  }

  std::optional<std::size_t> rows_in_all() const override {
    return points_.size() * chosen_biases_.size();
  }

  std::vector<std::string> files_read() const override {
    std::vector<std::string> files = options_.files_read();
    if (scores_.reads_file()) files.push_back(scores_.file());
    return files;
  }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    std::vector<Setting> settings;
    for (const Point& point : points_) settings.push_back(point.setting);
    Parameters parameters = options_.resolved_parameters(settings, interruption);
    if (!options_.gives_content()) parameters.emplace_back("content", "");
    return parameters;
  }

  void run(Run& run, Table& table) override {
    note_samples(run);
    run.over(
        points_.size(), [&](std::size_t n) { add_rows(run, table, points_[n]); },
        [&](std::size_t n) { return work(points_[n].setting); });
  }

 private:
  struct Point {
    Setting setting;
    double deviation;  // of random scores; without meaning where there are others
  };

  bool draws_scores(const Setting& setting) const {
    return !scores_.reads_file() && !setting.content;
  }

  void read_file(const std::vector<Setting>& settings, const Interruption& interruption) {
    const auto least =
        std::min_element(settings.begin(), settings.end(),
                         [](const Setting& a, const Setting& b) { return a.context < b.context; });
    scores_of_rows_ = scores_.read_file(least->context, interruption);
  }

  void add_points(const std::vector<Setting>& settings, const Interruption& interruption) {
    // Without content where --content says none.
    const std::vector<double> deviations =
        options_.gives_content() ? std::vector<double>{0} : scores_.deviations();
    for (const Setting& setting : settings) {
      interruption.check();
      for (const double deviation : draws_scores(setting) ? deviations : std::vector<double>{0}) {
        points_.push_back({setting, deviation});
        points_.back().setting.pipeline_cell += content_in_pipeline_cell(points_.back());
      }
    }
  }

  std::string content_in_pipeline_cell(const Point& point) const {
    if (scores_.reads_file()) return ",content-file=" + scores_.file();
    if (!draws_scores(point.setting) || scores_.is_default(point.deviation)) return {};
    return fmt::format(",content-sd={}", point.deviation);
  }

  // How many queries are looked at.
  std::size_t count(const Setting& setting) const {
    if (scores_.reads_file()) return scores_of_rows_.size();
    const auto context = static_cast<std::size_t>(setting.context);
    return choice_.all ? context : std::min(context, choice_.count);
  }

  std::vector<std::size_t> rows(const Setting& setting, std::uint64_t seed) const {
    if (!scores_.reads_file()) {
      return sample_rows(static_cast<std::size_t>(setting.context), count(setting), seed);
    }
    std::vector<std::size_t> rows;
    for (const auto& row : scores_of_rows_) rows.push_back(row.first);
    return rows;
  }

  std::variant<ContentRow, Content> content(const Point& point, std::uint64_t seed) const {
    if (point.setting.content) return *point.setting.content;
    if (!scores_.reads_file()) return random_content(point.deviation, seed);
    return [this](std::size_t row) { return scores_of_rows_.at(row); };
  }

  void note_samples(Run& run) const {
    if (scores_.reads_file()) return;
    for (const Point& point : points_) {
      run.interruption().check();
      const std::size_t looked_at = count(point.setting);
      if (choice_.count == 1 || looked_at == static_cast<std::size_t>(point.setting.context)) {
        continue;
      }
      run.note(
          fmt::format("context {}: a sample of {} queries (seed {}) stands for all; --queries all "
                      "looks at every one",
                      point.setting.context, looked_at, run.seed()));
    }
  }

  // In about nanoseconds.
  double work(const Setting& setting) const {
    const auto context = static_cast<double>(setting.context);
    const double per_key =
        500 + (setting.content ? 200 * static_cast<double>(setting.head_dim) : 0);
    return 1000 * context + per_key * static_cast<double>(count(setting)) * context / 2;
  }

  const DistanceReference& reference_for(Run& run, const Setting& setting) {
    const Construction construction = setting.construction();
    const auto context = static_cast<std::size_t>(setting.context);
    if (!reference_ || reference_->context() != context ||
        !(reference_->construction() == construction)) {
      reference_.reset();
      reference_.emplace(construction, context, run.interruption());
    }
    return *reference_;
  }

  // All that can be interrupted comes before the rows, so that a point has all of them or none.
  void add_rows(Run& run, Table& table, const Point& point) {
    const Setting& setting = point.setting;
    const AttentionInputs inputs{reference_for(run, setting),
                                 setting.pipeline,
                                 setting.dtype,
                                 setting.bias_scale == BiasScale::after
                                     ? NativeAddition::after_scaling
                                     : NativeAddition::before_scaling,
                                 setting.first_position,
                                 content(point, run.seed())};
    const auto figures = measure_attention(inputs, chosen_biases_, rows(setting, run.seed()),
                                           run.point_interruption());
    for (std::size_t n = 0; n < figures.size(); ++n) {
      add_row(table, setting, chosen_biases_[n], figures[n], run.digits());
    }
  }

  static std::string_view status(const Setting& setting, AddedBias bias, bool is_finite) {
    if (bias == AddedBias::pair) return status_of(setting, is_finite);
    return is_finite ? "ok" : "overflow";
  }

  static void add_row(Table& table, const Setting& setting, AddedBias bias,
                      const std::optional<AttentionFigures>& figures, int digits) {
    Table::Row row = table.add_row();
    row.set("context", setting.context)
        .set("max_phase", exact_cell(setting.rotation.max_phase, digits))
        .set("head_dim", setting.head_dim)
        .set("heads", setting.head.heads)
        .set("head", setting.head.head)
        .set("slope", exact_cell(setting.head.slope, digits))
        .set("dtype", setting.dtype.name)
        .set("pipeline", setting.pipeline_cell)
        .set("bias", name_of(bias))
        .set("status", status(setting, bias, figures.has_value()));
    if (!figures) return;
    row.set("tv", figures->total_variation)
        .set("kl", figures->divergence)
        .set("max_weight_change", figures->largest_change)
        .set("entropy", figures->entropy)
        .set("max_weight", figures->greatest)
        .set("variance", figures->variance)
        .set("half_weight_distance", figures->half_distance);
  }

  SettingOptions options_;
  ContentScoreOptions scores_;
  TextOption queries_, biases_;
  QueryChoice choice_;
  std::vector<AddedBias> chosen_biases_;
  ScoresOfRows scores_of_rows_;
  std::vector<Point> points_;
  std::optional<DistanceReference> reference_;
};

}  // namespace

CommandEntry attention_command() {
  return {
      "attention", "Compare attention weights under ALiBi's bias and the simulated one",
      R"(  $ ropelab attention --context 256 --queries all --dtype bfloat16,float32 | cut -d, -f7,9-11,13-14,16
  dtype,bias,tv,kl,entropy,max_weight,half_weight_distance
  bfloat16,exact,0,0,1.2213494670685425,0.5496677028082794,0.7421875
  bfloat16,native,0.000665250785127435,3.1377888131359766e-06,1.221252998797828,0.5497404955586486,0.7421875
  bfloat16,pair,0.0755851134558909,0.028913355328982815,1.2192450444958214,0.5495302330384186,0.7890625
  float32,exact,0,0,1.2213494670685425,0.5496677028082794,0.7421875
  float32,native,1.2220192165386849e-08,8.80391114030595e-16,1.221349478898598,0.5496676982618838,0.7421875
  float32,pair,1.3216618700461827e-06,8.910702214545228e-12,1.221350036995276,0.5496676656571611,0.7421875
)",
      make_command<Attention>};
}

}  // namespace ropelab::app
