// Which pairs of positions a table looks at: all of them, or a sample.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "app/settings.hpp"

namespace ropelab::app {

// How many are looked at beyond.
inline constexpr long long kDefaultSample = 1 << 20;

// The number of pairs to sample at this context, or nothing where all are looked at: also where
// there are no more pairs than the sample was to have.
std::optional<long long> sample_size(const PairSampling& pairs, long long context);
// Throws UsageError where such a sample is larger than this machine's memory.
void require_samples_fit(const PairSampling& pairs, const std::vector<Setting>& settings);

// Says at which contexts a sample stands for all: no figure is sampled silently. Throws
// Interrupted.
void note_samples(Run& run, const PairSampling& pairs, const std::vector<Setting>& settings);

// What --pairs comes to for these settings, as options write it; at which contexts it means
// which, the notes say.
std::string pairs_text(const PairSampling& pairs, const std::vector<Setting>& settings);

// How long the pairs of a setting take, in about nanoseconds, for the progress line.
double work_on_pairs(const PairSampling& pairs, const Setting& setting);

}  // namespace ropelab::app
