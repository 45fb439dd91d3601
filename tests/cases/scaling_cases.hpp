// Cases about scaled frequencies. Naive values are those of another rule.
#pragma once

#include "cases/case.hpp"
#include "ropelab/rope/frequency.hpp"

namespace cases {

inline ropelab::DynamicNtkScaling dynamic_ntk_of(const Case& c) {
  return {c.number("alpha"), c.integer("max_pos"), c.integer("len")};
}

// The other rule takes alpha itself, whatever the length.
inline Value ntk_dynamic_factor(const Case& c) {
  if (c.other_rule()) return c.real("alpha");
  return ropelab::to_real(ropelab::dynamic_factor(dynamic_ntk_of(c)));
}

// The other rule takes alpha times the original length for the length.
inline Value ntk_dynamic_base(const Case& c) {
  ropelab::DynamicNtkScaling ntk = dynamic_ntk_of(c);
  if (c.other_rule()) ntk.length = static_cast<long long>(ntk.factor) * ntk.original;
  return ropelab::ntk_base(c.positive("base"), c.small("dim"), ropelab::dynamic_factor(ntk))
      .to_real();
}

inline ropelab::YarnScaling yarn_of(const Case& c) {
  ropelab::YarnScaling yarn;
  yarn.factor = c.has("factor") ? c.number("factor") : 1;
  if (c.has("orig")) yarn.original = c.integer("orig");
  yarn.truncate = c.says("truncate", "1");
  if (c.has("mscale")) yarn.mscale = c.number("mscale");
  if (c.has("mscale_all_dim")) yarn.mscale_all_dim = c.number("mscale_all_dim");
  if (c.says("rule", "default") && c.other_rule()) yarn.mscale_all_dim = 1;
  const bool ratio = c.says("rule", "ratio") != c.other_rule();
  yarn.rule = ratio ? ropelab::AttentionRule::ratio : ropelab::AttentionRule::standard;
  return yarn;
}

inline ropelab::CorrectionRange yarn_range_of(const Case& c) {
  ropelab::YarnScaling yarn = yarn_of(c);
  if (c.has("beta")) yarn.beta_fast = yarn.beta_slow = c.number("beta");
  return ropelab::correction_range(yarn, c.positive("base"), c.small("dim"));
}

inline Value yarn_low(const Case& c) { return ropelab::to_real(yarn_range_of(c).low); }

// The other rule ends the range at the last pair.
inline Value yarn_high(const Case& c) {
  if (c.other_rule()) return Real(c.small("dim") / 2 - 1);
  return ropelab::to_real(yarn_range_of(c).high);
}

inline Value yarn_theta(const Case& c) {
  const int dim = c.small("dim"), pair = c.small("r");
  if (!c.other_rule()) {
    return ropelab::FrequencyGrid(c.positive("base"), dim, yarn_of(c)).theta(pair).to_real();
  }
  const ropelab::FrequencyGrid grid(c.positive("base"), dim);
  ropelab::CorrectionRange range = yarn_range_of(c);
  range.high = std::min(range.high, Rational(dim / 2 - 1));
  const Rational share = ropelab::extrapolated_share(range, pair);
  return Real(grid.theta(pair).to_real() *
              ropelab::to_real(share + (1 - share) / c.number("factor")));
}

// The other rule is off by one at the low end.
inline Value yarn_ramp_mix(const Case& c) {
  const Rational low = c.number("low") - (c.other_rule() ? 1 : 0);
  return ropelab::to_real(ropelab::extrapolated_share({low, c.number("high")}, c.small("pair")));
}

inline Value yarn_attn(const Case& c) { return ropelab::attention_factor(yarn_of(c)); }

// The other rule leaves it out.
inline Value mla_softmax_scale(const Case& c) {
  return c.other_rule() ? Real(1) : ropelab::softmax_factor(yarn_of(c));
}

inline Value longrope_attn(const Case& c) {
  ropelab::LongRopeScaling longrope;
  longrope.original = c.integer("orig");
  longrope.factor = Rational(c.integer("new"), c.integer("orig"));
  return ropelab::attention_factor(longrope);
}

inline ropelab::Llama3Scaling llama3_of(const Case& c) {
  return {c.number("factor"), c.integer("orig"), c.number("low"), c.number("high")};
}

}  // namespace cases
