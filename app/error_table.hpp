// The error table: one schema for every sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/settings.hpp"
#include "ropelab/errors/bound.hpp"
#include "ropelab/errors/conditioning.hpp"
#include "ropelab/errors/pair_errors.hpp"
#include "ropelab/errors/reference.hpp"
#include "ropelab/table/table.hpp"

namespace ropelab::app {

// Largest context whose tables a sweep makes.
inline constexpr long long kLargestSweptContext = 1LL << 30;

std::vector<std::string> error_table_columns();
// The columns of set_parameters and set_origins as an error table begins with them, then these.
std::vector<std::string> columns_after_parameters(const std::vector<std::string>& figures);

// N as the pipeline's rotation carries it, and how that went: the rounded query part times the
// rounded key part, which is N rounded where N is not split.
struct RoundedAmplitude {
  Algebraic exact;
  // To double, where the rotation is exact.
  double query, key;
  double rounded;  // their product
  // The first that holds of either part: overflow, zero, subnormal; else exact if both are.
  std::string_view status;
};
RoundedAmplitude rounded_amplitude(const Setting& setting);

// What the a-priori bound on the rounding error depends on.
BoundInputs bound_inputs(const Setting& setting);

// The cells that say what the setting is, as far as every table of settings has them: context,
// max_phase, theta, slope, head_dim, dtype and pipeline.
void set_parameters(Table::Row& row, const Setting& setting, int digits);
// And where the parameters come from, for those that have such an origin: base, rope_dim and
// pair, heads and head.
void set_origins(Table::Row& row, const Setting& setting, int digits);
// Those of the measured errors: rounding, total, visible, order_lost and the counts of pairs.
void set_errors(Table::Row& row, const PairErrors& errors);

// The first that holds of overflow (N or a score is not finite), underflow (theta or N rounds to
// 0) and wraps (the phase passes pi/2); else ok.
std::string_view status_of(const Setting& setting, bool scores_are_finite);

// Throws UsageError where tables of so many bytes for each position of the context are larger
// than this machine's memory.
void require_context_fits(long long context, double bytes_per_position);
// The same for all that the rows of the settings need, and above kLargestSweptContext.
void require_tables_fit(const std::vector<Setting>& settings);
// The same for content, of which all pairs need a table, or so many.
void require_content_fits(const PairSampling& pairs, const std::vector<Setting>& settings,
                          double tables = 1);

// The reference that a setting's errors are held against, which tells them in the setting's unit.
// Throws Interrupted.
DistanceReference reference_of(const Setting& setting, const Interruption& interruption);

// The rms of a truncation error over these distances, in the reference's unit, with as many digits
// as
// --digits asks for.
// Throws Interrupted.
Cell truncation_rms_cell(const TruncationError& truncation, const DistanceReference& reference,
                         DistanceRange distances, int digits, const Interruption& interruption);

// Computes rows; neighbouring settings that differ only in format share what does not depend
// on it.
class ErrorTableRows {
 public:
  struct Options {
    PairSampling pairs;
    std::uint64_t seed = 1;
    int digits = 17;
  };

  explicit ErrorTableRows(Options options, Interruption interruption = {})
      : options_(options), interruption_(interruption) {}

  // Whole but for columns that the error table has not.
  Table::Row add_row(Table& table, const Setting& setting);

 private:
  // What does not depend on dtype and pipeline.
  struct Shared {
    DistanceReference reference;
    TruncationError truncation;
    Cell truncation_rms;
    double weights_total_variation;
    std::optional<LargestKappa> kappa;
  };
  const Shared& shared_for(const Setting& setting);
  Measurement measure(const DistanceReference& reference, const Setting& setting) const;

  Options options_;
  Interruption interruption_;
  std::optional<Shared> shared_;
  long long shared_first_position_ = 0;
};

}  // namespace ropelab::app
