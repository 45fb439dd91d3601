// ropelab design: the best fixed vectors and frequencies for each head, by several methods.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/costs_table.hpp"
#include "app/design_table.hpp"
#include "app/head_options.hpp"
#include "app/model_option.hpp"
#include "ropelab/design/limit.hpp"
#include "ropelab/design/search.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/rope/frequency.hpp"
#include "ropelab/sweep/values.hpp"

namespace ropelab::app {
namespace {

// One row to be: a head, and how it is to be made.
struct Question {
  long long context, window;
  HeadChoice head;
  long long head_dim;
  Format dtype;
  Pipeline pipeline;
  std::string pipeline_cell;
  std::vector<Method> methods{};  // of which the best is wanted
  std::size_t search = 0;         // the number of its search
  int most_pairs = 1;
  std::size_t group = 0;   // the number of its group
  std::size_t member = 0;  // its place there
};

// Searches that have the same options but for the number of pairs, and so share what they have
// found.
struct Search {
  SearchOptions options;
  std::unique_ptr<DesignSearch> search;
};

// Heads that share a key, and what was found for them.
struct Group {
  std::vector<HeadTask> tasks;
  std::vector<Found> found;
  bool is_answered = false;
};

class Design : public Command {
 public:
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    context_.add_to(app);
    window_.add_to(app, "the whole context, or what the model's file says");
    heads_.add_to(app);
    kv_heads_.add_to(app, "--kv-heads", "INTEGER",
                     "Keys of a model: heads that share one share its frequencies and key parts "
                     "(default: a key for every head, or what the model's file says)");
    head_dim_.add_to(app);
    formats_.add_to(app);
    pipelines_.add_to(app);
    bias_scale_.add_to(app);
    method_.add_to(
        app, "--method", "METHODS",
        "How: single, dyadic, multi-pair, grid, rank-2 or native, a list, or 'best': the "
        "best of the rotations with the frequencies allowed",
        "best");
    CLI::Option* compare = app.add_flag("--compare", compare_, "A row for every method");
    most_pairs_.add_to(app);
    frequencies_.add_to(app, "--frequencies", "WORD",
                        "Which may be used: free, dyadic (powers of two), or grid (a model's own: "
                        "--base, --rope-dim, --scaling)",
                        "free");
    grid_.add_to(app);
    scaling_.add_to(app);
    objective_.add_to(app);
    tolerance_.add_to(app);
    unit_.add_to(app);
    CLI::Option* costs = app.add_flag(
        "--costs", costs_,
        "Instead, what each method costs the model of --model: dimensions, parameters, "
        "multiplications, cache");
    model_file_.add_to(app);
    compare->excludes(method_.option(), frequencies_.option());
    for (const char* idle :
         {"--method", "--compare", "--frequencies", "--base", "--rope-dim", "--scaling", "--window",
          "--kv-heads", "--head-dim", "--pipeline", "--saturate", "--objective", "--tolerance",
          "--unit", "--model-file"}) {
      costs->excludes(app.get_option(idle));
    }
  }

  void set_up(const Interruption& interruption) override {
    objective_value_ = objective_.read();
    methods_ = read_methods();
    if (std::none_of(methods_.begin(), methods_.end(), uses_grid)) {
      refuse_idle_grid(grid_, scaling_, "--method grid, --frequencies grid or --compare");
    }
    take_from_model();
    tolerance_value_ = tolerance_.read().to_double();
    if (costs_) {
      require_model_of_costs();
    } else {
      read_questions(interruption);
    }
  }

  std::vector<std::string> columns() const override {
    if (costs_) return costs_columns();
    return design_columns({"context", "heads", "head", "slope", "head_dim", "dtype", "pipeline"});
  }

  std::vector<std::string> files_read() const override {
    std::vector<std::string> files = scaling_.files_read();
    for (std::string& file : model_.files_read()) files.push_back(std::move(file));
    return files;
  }
  Parameters resolved_parameters(const Interruption&) const override {
    return model_.resolved_parameters();
  }

  std::optional<std::size_t> rows_in_all() const override {
    return costs_ ? std::nullopt : std::optional(questions_.size());
  }

  void open_beside(FilesInUse& files) override { model_file_.open(files); }

  void run(Run& run, Table& table) override {
    if (costs_) {
      add_costs(run, table);
      return;
    }
    run.set_instruction_set(instruction_set_in_use());
    for (Search& search : searches_) {
      search.options.seed = run.seed();
      search.search = std::make_unique<DesignSearch>(search.options);
    }
    run.over(questions_.size(), [&](std::size_t point) {
      const Question& question = questions_[point];
      const Found* found = answer(question, run.point_interruption());
      std::string reason =
          found ? reason_of(question, *found, run.point_interruption()) : reason_without(question);
      add_row(run, table, question, found, std::move(reason));
      if (found) designs_.push_back(designed(question, found->design));
    });
  }

  void write_beside(const Table&, const Manifest&) override { model_file_.write(designs_); }

 private:
  // What is not given and the model's file says.
  void take_from_model() {
    model_.read();
    if (!model_.config()) return;
    model_.give_defaults(context_, window_, heads_, head_dim_, bias_scale_);
    if (std::any_of(methods_.begin(), methods_.end(), uses_grid)) {
      model_.give_defaults(grid_, scaling_);
    }
    const ModelConfig& model = *model_.config();
    if (!kv_heads_.given() && !heads_.fixes_slope()) {
      kv_heads_.set_default(fmt::format("{}", model.key_value_heads));
    }
  }

  void require_model_of_costs() const {
    if (model_.config()) return;
    throw UsageError("--costs",
                     "the layers, heads and widths of a model are needed; --model "
                     "CONFIG.json would be right");
  }

  // A row for each method, and number of pairs or terms that it may have.
  void add_costs(const Run& run, Table& table) const {
    const Interruption& interruption = run.interruption();
    const Algebraic slope =
        in_scaled_score(single_head(interruption).slope, model_.config()->head_dim);
    for (const Format& dtype : formats_.read()) {
      const AttentionShape shape = attention_shape(*model_.config(), dtype);
      for (const long long context : context_.read(interruption)) {
        for (const auto& [method, parts] : ways(interruption)) {
          add_costs_row(table, shape, dtype, {method, parts, slope, context}, run.digits());
        }
      }
    }
  }

  // There is no column that would tell several apart.
  HeadChoice single_head(const Interruption& interruption) const {
    const auto heads = heads_.read(interruption);
    if (heads.size() == 1) return heads.front();
    throw UsageError(heads_.given().back(),
                     fmt::format("there are {} heads or slopes; --costs takes one", heads.size()));
  }

  std::vector<std::pair<Method, long long>> ways(const Interruption& interruption) const {
    std::vector<std::pair<Method, long long>> ways{{Method::native, 0}, {Method::single, 1}};
    for (const Method method : {Method::dyadic, Method::multi_pair, Method::grid}) {
      for (const int pairs : most_pairs_.read(interruption)) ways.emplace_back(method, pairs);
    }
    for (const long long terms : {1, 2, 3}) ways.emplace_back(Method::rank_two, terms);
    return ways;
  }

  // For one row: the methods to try.
  using Row = std::vector<Method>;

  std::vector<Row> read_methods() const {
    std::vector<Row> rows;
    if (compare_) {
      for (std::size_t n = 0; n < method_names.size(); ++n)
        rows.push_back({static_cast<Method>(n)});
      return rows;
    }
    const Row rotations = allowed_rotations();
    const auto items = method_.read([](const std::string& text) { return split_list(text); });
    for (const std::string& item : items) {
      Row row = item == "best" ? rotations : Row{method_named(item)};
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
    }
    if (frequencies_.given()) require_allowed(rows, rotations);
    return rows;
  }

  Method method_named(const std::string& name) const {
    return method_.read(
        [&](const std::string&) { return static_cast<Method>(index_of(method_names, name)); });
  }

  // Those that 'best' chooses from.
  Row allowed_rotations() const {
    const std::string frequencies = frequencies_.text();
    if (frequencies == "free") return {Method::single, Method::dyadic, Method::multi_pair};
    if (frequencies == "dyadic") return {Method::dyadic};
    if (frequencies == "grid") return {Method::grid};
    throw UsageError("--frequencies",
                     fmt::format("'{}' is none of free, dyadic, grid", frequencies));
  }

  // That --frequencies is not given in vain.
  void require_allowed(const std::vector<Row>& rows, const Row& rotations) const {
    std::vector<std::string_view> names;
    for (const Method method : rotations) names.push_back(name_of(method));
    bool any_rotates = false;
    for (const Row& row : rows) {
      const Method method = row.front();
      if (method == Method::rank_two || method == Method::native) continue;
      any_rotates = true;
      if (std::find(rotations.begin(), rotations.end(), method) != rotations.end()) continue;
      throw UsageError(
          "--frequencies",
          fmt::format("'{}' is not what --method {} takes; with it best or {} would be right",
                      frequencies_.text(), name_of(method), fmt::join(names, " or ")));
    }
    if (any_rotates) return;
    throw UsageError("--frequencies",
                     fmt::format("--method {} has none; with it best or {} would be right",
                                 method_.text(), fmt::join(names, " or ")));
  }

  static bool uses_grid(const Row& methods) {
    return std::find(methods.begin(), methods.end(), Method::grid) != methods.end();
  }

  void read_questions(const Interruption& interruption) {
    const auto heads = heads_.read(interruption);
    for (const long long context : context_.read(interruption)) {
      require_design_fits(context);
      grids_ = grid_choices(grid_, scaling_, context, interruption);
      for (const HeadChoice& head : heads) {
        for (const long long head_dim : head_dim_.read(interruption)) {
          for (const Format& dtype : formats_.read()) {
            for (const std::string& name : pipelines_.read()) {
              for (const long long window : window_.read(context, interruption)) {
                add_questions({context, window, head, head_dim, dtype,
                               parse_pipeline(name, dtype, formats_.eight_bit()),
                               pipeline_cell(name, dtype, window, context)},
                              interruption);
              }
            }
          }
        }
      }
    }
  }

  std::string pipeline_cell(const std::string& name, const Format& dtype, long long window,
                            long long context) const {
    std::string cell = name;
    if (saturates(parse_pipeline(name, dtype, formats_.eight_bit()))) cell += ",saturate";
    if (bias_scale_.read() == BiasScale::before) cell += ",bias-scale=before";
    if (window < context) cell += fmt::format(",window={}", window);
    if (unit_.read() == Unit::tokens) cell += ",unit=tokens";
    return cell;
  }

  void add_questions(const Question& question, const Interruption& interruption) {
    for (const int pairs : most_pairs_.read(interruption)) {
      for (const Row& methods : methods_) {
        for (const GridChoice& grid : uses_grid(methods) ? grids_ : std::vector<GridChoice>(1)) {
          Question copy = question;
          copy.methods = methods;
          copy.pipeline_cell += grid.cell + most_pairs_.cell(pairs);
          copy.search = search_of(grid, question.context);
          copy.most_pairs = pairs;
          add(std::move(copy));
        }
      }
    }
  }

  void add(Question question) {
    question.group = group_of(question);
    question.member = groups_[question.group].tasks.size();
    groups_[question.group].tasks.push_back(task_of(question));
    questions_.push_back(std::move(question));
  }

  // A grid may depend on the context, by its scaling.
  std::size_t search_of(const GridChoice& grid, long long context) {
    const std::string name = fmt::format("{} {}", grid.cell, context);
    const auto [place, is_new] = search_names_.emplace(name, searches_.size());
    if (is_new) searches_.push_back({{objective_value_, 1, 1, grid.thetas}, nullptr});
    return place->second;
  }

  // The group of a question: of those that differ in the head alone and share its key.
  std::size_t group_of(const Question& question) {
    const int shared_key = key_of(question.head);
    std::string name = fmt::format("{} {} {} {} {} ", question.context, question.head_dim,
                                   question.dtype.name, question.pipeline_cell, shared_key);
    for (const Method method : question.methods)
      name += fmt::format("{} ", static_cast<int>(method));
    if (question.head.heads && shared_key > 0) {
      name += fmt::format("of {}", *question.head.heads);
    } else {
      name += fmt::format("alone {}", questions_.size());
    }
    const auto [place, is_new] = group_names_.emplace(name, groups_.size());
    if (is_new) groups_.emplace_back();
    return place->second;
  }

  // The number of the head's key, from 1; 0 where every head has its own.
  int key_of(const HeadChoice& head) const {
    if (kv_heads_.text().empty()) return 0;
    return kv_heads_.read([&](const std::string& text) {
      if (!head.heads) {
        throw UsageError("--kv-heads",
                         "slopes given by --slope belong to no key; --heads and "
                         "--head would be right");
      }
      const long long keys = parse_integer(text, 1, *head.heads);
      if (*head.heads % keys != 0) {
        throw std::invalid_argument(
            fmt::format("'{}' does not divide {} heads evenly; {} would be right", text,
                        *head.heads, nearest_divisors(*head.heads, keys)));
      }
      const int to_a_key = *head.heads / static_cast<int>(keys);
      return to_a_key == 1 ? 0 : (*head.head - 1) / to_a_key + 1;
    });
  }

  // "2 or 4": those below and above.
  static std::string nearest_divisors(long long heads, long long keys) {
    long long below = keys, above = keys;
    while (heads % below != 0) --below;
    while (heads % above != 0) ++above;
    return fmt::format("{} or {}", below, above);
  }

  HeadTask task_of(const Question& question) const {
    HeadTask task = alibi_task(slope_of(question), question.head_dim,
                               static_cast<std::size_t>(question.context),
                               static_cast<std::size_t>(question.window), question.pipeline);
    task.errors_in_slopes = unit_.read() == Unit::tokens;
    return task;
  }

  Algebraic slope_of(const Question& question) const {
    return in_scaled_score(question.head.slope, question.head_dim);
  }

  // What the scaled score is to lose per position.
  Algebraic in_scaled_score(const Algebraic& slope, long long head_dim) const {
    const bool is_divided = bias_scale_.read() == BiasScale::before;
    return is_divided ? slope / square_root(Rational(head_dim)) : slope;
  }

  // What was found for the question's head; null where nothing was.
  const Found* answer(const Question& question, const Interruption& interruption) {
    Group& group = groups_[question.group];
    if (!group.is_answered) {
      if (can_share(question)) {
        DesignSearch& search = *searches_[question.search].search;
        search.allow_pairs(question.most_pairs);
        group.found = search.best(question.methods, group.tasks, interruption);
      }
      group.is_answered = true;
    }
    return group.found.empty() ? nullptr : &group.found[question.member];
  }

  bool can_share(const Question& question) const {
    return groups_[question.group].tasks.size() == 1 ||
           question.methods.front() != Method::rank_two;
  }

  void add_row(const Run& run, Table& table, const Question& question, const Found* found,
               std::string reason) const {
    auto row = table.add_row();
    row.set("context", question.context)
        .set("heads", question.head.heads)
        .set("head", question.head.head)
        .set("slope", exact_cell(question.head.slope, run.digits()))
        .set("head_dim", question.head_dim)
        .set("dtype", question.dtype.name)
        .set("pipeline", question.pipeline_cell)
        .set("tolerance", tolerance_value_)
        .set("reason", std::move(reason));
    if (!found) {
      row.set("method", name_of(question.methods.front()))
          .set("status", can_share(question) ? "overflow" : "")
          .set("holds", "no");
      return;
    }
    set_design(row, found->design);
    set_measured(row, found->errors);
    row.set("holds", is_within_tolerance(question, *found) ? "yes" : "no");
  }

  // The tolerance is in logits, whatever the unit.
  bool is_within_tolerance(const Question& question, const Found& found) const {
    const bool in_tokens = unit_.read() == Unit::tokens && objective_value_ != Objective::weights;
    const double logits = in_tokens ? slope_of(question).to_double() : 1;
    return value_of(found) * logits <= tolerance_value_;
  }

  double value_of(const Found& found) const {
    return *objective_of(found.errors, objective_value_);
  }

  std::string reason_without(const Question& question) const {
    if (!can_share(question)) return "rank-2 has the slope in the key that heads share here";
    return fmt::format(
        "every candidate leaves the range of a format: the bias reaches {:.3g} and before scaling "
        "{:.3g}",
        farthest_bias(question), farthest_product(question));
  }

  double farthest_bias(const Question& question) const {
    return slope_of(question).to_double() * static_cast<double>(question.window - 1);
  }
  double farthest_product(const Question& question) const {
    return farthest_bias(question) * std::sqrt(static_cast<double>(question.head_dim));
  }

  // The limit of a single pair on its axes, logits; 0 where there is none.
  double limit_of(const Question& question, const HeadDesign& design) const {
    const Step& storage = question.pipeline[StepName::storage];
    const bool on_axes = design.method == Method::single ||
                         (design.method == Method::dyadic && design.pairs.size() == 1);
    if (!on_axes || !storage || storage->precision < 4) return 0;
    return to_double(single_pair_limit(storage->precision, question.window)) *
           slope_of(question).to_double();
  }

  std::string reason_of(const Question& question, const Found& found,
                        const Interruption& interruption) const {
    if (found.errors.measurement.errors.total_maximum == 0.0) {
      return "exact: every score is the bias itself";
    }
    const bool holds = is_within_tolerance(question, found);
    std::string text(holds ? kWithinTolerance : "");
    if (found.design.method == Method::rank_two) {
      const int terms = found.design.factor_terms;
      text += fmt::format("{} term{} for each position; ", terms, terms == 1 ? "" : "s");
    }
    text += what_is_left(found.errors, objective_value_,
                         unit_.read() == Unit::tokens ? "tokens" : "logits");
    if (const double limit = limit_of(question, found.design); limit > 0) {
      text += fmt::format(
          "; one pair on its axes turned less than once and stored in {} bits cannot have less "
          "than {:.3g} logits",
          question.pipeline[StepName::storage]->precision, limit);
    }
    if (found.design.method == Method::grid && !holds) {
      const Search& search = searches_[question.search];
      text += limit_of_grid(search.search->grid_limit(task_of(question), interruption),
                            search.options.grid.size(), tolerance_value_);
    }
    return text;
  }

  DesignedHead designed(const Question& question, const HeadDesign& design) const {
    const HeadTask task = task_of(question);
    return {question.head.heads,
            question.head.head,
            question.head.slope,
            question.context,
            question.window,
            question.head_dim,
            std::string(question.dtype.name),
            question.pipeline,
            question.pipeline_cell,
            step_per_position(task),
            design};
  }

  ModelOption model_;
  ContextOption context_;
  HeadOptions heads_;
  HeadDimOption head_dim_;
  FormatOptions formats_;
  PipelineOption pipelines_;
  BiasScaleOption bias_scale_;
  GridOptions grid_;
  ScalingOption scaling_;
  ToleranceOption tolerance_;
  UnitOption unit_;
  WindowOption window_;
  TextOption kv_heads_, method_, frequencies_;
  MostPairsOption most_pairs_;
  ObjectiveOption objective_;
  ModelFileOption model_file_;
  bool compare_ = false, costs_ = false;
  Objective objective_value_ = Objective::total;
  std::vector<Row> methods_;
  double tolerance_value_ = 0;
  std::vector<Question> questions_;
  std::map<std::string, std::size_t> group_names_;
  std::vector<Group> groups_;
  std::vector<GridChoice> grids_;  // of the context that is being read
  std::map<std::string, std::size_t> search_names_;
  std::vector<Search> searches_;
  std::vector<DesignedHead> designs_;
};

}  // namespace

CommandEntry design_command() {
  return {
      "design", "Find the best fixed vectors and frequencies for each head",
      R"(  $ ropelab design --head 2 --context 2049,2050 --dtype float16 --pipeline fused --method dyadic | cut -d, -f1,10-12,22,33
  context,frequencies,query,key,total_max_abs,holds
  2049,7.62939453125e-06,-1024 0,0 512,0,yes
  2050,7.62939453125e-06,-1024 0,0 512,0.5,no
)",
      make_command<Design>};
}

}  // namespace ropelab::app
