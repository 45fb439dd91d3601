// What the tables of `design` and `fit` have in common.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/construction_options.hpp"
#include "app/design_file.hpp"
#include "app/files_in_use.hpp"
#include "ropelab/design/search.hpp"
#include "ropelab/table/table.hpp"
#include "ropelab/table/whole_file.hpp"

namespace ropelab::app {

// These parameters, then the design, its errors, and whether the tolerance holds.
std::vector<std::string> design_columns(std::vector<std::string> parameters);
// The cells of a design, and of its errors, truncation and weights among them.
void set_design(Table::Row& row, const HeadDesign& design);
void set_measured(Table::Row& row, const DesignErrors& errors);

// "0.1 logits left mostly by truncation", or by rounding: what is to be least, in the unit of the
// errors, and which of the two is more by itself. They may cancel: neither of them is named by its
// size, which can be above the error. For designs all of whose scores are finite.
std::string what_is_left(const DesignErrors& errors, Objective objective, std::string_view unit);
// What stands before it where the tolerance holds.
inline constexpr std::string_view kWithinTolerance = "within the tolerance: ";
// What to add to it: the truncation error, in logits, that no fixed vectors on a grid of so many
// pairs get below, where that is what the tolerance fails by.
std::string limit_of_grid(double limit, std::size_t pairs, double tolerance);

// Throws UsageError for contexts whose designs cannot be measured over all pairs, or do not fit.
void require_design_fits(long long context);

// --window: none is above the context, which is the default unless a model's attention slides.
class WindowOption {
 public:
  // `without` says, for the help, what holds where it is not given.
  void add_to(CLI::App& app, const std::string& without = "the whole context");
  void take_defaults(const ModelConfig& model);
  std::vector<long long> read(long long context, const Interruption& interruption) const;

 private:
  TextOption window_;
};

// --max-pairs: a list.
class MostPairsOption {
 public:
  void add_to(CLI::App& app);
  std::vector<int> read(const Interruption& interruption) const;
  // What stands behind a pipeline for one of them: ",max-pairs=8", or nothing for the default.
  std::string cell(int pairs) const;

 private:
  TextOption most_pairs_;
};

// --objective: what is to be least.
class ObjectiveOption {
 public:
  void add_to(CLI::App& app);
  Objective read() const;

 private:
  TextOption objective_;
};

// --model-file: where what a model needs is written as well, if it is given.
class ModelFileOption {
 public:
  void add_to(CLI::App& app);
  bool given() const { return name_.given(); }
  // Takes hold of the file. Throws UsageError where it cannot be written, or is in use, and where
  // its ending is another than .json.
  void open(FilesInUse& files);
  // Throws std::runtime_error where that fails.
  void write(const std::vector<DesignedHead>& heads);

 private:
  TextOption name_;
  std::optional<WholeFile> file_;
};

// A model's own frequencies, and what stands for them behind a pipeline.
struct GridChoice {
  std::vector<Algebraic> thetas;
  std::string cell;
};

// The grids of a context.
std::vector<GridChoice> grid_choices(const GridOptions& grid, const ScalingOption& scaling,
                                     long long context, const Interruption& interruption);

// Throws UsageError where an option of the grid is given, which none of the designs uses; `wanted`
// says what would make one use it.
void refuse_idle_grid(const GridOptions& grid, const ScalingOption& scaling,
                      std::string_view wanted);

// The place of a name among these. Throws std::invalid_argument.
template <std::size_t size>
int index_of(const std::array<std::string_view, size>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::invalid_argument(
        fmt::format("'{}' is none of {}", name, fmt::join(names.begin(), names.end(), ", ")));
  }
  return static_cast<int>(found - names.begin());
}

}  // namespace ropelab::app
