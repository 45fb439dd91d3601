#include "app/claims/all_claims.hpp"

namespace ropelab::app {

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> claims{
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
  };
  return claims;
}

}  // namespace ropelab::app
