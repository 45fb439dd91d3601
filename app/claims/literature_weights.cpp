// Published claims about attention weights that a number format cannot hold.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"

namespace ropelab::app {
namespace {

constexpr int kLiteratureHeads = 16;

// What becomes of a number below the smallest normal one.
enum class Small { kept, flushed };

bool vanishes(const Format& format, Small small, const Real& weight) {
  const double rounded = round_to(format, weight);
  return rounded == 0 ||
         (small == Small::flushed && rounded < std::ldexp(1.0, format.min_exponent));
}

// The first distance d at which e^(-slope d), rounded to the format, is 0: every further one is.
long long blind_from(const Algebraic& slope, const Format& format, Small small) {
  const Real m = slope.to_real();
  return first_above(0, [&](long long distance) {
    return vanishes(format, small, natural_exponential(-m * distance));
  });
}

// The share, over all heads, of the weights at distances 0 ... last that vanish.
Real share_that_vanishes(const Format& format, Small small, long long last) {
  long long vanished = 0;
  for (int head = 1; head <= kLiteratureHeads; ++head) {
    const long long first = blind_from(alibi_slope(kLiteratureHeads, head), format, small);
    vanished += std::max(0LL, last + 1 - first);
  }
  return Real(vanished) / (kLiteratureHeads * (last + 1));
}

Table blind_table(const Interruption& interruption) {
  Table table({"heads", "head", "slope", "dtype", "blind_from", "blind_from_flushed"});
  for (int head = 1; head <= kLiteratureHeads; ++head) {
    const Algebraic slope = alibi_slope(kLiteratureHeads, head);
    for (const Format& format : all_formats()) {
      interruption.check();
      table.add_row({kLiteratureHeads, head, slope.to_double(), format.name,
                     blind_from(slope, format, Small::kept),
                     blind_from(slope, format, Small::flushed)});
    }
  }
  return table;
}

ClaimRow blind_row(int head, const Format& format) {
  const Algebraic slope = alibi_slope(kLiteratureHeads, head);
  return measured_row(
      {fmt::format("distance from which head {} of 16 is blind, {}", head, format.name),
       fmt::format("slope {:.6g}; from {} where subnormals are flushed to zero", slope.to_double(),
                   blind_from(slope, format, Small::flushed))},
      Real(blind_from(slope, format, Small::kept)));
}

}  // namespace

ClaimResult blind_heads(const ClaimSettings& settings) {
  const Format& bfloat16 = find_format("bfloat16");
  ClaimResult result{
      {stated_row({"share of weights that underflow at position 2048, subnormals flushed",
                   "e^(-m d) of 16 heads and d = 0 ... 2048, rounded to bfloat16"},
                  "0.366", share_that_vanishes(bfloat16, Small::flushed, 2048)),
       reading_row({"share of weights that underflow at position 2048, subnormals kept",
                    "holds only with flush-to-zero: with subnormals a head sees 6 % further"},
                   "0.366", share_that_vanishes(bfloat16, Small::kept, 2048))},
      {}};
  for (const char* dtype : {"bfloat16", "float16", "float32"}) {
    for (int head = 1; head <= kLiteratureHeads; ++head) {
      settings.interruption.check();
      result.rows.push_back(blind_row(head, find_format(dtype)));
    }
  }
  result.curve = blind_table(settings.interruption);
  return result;
}

}  // namespace ropelab::app
