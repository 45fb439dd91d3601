// Positive numbers whose some power is rational: what theta, slopes, sqrt(head_dim), N and
// all their products and quotients are, unless the user says otherwise.
#pragma once

#include <string>

#include "ropelab/exact/real.hpp"

namespace ropelab {

// radicand^(1/root), a positive number. The root is kept as small as it can be, so that
// root 1 means rational and a higher one irrational; equal numbers have equal parts.
class Algebraic {
 public:
  // The number 1.
  Algebraic();
  // A positive rational, or its positive root-th root. Throw std::invalid_argument otherwise.
  explicit Algebraic(Rational value);
  Algebraic(Rational radicand, unsigned root);

  // base^(numerator/denominator) of a positive rational.
  static Algebraic power(const Rational& base, long long numerator, unsigned denominator);

  const Rational& radicand() const { return radicand_; }
  unsigned root() const { return root_; }
  bool is_rational() const { return root_ == 1; }

  // Good to 2^-500 relative; exact where the number is a dyadic rational of at most 512 bits.
  Real to_real() const;
  // Correctly rounded.
  double to_double() const;
  std::string to_decimal(int digits) const;

  friend Algebraic operator*(const Algebraic& a, const Algebraic& b);
  friend Algebraic operator/(const Algebraic& a, const Algebraic& b);
  friend bool operator==(const Algebraic& a, const Algebraic& b) = default;
  // Exact, also for numbers closer than any fixed precision tells apart.
  friend bool operator<(const Algebraic& a, const Algebraic& b);

 private:
  Rational radicand_;
  unsigned root_;
};

// Positive square root of a positive integer or rational.
Algebraic square_root(const Rational& x);

// Rounded once, ties settled symbolically.
double round_to(const Format& format, const Algebraic& x);

}  // namespace ropelab
