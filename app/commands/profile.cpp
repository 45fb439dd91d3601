// ropelab profile: the error table resolved by distance.
#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/error_table.hpp"
#include "app/sampling.hpp"
#include "ropelab/errors/content_errors.hpp"
#include "ropelab/errors/diagonals.hpp"
#include "ropelab/errors/sampled_pairs.hpp"

namespace ropelab::app {
namespace {

class Profile : public Command {
 public:
  void add_options(CLI::App& app) override {
    options_.add_to(app);
    options_.add_content_to(app);
    options_.add_unit_to(app);
    pairs_.add_to(app);
  }

  void set_up(const Interruption& interruption) override {
    settings_ = options_.read(interruption);
    sampling_ = pairs_.read();
    require_tables_fit(settings_);
    require_samples_fit(sampling_, settings_);
    require_content_fits(sampling_, settings_);
  }

  std::vector<std::string> columns() const override {
    return columns_after_parameters({"d_first", "d_last", "truncation_max_abs",
                                     "truncation_max_rel", "truncation_rms", "rounding_max_abs",
                                     "rounding_max_i", "rounding_max_j", "rounding_rms",
                                     "total_max_abs", "total_rms", "visible_max_abs",
                                     "visible_share", "order_lost", "pairs", "nonfinite_pairs"});
  }

  std::vector<std::string> files_read() const override { return options_.files_read(); }

  Parameters resolved_parameters(const Interruption& interruption) const override {
    Parameters parameters = options_.resolved_parameters(settings_, interruption);
    parameters.emplace_back("pairs", pairs_text(sampling_, settings_));
    return parameters;
  }

  std::optional<std::size_t> rows_in_all() const override {
    std::size_t rows = 0;
    for (const Setting& setting : settings_) {
      rows += doubling_distances(static_cast<std::size_t>(setting.context)).size();
    }
    return rows;
  }

  void run(Run& run, Table& table) override {
    note_samples(run, sampling_, settings_);
    run.set_instruction_set(instruction_set_in_use());
    run.over(
        settings_.size(), [&](std::size_t point) { add_rows(run, table, settings_[point]); },
        [&](std::size_t point) { return work_on_pairs(sampling_, settings_[point]); });
  }

 private:
  // What settings that differ in dtype and pipeline alone have in common.
  struct Shared {
    DistanceReference reference;
    std::vector<DistanceRange> ranges;
    std::vector<std::vector<Cell>> truncation;  // maximum, relative maximum and rms of each range
  };

  static std::vector<Cell> truncation_cells(Run& run, const DistanceReference& reference,
                                            DistanceRange distances) {
    const int digits = run.digits();
    const TruncationError error = truncation_error(reference, distances);
    return {exact_cell(reference.error_unit().of(error.maximum), digits),
            exact_cell(error.relative_maximum, digits),
            truncation_rms_cell(error, reference, distances, digits, run.interruption())};
  }

  const Shared& shared_for(Run& run, const Setting& setting) {
    const Construction construction = setting.construction();
    const auto context = static_cast<std::size_t>(setting.context);
    if (shared_ && shared_->reference.context() == context &&
        shared_->reference.construction() == construction) {
      return *shared_;
    }
    shared_.reset();
    DistanceReference reference = reference_of(setting, run.interruption());
    const auto ranges = doubling_distances(context);
    std::vector<std::vector<Cell>> truncation;
    for (const DistanceRange& distances : ranges) {
      truncation.push_back(truncation_cells(run, reference, distances));
    }
    return shared_.emplace(Shared{std::move(reference), ranges, std::move(truncation)});
  }

  std::vector<PairErrors> measure(Run& run, const Setting& setting, const Shared& shared) const {
    const auto sample = sample_size(sampling_, setting.context);
    const auto count = static_cast<std::uint64_t>(sample.value_or(0));
    const Pipeline& pipeline = setting.pipeline;
    const long long first = setting.first_position;
    const Interruption& interruption = run.point_interruption();
    if (setting.content) {
      return sample ? sampled_errors_at_among_content(shared.ranges, pipeline, shared.reference,
                                                      first, *setting.content, count, run.seed(),
                                                      interruption)
                    : errors_at_among_content(shared.ranges, pipeline, shared.reference, first,
                                              *setting.content, interruption);
    }
    return sample ? sampled_errors_at(shared.ranges, pipeline, shared.reference, first, count,
                                      run.seed(), interruption)
                  : errors_at(shared.ranges, pipeline, shared.reference, first, interruption);
  }

  // All that can be interrupted comes before the rows, so that a setting has all of them or none.
  void add_rows(Run& run, Table& table, const Setting& setting) {
    const Shared& shared = shared_for(run, setting);
    const auto errors = measure(run, setting, shared);
    const Algebraic slope = setting.construction().slope;
    for (std::size_t n = 0; n < errors.size(); ++n) {
      const DistanceRange distances = shared.ranges[n];
      auto row = table.add_row();
      set_parameters(row, setting, run.digits());
      set_origins(row, setting, run.digits());
      row.set("d_first", distances.first)
          .set("d_last", distances.last)
          .set("truncation_max_abs", shared.truncation[n][0])
          .set("truncation_max_rel", shared.truncation[n][1])
          .set("truncation_rms", shared.truncation[n][2])
          .set("visible_share", visible_share(slope, distances, shared.reference.context()));
      set_errors(row, errors[n]);
      // A small sample may have none of these pairs.
      if (errors[n].pairs == 0) row.set("order_lost", {});
    }
  }

  SettingOptions options_;
  SamplingOption pairs_;
  std::vector<Setting> settings_;
  PairSampling sampling_;
  std::optional<Shared> shared_;
};

}  // namespace

CommandEntry profile_command() {
  return {"profile", "Resolve the errors by distance, one row for each power of two",
          R"(  $ ropelab profile --context 64 --dtype float32 | cut -d, -f13-15,18-20,25
  d_first,d_last,truncation_max_abs,rounding_max_abs,rounding_max_i,rounding_max_j,visible_share
  0,0,0,3.814697265625e-06,48,48,1
  1,1,2.877224507119982e-07,4.865178481312597e-06,50,49,1
  2,3,7.76849858279563e-06,5.202014184777573e-06,53,50,1
  4,7,9.868822234113448e-05,5.68918016907067e-06,57,51,1
  8,15,0.0009710367189872522,8.78937866563119e-06,62,49,1
  16,31,0.008570535107918323,6.369652528751568e-06,59,38,0
  32,63,0.07190929572904536,6.025079455952921e-06,61,1,0
)",
          make_command<Profile>};
}

}  // namespace ropelab::app
