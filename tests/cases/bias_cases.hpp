// Cases about ALiBi's slopes and bias, and about conventions of sign, offset and mask.
#pragma once

#include "cases/rounding_cases.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/errors/weights.hpp"

namespace cases {

// Cases count heads from 0.
inline Algebraic slope_of(const Case& c) {
  if (c.has("m")) return c.positive("m");
  return ropelab::alibi_slope(c.small("heads"), c.small("head") + 1);
}

// Other rules: the slopes of another number of heads, or powers of one ratio for any number.
inline Value slope(const Case& c) {
  if (!c.other_rule()) return slope_of(c).to_real();
  const int head = c.small("head") + 1;
  if (c.has("computed_for")) {
    return ropelab::alibi_slope(c.small("computed_for"), head).to_real();
  }
  return Algebraic::power(2, -8 * head, static_cast<unsigned>(c.small("heads"))).to_real();
}

inline long long distance_of(const Case& c) {
  return c.has("d") ? c.integer("d") : c.integer("i") - c.integer("j");
}

// Two ways to count what the slope is multiplied by: the key's position (the original code, which
// leaves out a constant that softmax does not see), or minus the distance.
inline bool counts_from_the_start(const Case& c) {
  return c.has("absolute") && c.says("absolute", "1") != c.other_rule();
}

// The factor of the slope, `moved` keys further on.
inline long long tokens_of(const Case& c, long long moved) {
  if (counts_from_the_start(c)) return c.integer("j") + moved;
  const long long d = distance_of(c) - moved;
  // An offset shifts all keys of a query alike, so the right bias has none.
  if (c.naive() && c.has("offset")) return c.integer("offset") - d;
  // One rotated pair is odd in d and cannot be symmetric.
  return c.says("form", "symmetric") && !c.other_rule() ? -std::abs(d) : -d;
}

inline Step first_of(const Case& c, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (c.has(name)) return c.kept_in(name);
  }
  return std::nullopt;
}

inline Real bias_at(const Case& c, long long moved) {
  const Real m = kept(first_of(c, {"slope_fmt", "all_fmt"}), slope_of(c).to_real());
  const Real tokens =
      kept(first_of(c, {"pos_fmt", "mask_fmt", "all_fmt"}), Real(tokens_of(c, moved)));
  return kept(first_of(c, {"prod_fmt", "store_fmt", "all_fmt"}), Real(m * tokens));
}

inline Value bias(const Case& c) {
  const Real exact = bias_at(c, 0);
  if (!c.has("out_fmt")) return exact;
  return converted(c, c.asked_format("out_fmt"), ropelab::to_rational(exact));
}

// What the bias gains towards the query: over two keys where they are counted from the start
// (as the note of the case says), else over one.
inline Value bias_step(const Case& c) {
  const long long keys = counts_from_the_start(c) ? 2 : 1;
  const Real here = bias_at(c, 0);
  return counts_from_the_start(c) ? Real(here - bias_at(c, -keys)) : Real(bias_at(c, keys) - here);
}

// The other rule adds the bias before the scores are divided by sqrt(h).
inline Value bias_after_scale(const Case& c) {
  const Real scale = ropelab::square_root(c.number("h")).to_real();
  return c.other_rule() ? Real(c.real("bias") / scale) : c.real("bias");
}

inline Value mask_distance(const Case& c) { return kept(c.kept_in("fmt"), c.real("d")); }

// The weight of key j under a symmetric bias. The other rule is one row m*j for all queries,
// which only a causal mask makes equal to it.
inline Value softmax_weight(const Case& c) {
  const long long i = c.integer("i");
  const long long keys = c.says("mask", "causal") ? i + 1 : c.integer("L");
  const Real m = slope_of(c).to_real();
  std::vector<ropelab::DoubleDouble> scores;
  for (long long j = 0; j < keys; ++j) {
    const long long tokens = c.other_rule() ? j : -std::abs(i - j);
    scores.push_back(ropelab::to_double_double(Real(m * tokens)));
  }
  return ropelab::to_real(ropelab::softmax(scores).at(static_cast<std::size_t>(c.integer("j"))));
}

}  // namespace cases
