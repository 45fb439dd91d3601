// ropelab fit: any relative bias by rotated pairs.
#include <memory>

#include <fmt/format.h>

#include "app/bias_options.hpp"
#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/design_file.hpp"
#include "app/design_table.hpp"
#include "app/error_table.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

// One row to be.
struct FitQuestion {
  long long context;
  std::size_t bias;  // the number of its choice
  long long head_dim;
  Format dtype;
  Pipeline pipeline;
  std::string pipeline_cell;
  long long window;
  int most_pairs;
  std::size_t grid;  // the number of its grid and context; 0 where frequencies are free
};

bool falls(const HeadTask& task) {
  for (std::size_t d = 1; d < task.window; ++d) {
    if (!(task.bias.quick(d) < task.bias.quick(d - 1))) return false;
  }
  return true;
}

class Fit : public Command {
 public:
  void add_options(CLI::App& app) override {
    context_.add_to(app, "2048");
    window_.add_to(app);
    bias_.add_to(app);
    head_dim_.add_to(app);
    formats_.add_to(app);
    pipelines_.add_to(app);
    most_pairs_.add_to(app);
    frequencies_.add_to(app, "--frequencies", "WORD",
                        "Which may be used: free, or grid (a model's own: --base, --rope-dim, "
                        "--scaling)",
                        "free");
    grid_.add_to(app);
    scaling_.add_to(app);
    objective_.add_to(app);
    tolerance_.add_to(app);
    model_file_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    objective_value_ = objective_.read();
    constexpr std::array<std::string_view, 2> words = {"free", "grid"};
    is_on_grid_ =
        frequencies_.read([&](const std::string& text) { return index_of(words, text); }) == 1;
    if (!is_on_grid_) refuse_idle_grid(grid_, scaling_, "--frequencies grid");
    tolerance_value_ = tolerance_.read().to_double();
    choices_ = bias_.read(interruption);
    read_questions(interruption);
  }

  std::vector<std::string> columns() const override {
    return design_columns(
        {"context", "target", "heads", "head", "slope", "head_dim", "dtype", "pipeline"});
  }

  std::vector<std::string> files_read() const override {
    auto files = bias_.files_read();
    for (const std::string& file : scaling_.files_read()) files.push_back(file);
    return files;
  }

  std::optional<std::size_t> rows_in_all() const override { return questions_.size(); }

  void open_beside(FilesInUse& files) override { model_file_.open(files); }

  void run(Run& run, Table& table) override {
    run.set_instruction_set(instruction_set_in_use());
    for (const GridChoice& grid : grids_) {
      searches_.push_back(std::make_unique<DesignSearch>(
          SearchOptions{objective_value_, 1, run.seed(), grid.thetas}));
    }
    run.over(questions_.size(), [&](std::size_t point) {
      add_row(run, table, questions_[point], run.point_interruption());
    });
  }

  void write_beside(const Table&, const Manifest&) override { model_file_.write(designs_); }

 private:
  void read_questions(const Interruption& interruption) {
    const auto most_pairs = most_pairs_.read(interruption);
    for (const long long context : context_.read(interruption)) {
      require_design_fits(context);
      const std::size_t first_grid = grids_.size();
      add_grids(context, interruption);
      for (std::size_t bias = 0; bias < choices_.size(); ++bias) {
        for (const long long head_dim : head_dim_.read(interruption)) {
          for (const Format& dtype : formats_.read()) {
            for (const std::string& name : pipelines_.read()) {
              for (const long long window : window_.read(context, interruption)) {
                require_known(choices_[bias], window);
                for (const int pairs : most_pairs) {
                  for (std::size_t grid = first_grid; grid < grids_.size(); ++grid) {
                    interruption.check();
                    questions_.push_back(
                        {context, bias, head_dim, dtype,
                         parse_pipeline(name, dtype, formats_.eight_bit()),
                         pipeline_cell(name, dtype, window < context ? window : 0, grid, pairs),
                         window, pairs, grid});
                  }
                }
              }
            }
          }
        }
      }
    }
  }

  // Those of the context; free frequencies are one grid without any.
  void add_grids(long long context, const Interruption& interruption) {
    if (!is_on_grid_) {
      grids_.push_back({});
      return;
    }
    for (GridChoice& grid : grid_choices(grid_, scaling_, context, interruption)) {
      grids_.push_back(std::move(grid));
    }
  }

  static void require_known(const BiasChoice& choice, long long window) {
    if (!choice.distances || *choice.distances >= window) return;
    throw UsageError("--target", fmt::format("'{}' has {} distances where {} are seen; a smaller "
                                             "--context or --window would be right",
                                             choice.target, *choice.distances, window));
  }

  // window: 0 where it is the whole context.
  std::string pipeline_cell(const std::string& name, const Format& dtype, long long window,
                            std::size_t grid, int pairs) const {
    std::string cell = name;
    if (saturates(parse_pipeline(name, dtype, formats_.eight_bit()))) cell += ",saturate";
    if (window > 0) cell += fmt::format(",window={}", window);
    return cell + grids_[grid].cell + most_pairs_.cell(pairs);
  }

  HeadTask task_of(const FitQuestion& question, const Interruption& interruption) {
    const auto key = std::make_pair(question.bias, question.window);
    if (!made_ || made_->first != key) {
      made_.emplace(key, choices_[question.bias].bias(static_cast<std::size_t>(question.window),
                                                      interruption));
    }
    return task_of_bias(made_->second, question.head_dim,
                        static_cast<std::size_t>(question.context),
                        static_cast<std::size_t>(question.window), question.pipeline);
  }

  std::vector<Method> methods(const HeadTask& task) const {
    if (is_on_grid_) return {Method::grid};
    if (task.slope) return {Method::single, Method::dyadic, Method::multi_pair};
    return {Method::multi_pair};
  }

  void add_row(const Run& run, Table& table, const FitQuestion& question,
               const Interruption& interruption) {
    const BiasChoice& choice = choices_[question.bias];
    const HeadTask task = task_of(question, interruption);
    DesignSearch& search = *searches_[question.grid];
    search.allow_pairs(question.most_pairs);
    const auto found = search.best(methods(task), {task}, interruption);
    std::string reason = found.empty()
                             ? "every candidate leaves the range of a format"
                             : reason_of(question, task, found.front(), search, interruption);
    auto row = table.add_row();
    row.set("context", question.context)
        .set("target", choice.target)
        .set("heads", choice.heads)
        .set("head", choice.head)
        .set("head_dim", question.head_dim)
        .set("dtype", question.dtype.name)
        .set("pipeline", question.pipeline_cell)
        .set("tolerance", tolerance_value_)
        .set("reason", std::move(reason));
    if (choice.slope) row.set("slope", exact_cell(*choice.slope, run.digits()));
    if (found.empty()) {
      row.set("method", name_of(methods(task).back())).set("status", "overflow").set("holds", "no");
      return;
    }
    set_design(row, found.front().design);
    set_measured(row, found.front().errors);
    if (!falls(task)) row.set("order_lost", {});
    row.set("holds", value_of(found.front()) <= tolerance_value_ ? "yes" : "no");
    designs_.push_back(designed(question, task, found.front().design));
  }

  double value_of(const Found& found) const {
    return *objective_of(found.errors, objective_value_);
  }

  std::string reason_of(const FitQuestion& question, const HeadTask& task, const Found& found,
                        DesignSearch& search, const Interruption& interruption) const {
    if (found.errors.measurement.errors.total_maximum == 0.0) {
      return "exact: every score is the bias itself";
    }
    const bool holds = value_of(found) <= tolerance_value_;
    std::string text(holds ? kWithinTolerance : "");
    text += what_is_left(found.errors, objective_value_, "logits");
    if (is_on_grid_ && !holds) {
      text += limit_of_grid(search.grid_limit(task, interruption),
                            grids_[question.grid].thetas.size(), tolerance_value_);
    }
    return text;
  }

  DesignedHead designed(const FitQuestion& question, const HeadTask& task,
                        const HeadDesign& design) const {
    const BiasChoice& choice = choices_[question.bias];
    return {choice.heads,
            choice.head,
            choice.slope,
            question.context,
            question.window,
            question.head_dim,
            std::string(question.dtype.name),
            question.pipeline,
            question.pipeline_cell,
            task.slope ? std::optional(step_per_position(task)) : std::nullopt,
            design,
            choice.target};
  }

  ContextOption context_;
  WindowOption window_;
  BiasOptions bias_;
  HeadDimOption head_dim_;
  FormatOptions formats_;
  PipelineOption pipelines_;
  GridOptions grid_;
  ScalingOption scaling_;
  ToleranceOption tolerance_;
  TextOption frequencies_;
  MostPairsOption most_pairs_;
  ObjectiveOption objective_;
  ModelFileOption model_file_;
  Objective objective_value_ = Objective::total;
  bool is_on_grid_ = false;
  double tolerance_value_ = 0;
  std::vector<BiasChoice> choices_;
  std::vector<GridChoice> grids_;  // of every context
  std::vector<FitQuestion> questions_;
  std::vector<std::unique_ptr<DesignSearch>> searches_;  // one for each grid
  // The bias of the last question, its number and its window.
  std::optional<std::pair<std::pair<std::size_t, long long>, RelativeBias>> made_;
  std::vector<DesignedHead> designs_;
};

}  // namespace

CommandEntry fit_command() {
  return {
      "fit", "Represent any relative bias by rotated pairs",
      R"(  $ ropelab fit --target kerple-log --context 256 --max-pairs 1,2 --dtype float32 --pipeline fused | sed 's/"[^"]*"/fused/' | cut -d, -f2,9,10,15,23
  target,method,rotated_pairs,truncation_max_abs,total_max_abs
  kerple-log:r1=1:r2=1,multi-pair,1,0.9545544006112744,0.9547583748307771
  kerple-log:r1=1:r2=1,multi-pair,2,0.5288198235275559,0.5296024721336285
)",
      make_command<Fit>};
}

}  // namespace ropelab::app
