// How models that were trained on short texts stretch RoPE's grid for longer ones. theta_r stands
// for the unscaled base^(-2 r/D) of pair r in a grid of D = rope_dim, L for the length of the
// sequence, and original for the length that the model was trained on. Parameters have the names
// of Hugging Face transformers [HF], original being its original_max_position_embeddings.
//
// [HF]     transformers, src/transformers/modeling_rope_utils.py
// [PI]     Chen, Wong, Chen, Tian: Extending Context Window of Large Language Models via Positional
//          Interpolation (arXiv 2306.15595), section 3.2; also kaiokendev's SuperHOT
// [NTK]    bloc97: NTK-Aware Scaled RoPE, reddit r/LocalLLaMA, June 2023; [YaRN] section 3.1
// [DYN]    emozilla: Dynamically Scaled RoPE, reddit r/LocalLLaMA, July 2023; as [HF] has it
// [YaRN]   Peng, Quesnelle, Fan, Shippole: YaRN: Efficient Context Window Extension of Large
//          Language Models (arXiv 2309.00071), and the code beside it, which [HF] follows
// [DSV2]   DeepSeek-AI: DeepSeek-V2 (arXiv 2405.04434), section 3.1.4, and its modelling code
// [LLAMA]  Llama 3.1's reference code, apply_scaling; as [HF] has it
// [LONG]   Ding et al.: LongRoPE (arXiv 2402.13753); the attention factor as in Phi-3's code and
//          [HF]
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// All factors are above 0, and original is at least 1.

// theta_r / factor [PI].
struct LinearScaling {
  Rational factor;
};

// theta_r of the base times factor^(D/(D-2)) [NTK]: the slowest pair is divided by factor, the
// fastest stays.
struct NtkScaling {
  Rational factor;
};

// The same with factor*L/original - (factor - 1), or 1 while L <= original, for its factor [DYN].
struct DynamicNtkScaling {
  Rational factor;
  long long original = 0;
  std::optional<long long> length;  // L
};

// What cos and sin are multiplied by, with m(x) = 0.1 x ln(factor) + 1, or 1 where factor <= 1:
enum class AttentionRule {
  standard,  // m(mscale): [YaRN], where mscale is 1
  ratio      // m(mscale) / m(mscale_all_dim) [DSV2]
};

// theta_r (e + (1 - e)/factor), with a share e that falls from 1 to 0 from the pair that turns
// beta_fast times within original to the one that turns beta_slow times [YaRN].
struct YarnScaling {
  Rational factor;
  long long original = 0;
  Rational beta_fast = 32;
  Rational beta_slow = 1;
  bool truncate = true;  // whether that range of pairs is widened to whole numbers
  AttentionRule rule = AttentionRule::standard;
  Rational mscale = 1;                       // at least 0
  Rational mscale_all_dim = 0;               // at least 0
  std::optional<Rational> attention_factor;  // in place of the rule's
};

// theta_r (e + (1 - e)/factor), e being 0 for pairs that turn less than low_freq_factor times
// within original, 1 for those that turn more than high_freq_factor times, and linear in the
// number of turns between [LLAMA].
struct Llama3Scaling {
  Rational factor;
  long long original = 0;
  Rational low_freq_factor = 1;
  Rational high_freq_factor = 4;
};

// theta_r / short_factor[r] while L <= original, theta_r / long_factor[r] beyond [LONG].
struct LongRopeScaling {
  std::vector<Rational> short_factor, long_factor;  // one for each pair
  long long original = 0;
  std::optional<long long> length;           // L
  std::optional<Rational> factor;            // one of these two is there
  std::optional<Rational> attention_factor;  // in place of sqrt(1 + ln(factor)/ln(original))
};

// The first is the grid as it is.
using Scaling = std::variant<std::monostate, LinearScaling, NtkScaling, DynamicNtkScaling,
                             YarnScaling, Llama3Scaling, LongRopeScaling>;

inline bool scales(const Scaling& scaling) { return scaling.index() != 0; }

// The same for a sequence of so many positions, unless the scaling has a length of its own.
Scaling at_length(Scaling scaling, long long length);

// What cos and sin are multiplied by: 1 where the scaling asks for nothing. Good to 2^-490
// relative.
Real attention_factor(const Scaling& scaling);

// What 1/sqrt(head_dim) is multiplied by besides: yarn's m(mscale_all_dim)^2 in multi-head latent
// attention [DSV2], or 1 where mscale_all_dim is 0. Good to 2^-490 relative.
Real softmax_factor(const Scaling& scaling);

// factor*L/original - (factor - 1), or 1 while L <= original [DYN]. Throws std::invalid_argument
// without a length.
Rational dynamic_factor(const DynamicNtkScaling& scaling);

// base * factor^(D/(D-2)) [NTK], for a rope_dim above 2.
Algebraic ntk_base(const Algebraic& base, int rope_dim, const Rational& factor);

// The pair, as a real number, that turns so many times within original:
//   D ln(original/(2 pi turns)) / (2 ln base) [YaRN].
// Within 2^-480 for bases from 1.001 on. It is never a whole number for rational turns, pi being
// transcendental.
Real correction_dimension(const Algebraic& base, int rope_dim, long long original,
                          const Rational& turns);

// Where yarn's share falls. Irrational ends are within 2^-480 of what they stand for.
struct CorrectionRange {
  Rational low;   // for beta_fast: rounded down where truncated, at least 0
  Rational high;  // for beta_slow: rounded up where truncated, at most D-1
};
CorrectionRange correction_range(const YarnScaling& scaling, const Algebraic& base, int rope_dim);

// yarn's e: 1 up to low, 0 from high on, linear between. Where the ends are one pair, high is taken
// as 0.001 further on, as the code beside [YaRN] does. Where every pair turns more than beta_fast
// times, so that low is past them all, e is 1, as [YaRN] defines it; that code makes it 0.
Rational extrapolated_share(const CorrectionRange& range, int pair);

// llama3's e; where it is neither 0 nor 1, within 2^-480 of the transcendental number it is.
Rational extrapolated_share(const Llama3Scaling& scaling, const Algebraic& theta);

// A scaling made for one grid.
class GridScaling {
 public:
  // None.
  GridScaling() = default;
  // Throws std::invalid_argument, with one sentence, where the scaling cannot be meant: a length
  // that is missing, lists that are not as long as there are pairs, ntk with a rope_dim of 2, yarn
  // with a base up to 1, ends of a range that are the wrong way round, or an original that is too
  // short for the slower end or for its logarithm to be a divisor.
  GridScaling(Scaling scaling, const Algebraic& base, int rope_dim);

  const Scaling& scaling() const { return scaling_; }

  // What becomes of a pair's theta: exact where that is algebraic. Between the ends of llama3's
  // range, and of yarn's where that is not truncated, it is transcendental; then the algebraic
  // number returned is within 2^-450 relative of it, for factors up to 2^20 and ends that are 2^-10
  // or more apart, and stands for it in all that follows.
  Algebraic scaled(const Algebraic& theta, int pair) const;

  // The share e of yarn and llama3.
  std::optional<Rational> extrapolated(const Algebraic& theta, int pair) const;
  // The base of ntk and dynamic-ntk.
  std::optional<Algebraic> base() const;
  // Of yarn.
  const std::optional<CorrectionRange>& range() const { return range_; }

 private:
  std::optional<Rational> ntk_factor() const;

  Scaling scaling_;
  Algebraic base_;
  int rope_dim_ = 0;
  std::optional<CorrectionRange> range_;
};

}  // namespace ropelab
