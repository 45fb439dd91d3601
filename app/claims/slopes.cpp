// Claims about ALiBi's slopes, and about how far they let a query see.
#include <fmt/format.h>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"

namespace ropelab::app {
namespace {

// 2^-head in decimals: the shortest ones of a double, which are all of them here.
std::string negative_power_of_two(int head) {
  return fmt::format("{}", to_double(Rational(1, 1LL << head)));
}

Algebraic code_sample_slope(int i, int heads) {
  return Algebraic::power(2, -i, static_cast<unsigned>(heads - 1));
}

// How many of `length` tokens see fewer than 100 tokens, as a share; the first one sees `first`.
ClaimRow early_row(int length, std::string_view claimed, int first) {
  int few = 0;
  for (int i = 0; i < length; ++i) few += i + first < 100 ? 1 : 0;
  return stated_row(
      {fmt::format("share of {} tokens that see fewer than 100{}", length,
                   first == 0 ? "" : ", itself counted"),
       fmt::format("{} tokens: token i, from 0, sees {}", few, first == 0 ? "i" : "i + 1")},
      claimed, Real(few) / length);
}

Table reach_table() {
  Table table({"heads", "head", "slope", "visible_reach", "first_invisible"});
  for (const int heads : {8, 16, 112}) {
    for (int head = 1; head <= heads; ++head) {
      const Algebraic slope = alibi_slope(heads, head);
      const auto last = static_cast<long long>(visible_reach(slope));
      table.add_row({heads, head, slope.to_double(), last, last + 1});
    }
  }
  return table;
}

}  // namespace

ClaimResult slope_bloom(const ClaimSettings&) {
  return {{stated_row({"slope of head 1 of 16", "2^(-8/16) = 2^(-1/2)"}, "0.707",
                      alibi_slope(16, 1).to_real())},
          {}};
}

ClaimResult slopes_of_eight(const ClaimSettings&) {
  ClaimResult result;
  for (int head = 1; head <= 8; ++head) {
    result.rows.push_back(stated_row(
        {fmt::format("slope of head {} of 8", head), fmt::format("2^-{}, exactly", head)},
        negative_power_of_two(head), alibi_slope(8, head).to_real()));
  }
  return result;
}

ClaimResult slopes_of_code_sample(const ClaimSettings&) {
  constexpr int kHeads = 8;
  constexpr int kEmbedding = 512;  // of eight heads of dimension 64
  const Algebraic divisor = square_root(kEmbedding);
  ClaimResult result;
  for (int i = 0; i < kHeads; ++i) {
    result.rows.push_back(stated_row(
        {fmt::format("slope of head {} of 8 before the division", i + 1),
         fmt::format("2^(-{}/7) stands where ALiBi has 2^-{}; the sign is right", i, i + 1)},
        negative_power_of_two(i + 1), code_sample_slope(i, kHeads).to_real()));
  }
  for (int i = 0; i < kHeads; ++i) {
    const Algebraic effective = code_sample_slope(i, kHeads) / divisor;
    result.rows.push_back(
        stated_row({fmt::format("slope of head {} of 8 after the division by sqrt(512)", i + 1),
                    fmt::format("embedding dimension 512; this head sees {} positions, ALiBi's {}",
                                visible_reach(effective).str(),
                                visible_reach(alibi_slope(kHeads, i + 1)).str())},
                   negative_power_of_two(i + 1), effective.to_real()));
  }
  return result;
}

ClaimResult early_token(const ClaimSettings&) {
  return {{early_row(1000, "0.1", 0), early_row(1000, "0.1", 1), early_row(2000, "0.05", 0),
           early_row(2000, "0.05", 1)},
          {}};
}

ClaimResult reach(const ClaimSettings&) {
  ClaimResult result;
  for (int head = 1; head <= 16; ++head) {
    const Algebraic slope = alibi_slope(16, head);
    result.rows.push_back(
        measured_row({fmt::format("first distance with a weight below 2^-16, head {} of 16", head),
                      fmt::format("slope {:.6g}", slope.to_double())},
                     Real(Integer(visible_reach(slope) + 1))));
  }
  result.curve = reach_table();
  return result;
}

}  // namespace ropelab::app
