// What errors are told in.
#pragma once

#include <optional>

#include "ropelab/exact/algebraic.hpp"

namespace ropelab {

// Logits, or so many of them: with the bias per token, m logits, an error is the distance, in
// tokens, over which the bias changes by as much.
class ErrorUnit {
 public:
  // A logit.
  ErrorUnit() = default;
  explicit ErrorUnit(const Algebraic& logits) : logits_(logits.to_real()) {}

  // An error in logits, rounded to 400 bits: errors in this unit that have fewer are exact, so that
  // ties of doubles are ties, also where the unit itself is no binary number.
  Real of(const Real& error) const;
  // The same, correctly rounded.
  double rounded(const Real& error) const { return to_double(of(error)); }
  // A bound that is one in this unit too: rounded up.
  std::optional<double> bound(const std::optional<double>& bound) const;

 private:
  std::optional<Real> logits_;  // of a unit that is not one logit
};

}  // namespace ropelab
