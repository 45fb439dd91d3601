#include "app/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/memory.hpp"

namespace ropelab::app {
namespace {

// A pair, its score, and what draws it.
constexpr double kBytesPerSampledPair = 100;
// Every sample holds (0,0), (L-1,0) and (L-1,L-1).
constexpr long long kLeastSample = 3;

}  // namespace

std::optional<long long> sample_size(const PairSampling& pairs, long long context) {
  if (pairs.all) return std::nullopt;
  if (!pairs.sample && context <= pairs.all_up_to) return std::nullopt;
  const long long count = pairs.sample.value_or(kDefaultSample);
  const double all = static_cast<double>(context) * static_cast<double>(context + 1) / 2;
  if (static_cast<double>(count) >= all) return std::nullopt;
  return count;
}

void require_samples_fit(const PairSampling& pairs, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const auto count = sample_size(pairs, setting.context);
    if (!count) continue;
    require_memory(static_cast<double>(*count) * kBytesPerSampledPair, [&](const auto& memory) {
      return UsageError("--pairs", fmt::format("a sample of '{}' pairs takes {}; fewer would be "
                                               "right, or all, of which none is kept",
                                               *count, memory));
    });
  }
}

void note_samples(Run& run, const PairSampling& pairs, const std::vector<Setting>& settings) {
  long long noted = 0;
  for (const Setting& setting : settings) {
    run.interruption().check();
    if (setting.context == std::exchange(noted, setting.context)) continue;
    if (const auto sample = sample_size(pairs, setting.context)) {
      run.note(
          fmt::format("context {}: a sample of {} pairs (seed {}) stands for all; "
                      "--pairs all looks at every one",
                      setting.context, std::max(*sample, kLeastSample), run.seed()));
    } else if (pairs.sample) {
      run.note(
          fmt::format("context {}: all pairs are looked at, since there are no more than the {} "
                      "of the sample",
                      setting.context, *pairs.sample));
    }
  }
}

std::string pairs_text(const PairSampling& pairs, const std::vector<Setting>& settings) {
  if (pairs.all) return "all";
  if (pairs.sample) return fmt::format("sample:{}", *pairs.sample);
  const auto is_sampled = [&](const Setting& setting) {
    return sample_size(pairs, setting.context).has_value();
  };
  const bool any = std::any_of(settings.begin(), settings.end(), is_sampled);
  if (!any) return "all";
  const std::string sample = fmt::format("sample:{}", kDefaultSample);
  const bool every = std::all_of(settings.begin(), settings.end(), is_sampled);
  return every ? sample : fmt::format("all up to context {}, {} beyond", pairs.all_up_to, sample);
}

double work_on_pairs(const PairSampling& pairs, const Setting& setting) {
  const auto length = static_cast<double>(setting.context);
  const auto sample = sample_size(pairs, setting.context);
  const double per_pair = setting.content ? 1 + static_cast<double>(setting.head_dim) / 4 : 1;
  return 1000 * length +
         per_pair * (sample ? 100 * static_cast<double>(*sample) : length * length / 2);
}

}  // namespace ropelab::app
