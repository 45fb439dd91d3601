// The published claims, by subject: those of the source articles, then those of the literature.
#pragma once

#include <string_view>
#include <vector>

#include "app/claims/claim.hpp"

namespace ropelab::app {

// construction.cpp: the fixed vectors, their amplitude and their price.
ClaimResult theta_65k(const ClaimSettings& settings);
ClaimResult amplitude_65k(const ClaimSettings& settings);
ClaimResult small_angle(const ClaimSettings& settings);
ClaimResult overhead(const ClaimSettings& settings);

// slopes.cpp: ALiBi's slopes, and what they let a query see.
ClaimResult slope_bloom(const ClaimSettings& settings);
ClaimResult slopes_of_eight(const ClaimSettings& settings);
ClaimResult slopes_of_code_sample(const ClaimSettings& settings);
ClaimResult early_token(const ClaimSettings& settings);
ClaimResult reach(const ClaimSettings& settings);

// grid.cpp: RoPE's frequencies.
ClaimResult slowest_frequency(const ClaimSettings& settings);
ClaimResult smaller_base(const ClaimSettings& settings);
ClaimResult grid_only(const ClaimSettings& settings);
ClaimResult exponential_and_log(const ClaimSettings& settings);

// accuracy.cpp: what rounding does to the scores.
ClaimResult small_theta_unstable(const ClaimSettings& settings);
ClaimResult relative_positions(const ClaimSettings& settings);

// content.cpp: the ordinary dimensions turning too.
ClaimResult all_rotate(const ClaimSettings& settings);

// literature_positions.cpp: positions, angles and biases in 16 bits.
ClaimResult float16_table(const ClaimSettings& settings);
ClaimResult distinct_positions(const ClaimSettings& settings);
ClaimResult shifted_scores(const ClaimSettings& settings);
ClaimResult bias_of_rank_two(const ClaimSettings& settings);

// literature_weights.cpp: attention weights too small for a format.
ClaimResult blind_heads(const ClaimSettings& settings);

// literature_bases.cpp: which base serves which context.
ClaimResult least_bases(const ClaimSettings& settings);
ClaimResult critical_dimension(const ClaimSettings& settings);

struct Claim {
  std::string_view key;
  ClaimResult (*recompute)(const ClaimSettings& settings);
  bool has_curve;
  double work;  // relative to the others, for progress
};

struct ClaimSet {
  std::string_view name;       // as users write it
  std::string_view file_stem;  // of the files that hold its claims
  std::vector<Claim> claims;   // in the order in which they are printed
};

// "articles", what the source articles claim, and "literature", what papers and reports published.
const std::vector<ClaimSet>& claim_sets();
// Throws std::invalid_argument, naming those that exist.
const ClaimSet& find_claim_set(std::string_view name);

}  // namespace ropelab::app
