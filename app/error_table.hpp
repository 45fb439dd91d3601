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

// Up to this context all pairs are looked at unless the user says otherwise.
inline constexpr long long kLargestContextOfAllPairs = 256 * 1024;
// How many are looked at beyond.
inline constexpr long long kDefaultSample = 1 << 20;
// Largest context whose tables a sweep makes.
inline constexpr long long kLargestSweptContext = 1LL << 30;

std::vector<std::string> error_table_columns();

// N as the pipeline's rotation rounds it, and how that went.
struct RoundedAmplitude {
  Algebraic exact;
  double rounded;  // to double, where the rotation is exact
  std::string_view status;
};
RoundedAmplitude rounded_amplitude(const Setting& setting);

// What the a-priori bound on the rounding error depends on.
BoundInputs bound_inputs(const Setting& setting);

// Throws UsageError where a context is above kLargestSweptContext.
void require_tables_fit(const std::vector<Setting>& settings);

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

  // The number of pairs to sample, or nothing where all are looked at.
  std::optional<long long> sample_size(const Setting& setting) const;

  void add_row(Table& table, const Setting& setting);

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

  Options options_;
  Interruption interruption_;
  std::optional<Shared> shared_;
  long long shared_first_position_ = 0;
};

}  // namespace ropelab::app
