// The sixteen claims, by subject.
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

struct Claim {
  std::string_view key;
  ClaimResult (*recompute)(const ClaimSettings& settings);
  bool has_curve;
  double work;  // relative to the others, for progress
};

// In the order in which they are printed.
const std::vector<Claim>& all_claims();

}  // namespace ropelab::app
