// What was published, recomputed: rows of figures, each with a verdict that follows
// from them by one of the rules below.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/exact/algebraic.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/table/table.hpp"

namespace ropelab::app {

enum class Verdict {
  agrees,      // to the digits claimed
  holds_only,  // under the condition that the note names
  wrong,
  measured  // the claim has no figure
};
// "agrees", "holds-only", "wrong", "measured".
std::string_view verdict_name(Verdict verdict);

struct ClaimRow {
  std::string quantity;
  Cell claimed;                    // empty where the claim has no figure
  std::optional<Real> computed;    // empty where a format has no finite result
  std::optional<Real> difference;  // (computed - claimed) / |claimed|; empty without a figure
  Verdict verdict;
  std::string note;
};

// A claim's rows, and the table behind them where it is a curve.
struct ClaimResult {
  std::vector<ClaimRow> rows;
  std::optional<Table> curve;
};

// The first whole number above `below`, which is at least 0, for which something holds that holds
// from there on.
long long first_above(long long below, const std::function<bool(long long)>& holds);

struct ClaimSettings {
  std::uint64_t seed = 1;
  Interruption interruption;
};

// How a row reads and what stands behind it.
struct ClaimText {
  std::string quantity;
  std::string note;
};

// No figure is claimed.
ClaimRow measured_row(ClaimText text, const Real& computed);

// `claimed` is a decimal number: agrees if the computed value, rounded to as many significant
// digits as that has, is the same number; else wrong.
ClaimRow stated_row(ClaimText text, std::string_view claimed, const Real& computed);
// The same for a reading under which the claim may fail: not wrong then, but holds-only.
ClaimRow reading_row(ClaimText text, std::string_view claimed, const Real& computed);

// "About this": agrees within 10 %, holds-only within a factor of 2, else wrong.
ClaimRow about_row(ClaimText text, const Real& claimed, const Real& computed);

// "Less than 1" of a ratio: agrees or wrong.
ClaimRow less_than_one_row(ClaimText text, const Real& ratio);

// "Grows", of a later figure over an earlier one: agrees if the ratio is at least 2, which is
// beyond the scatter of a largest rounding error; else wrong.
ClaimRow growth_row(ClaimText text, const Real& ratio);
// The same for a reading under which the claim may fail: not wrong then, but holds-only.
ClaimRow growth_reading_row(ClaimText text, const Real& ratio);

// "Nothing changes": agrees if the change is at most `resolution`, what the arithmetic itself
// blurs; else holds-only.
ClaimRow no_change_row(ClaimText text, const Real& change, const Real& resolution);

}  // namespace ropelab::app
