#include "app/claims/all_claims.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ropelab::app {

const std::vector<ClaimSet>& claim_sets() {
  static const std::vector<ClaimSet> sets{
      {"articles",
       "claims",
       {
           {"theta-65k", theta_65k, false, 1},
           {"N-65k", amplitude_65k, false, 1},
           {"slope-bloom", slope_bloom, false, 1},
           {"small-angle", small_angle, false, 10},
           {"slowest", slowest_frequency, false, 1},
           {"smaller-base", smaller_base, false, 1},
           {"small-theta-unstable", small_theta_unstable, true, 500},
           {"grid-only", grid_only, true, 1},
           {"all-rotate", all_rotate, true, 20},
           {"relative", relative_positions, true, 50},
           {"slopes-8", slopes_of_eight, false, 1},
           {"slopes-code", slopes_of_code_sample, false, 1},
           {"overhead", overhead, false, 1},
           {"early-token", early_token, false, 1},
           {"reach", reach, true, 1},
           {"explog", exponential_and_log, true, 20},
       }},
      {"literature",
       "literature",
       {
           {"fp16-table", float16_table, false, 20},
           {"distinct", distinct_positions, false, 1},
           {"blind", blind_heads, true, 10},
           {"least-base", least_bases, true, 50},
           {"d-extra", critical_dimension, false, 1},
           {"shift", shifted_scores, false, 20},
           {"rank-2", bias_of_rank_two, false, 100},
       }},
  };
  return sets;
}

const ClaimSet& find_claim_set(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ClaimSet& set : claim_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw std::invalid_argument(
      fmt::format("'{}' is no set of claims; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace ropelab::app
