// Positive numbers whose some power is rational: what theta, slopes, sqrt(head_dim), N and
// all their products and quotients are, unless the user says otherwise.
#pragma once

#include <string>
#include <vector>

#include "ropelab/exact/real.hpp"

namespace ropelab {

// radicand^(1/root), a positive number. The root is as small as it can be, so that root 1
// means rational and a higher one irrational; equal numbers have equal radicands and roots.
//
// Inside it is a product of powers of pairwise coprime integers with rational exponents, so
// that products stay cheap where a common radicand would have millions of digits. radicand()
// multiplies it out; the other functions do not, but where the number is rational.
class Algebraic {
 public:
  // The number 1.
  Algebraic() = default;
  // A positive rational, or its positive root-th root. Throw std::invalid_argument otherwise.
  explicit Algebraic(const Rational& value);
  explicit Algebraic(long long value);
  Algebraic(const Rational& radicand, unsigned root);

  // base^(numerator/denominator) of a positive rational; the denominator is not 0.
  static Algebraic power(const Rational& base, long long numerator, unsigned denominator);

  Rational radicand() const;
  unsigned root() const;
  bool is_rational() const;
  // Throws std::domain_error for an irrational number.
  Rational to_rational() const;

  // Good to 2^-500 relative; correctly rounded where the number is rational, hence exact
  // where it is a dyadic rational of at most 512 bits.
  Real to_real() const;
  // Correctly rounded.
  double to_double() const;
  // Laid out as in real.hpp; at most 140 digits of an irrational number, else
  // std::invalid_argument.
  std::string to_decimal(int digits) const;
  // Exactly, as powers of whole numbers, the smallest first: "2^-17*5^-1", "2^(-1/2)", "1". Equal
  // numbers may be written with different bases. parse_powers reads it back.
  std::string to_powers() const;

  friend Algebraic operator*(const Algebraic& a, const Algebraic& b);
  friend Algebraic operator/(const Algebraic& a, const Algebraic& b);
  friend bool operator==(const Algebraic& a, const Algebraic& b);
  // Exact, also for numbers closer than any fixed precision tells apart.
  friend bool operator<(const Algebraic& a, const Algebraic& b);
  friend Algebraic square_root(const Algebraic& x);

 private:
  // base^(numerator/denominator) in lowest terms, numerator != 0, base > 1.
  struct Factor {
    Integer base;
    long long numerator;
    long long denominator;
  };
  void multiply(Factor factor);

  // Bases are pairwise coprime and no perfect powers. So the product is rational only if
  // every exponent is whole, and 1 only if there is no factor.
  std::vector<Factor> factors_;
};

// Positive square root of a positive integer or rational, and of an algebraic number.
Algebraic square_root(const Rational& x);
Algebraic square_root(const Algebraic& x);

// Rounded once, ties settled symbolically.
double round_to(const Format& format, const Algebraic& x);

}  // namespace ropelab
