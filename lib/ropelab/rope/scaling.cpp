#include "ropelab/rope/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ropelab {
namespace {

// 0.1 x ln(factor) + 1.
Real magnitude(const Rational& x, const Rational& factor) {
  if (factor <= 1) return 1;
  return Real(to_real(x) * natural_logarithm(to_real(factor)) / 10 + 1);
}

Real magnitude_by_rule(const YarnScaling& yarn) {
  const Real m = magnitude(yarn.mscale, yarn.factor);
  return yarn.rule == AttentionRule::standard ? m : m / magnitude(yarn.mscale_all_dim, yarn.factor);
}

Real magnitude_by_length(const LongRopeScaling& longrope) {
  const Rational& factor = longrope.factor.value();
  if (factor <= 1) return 1;
  return sqrt(Real(1 + natural_logarithm(to_real(factor)) / natural_logarithm(longrope.original)));
}

Rational floor_of(const Real& x) { return to_rational(Real(floor(x))); }
Rational ceil_of(const Real& x) { return to_rational(Real(ceil(x))); }

Rational within_0_and_1(const Rational& x) { return std::clamp(x, Rational(0), Rational(1)); }

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

void require_length(const char* name, const std::optional<long long>& length) {
  if (length) return;
  refuse(fmt::format("'{}' depends on the length of the sequence; write {}:length=POSITIONS,...",
                     name, name));
}

void require_rope_dim(const char* name, int rope_dim) {
  if (rope_dim > 2) return;
  refuse(fmt::format("'{}' divides by rope-dim - 2; a rope-dim above 2 would be right", name));
}

void require_list(const char* name, const std::vector<Rational>& list, int rope_dim) {
  if (list.size() == static_cast<std::size_t>(rope_dim / 2)) return;
  refuse(
      fmt::format("'{}' has a list of {}; a rope-dim of {} has {} pairs, and a number for each "
                  "would be right",
                  name, list.size(), rope_dim, rope_dim / 2));
}

// What a scaling asks of its own parameters and of the grid.
struct Requirements {
  const Algebraic& base;
  int rope_dim;

  void operator()(std::monostate) const {}
  void operator()(const LinearScaling&) const {}
  void operator()(const NtkScaling&) const { require_rope_dim("ntk", rope_dim); }
  void operator()(const DynamicNtkScaling& ntk) const {
    require_rope_dim("dynamic-ntk", rope_dim);
    require_length("dynamic-ntk", ntk.length);
  }
  void operator()(const YarnScaling& yarn) const {
    if (!(Algebraic() < base)) {
      refuse(
          fmt::format("'yarn' divides by the logarithm of the base, which is {}; a base above 1 "
                      "would be right",
                      base.to_double()));
    }
    if (yarn.beta_fast < yarn.beta_slow) {
      refuse(
          fmt::format("'beta_fast={}' is below beta_slow, {}; the other way round would be right",
                      to_double(yarn.beta_fast), to_double(yarn.beta_slow)));
    }
    if (Real(yarn.original) <= 2 * pi() * to_real(yarn.beta_slow)) {
      refuse(
          fmt::format("'original={}' is too short for any pair to turn beta_slow times in it, "
                      "{}; an original above 2 pi beta_slow would be right",
                      yarn.original, to_double(yarn.beta_slow)));
    }
  }
  void operator()(const Llama3Scaling& llama3) const {
    if (llama3.low_freq_factor < llama3.high_freq_factor) return;
    refuse(
        fmt::format("'high_freq_factor={}' is not above low_freq_factor, {}; the other way "
                    "round would be right",
                    to_double(llama3.high_freq_factor), to_double(llama3.low_freq_factor)));
  }
  void operator()(const LongRopeScaling& longrope) const {
    require_list("short_factor", longrope.short_factor, rope_dim);
    require_list("long_factor", longrope.long_factor, rope_dim);
    require_length("longrope", longrope.length);
    if (longrope.original > 1 || longrope.attention_factor) return;
    refuse(
        fmt::format("'original={}' has no logarithm to divide by; an original above 1 would be "
                    "right",
                    longrope.original));
  }
};

// Of the factors for each pair, those of the sequence's length.
const std::vector<Rational>& factors(const LongRopeScaling& longrope) {
  return longrope.length.value() > longrope.original ? longrope.long_factor : longrope.short_factor;
}

}  // namespace

Scaling at_length(Scaling scaling, long long length) {
  const auto set = [&](auto& of) {
    if (!of.length) of.length = length;
  };
  if (auto* dynamic = std::get_if<DynamicNtkScaling>(&scaling)) set(*dynamic);
  if (auto* longrope = std::get_if<LongRopeScaling>(&scaling)) set(*longrope);
  return scaling;
}

Real attention_factor(const Scaling& scaling) {
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    return yarn->attention_factor ? to_real(*yarn->attention_factor) : magnitude_by_rule(*yarn);
  }
  if (const auto* longrope = std::get_if<LongRopeScaling>(&scaling)) {
    return longrope->attention_factor ? to_real(*longrope->attention_factor)
                                      : magnitude_by_length(*longrope);
  }
  return 1;
}

Real softmax_factor(const Scaling& scaling) {
  const auto* yarn = std::get_if<YarnScaling>(&scaling);
  if (yarn == nullptr) return 1;
  const Real m = magnitude(yarn->mscale_all_dim, yarn->factor);
  return m * m;
}

Rational dynamic_factor(const DynamicNtkScaling& scaling) {
  require_length("dynamic-ntk", scaling.length);
  if (*scaling.length <= scaling.original) return 1;
  return scaling.factor * Rational(*scaling.length, scaling.original) - (scaling.factor - 1);
}

Algebraic ntk_base(const Algebraic& base, int rope_dim, const Rational& factor) {
  return base * Algebraic::power(factor, rope_dim, static_cast<unsigned>(rope_dim - 2));
}

Real correction_dimension(const Algebraic& base, int rope_dim, long long original,
                          const Rational& turns) {
  const Real ratio = Real(original) / (2 * pi() * to_real(turns));
  return Real(rope_dim * natural_logarithm(ratio) / (2 * natural_logarithm(base.to_real())));
}

CorrectionRange correction_range(const YarnScaling& scaling, const Algebraic& base, int rope_dim) {
  const auto end = [&](const Rational& turns) {
    return correction_dimension(base, rope_dim, scaling.original, turns);
  };
  const Real low = end(scaling.beta_fast), high = end(scaling.beta_slow);
  return {std::max(Rational(0), scaling.truncate ? floor_of(low) : to_rational(low)),
          std::min(Rational(rope_dim - 1), scaling.truncate ? ceil_of(high) : to_rational(high))};
}

Rational extrapolated_share(const CorrectionRange& range, int pair) {
  if (pair <= range.low) return 1;
  const Rational width =
      range.low == range.high ? Rational(1, 1000) : Rational(range.high - range.low);
  return 1 - within_0_and_1((pair - range.low) / width);
}

Rational extrapolated_share(const Llama3Scaling& scaling, const Algebraic& theta) {
  const Real turns = Real(scaling.original) * theta.to_real() / (2 * pi());
  const Rational width = scaling.high_freq_factor - scaling.low_freq_factor;
  return within_0_and_1((to_rational(turns) - scaling.low_freq_factor) / width);
}

GridScaling::GridScaling(Scaling scaling, const Algebraic& base, int rope_dim)
    : scaling_(std::move(scaling)), base_(base), rope_dim_(rope_dim) {
  std::visit(Requirements{base, rope_dim}, scaling_);
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling_)) {
    range_ = correction_range(*yarn, base, rope_dim);
  }
}

std::optional<Rational> GridScaling::ntk_factor() const {
  if (const auto* ntk = std::get_if<NtkScaling>(&scaling_)) return ntk->factor;
  if (const auto* ntk = std::get_if<DynamicNtkScaling>(&scaling_)) return dynamic_factor(*ntk);
  return std::nullopt;
}

std::optional<Algebraic> GridScaling::base() const {
  const auto factor = ntk_factor();
  return factor ? std::optional(ntk_base(base_, rope_dim_, *factor)) : std::nullopt;
}

std::optional<Rational> GridScaling::extrapolated(const Algebraic& theta, int pair) const {
  if (range_) return extrapolated_share(*range_, pair);
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&scaling_)) {
    return extrapolated_share(*llama3, theta);
  }
  return std::nullopt;
}

Algebraic GridScaling::scaled(const Algebraic& theta, int pair) const {
  const auto interpolated = [&](const Rational& factor) {
    const Rational share = extrapolated(theta, pair).value();
    return theta * Algebraic(Rational(share + (1 - share) / factor));
  };
  if (const auto* linear = std::get_if<LinearScaling>(&scaling_)) {
    return theta / Algebraic(linear->factor);
  }
  if (const auto factor = ntk_factor()) {
    // (factor^(D/(D-2)))^(-2 pair/D).
    return theta * Algebraic::power(*factor, -2LL * pair, static_cast<unsigned>(rope_dim_ - 2));
  }
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling_)) return interpolated(yarn->factor);
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&scaling_)) {
    return interpolated(llama3->factor);
  }
  if (const auto* longrope = std::get_if<LongRopeScaling>(&scaling_)) {
    return theta / Algebraic(factors(*longrope)[static_cast<std::size_t>(pair)]);
  }
  return theta;
}

}  // namespace ropelab
