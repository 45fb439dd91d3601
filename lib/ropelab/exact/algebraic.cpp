#include "ropelab/exact/algebraic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "ropelab/exact/decimal.hpp"
#include "ropelab/exact/wide.hpp"

namespace ropelab {
namespace {

using wide::bit_length;
using wide::Wide;

Integer integer_power(const Integer& base, long long exponent) {
  return pow(base, static_cast<unsigned>(exponent));
}

// floor(x^(1/root)) by Newton's iteration from above.
Integer integer_root(const Integer& x, unsigned root) {
  const long long bits = (bit_length(x) + root - 1) / root;
  Integer guess = Integer(1) << static_cast<unsigned>(bits);
  for (;;) {
    const Integer next = (guess * (root - 1) + x / integer_power(guess, root - 1)) / root;
    if (next >= guess) return guess;
    guess = next;
  }
}

bool is_prime(unsigned n) {
  for (unsigned d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

// How often the prime divides x; takes those factors out.
long long remove_factor(Integer& x, unsigned prime) {
  long long count = 0;
  for (; x % prime == 0; ++count) x /= prime;
  return count;
}

// The k for which x > 1 is the k-th power of no perfect power; x becomes that base. No prime
// below 11 divides x, so that x >= 11^k.
long long remove_power(Integer& x) {
  long long power = 1;
  for (unsigned p = 2; 3 * static_cast<long long>(p) < bit_length(x); ++p) {
    if (!is_prime(p)) continue;
    for (Integer root = integer_root(x, p); integer_power(root, p) == x;
         root = integer_root(x, p)) {
      x = root;
      power *= p;
    }
  }
  return power;
}

long long checked_product(long long a, long long b) {
  long long result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw std::overflow_error("an exponent of an algebraic number leaves 64 bits");
  }
  return result;
}

long long checked_sum(long long a, long long b) {
  long long result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw std::overflow_error("an exponent of an algebraic number leaves 64 bits");
  }
  return result;
}

void require_positive(const Rational& x) {
  if (x <= 0) throw std::invalid_argument("a root of a number that is not positive");
}

// The rational half-way between two neighbours of the format, above half-way past the
// largest number where `above` is beyond it.
Rational midpoint(const Format& format, double below, double above) {
  if (std::isfinite(above)) return (to_rational(below) + to_rational(above)) / 2;
  return to_rational(below) + to_rational(ulp(format, below)) / 2;
}

// Numbers below and above every irrational number that `x` is good to 2^-500 for.
std::pair<Real, Real> enclosure(const Real& x) {
  const Real margin = ldexp(x, -495);
  return {x - margin, x + margin};
}

Rational value_of(const Decimal& x, int digits) {
  const long long scale = x.exponent - digits + 1;
  return scale < 0 ? Rational(x.digits, power_of_ten(-scale))
                   : Rational(x.digits * power_of_ten(scale));
}

}  // namespace

Algebraic::Algebraic(const Rational& value) : Algebraic(power(value, 1, 1)) {}
Algebraic::Algebraic(long long value) : Algebraic(Rational(value)) {}
Algebraic::Algebraic(const Rational& radicand, unsigned root)
    : Algebraic(power(radicand, 1, root)) {}

Algebraic Algebraic::power(const Rational& base, long long numerator, unsigned denominator) {
  require_positive(base);
  if (denominator == 0) throw std::invalid_argument("a zeroth root");
  Algebraic result;
  for (const bool below : {false, true}) {
    Integer rest =
        below ? boost::multiprecision::denominator(base) : boost::multiprecision::numerator(base);
    const long long exponent = below ? -numerator : numerator;
    for (const unsigned prime : {2u, 3u, 5u, 7u}) {
      const long long count = remove_factor(rest, prime);
      result.multiply({prime, checked_product(count, exponent), denominator});
    }
    if (rest == 1) continue;
    const long long count = remove_power(rest);
    result.multiply({rest, checked_product(count, exponent), denominator});
  }
  return result;
}

// Multiplies by one more factor, splitting it and the factors there are where they share a
// divisor. A base split into coprime parts may leave perfect powers, which are taken apart.
void Algebraic::multiply(Factor factor) {
  std::vector<Factor> pending{std::move(factor)};
  while (!pending.empty()) {
    Factor next = std::move(pending.back());
    pending.pop_back();
    if (next.numerator == 0 || next.base == 1) continue;
    const long long shared = std::gcd(next.numerator, next.denominator);
    next.numerator /= shared;
    next.denominator /= shared;
    bool is_new = true;
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const Integer common = gcd(factors_[i].base, next.base);
      if (common == 1) continue;
      const Factor old = std::move(factors_[i]);
      factors_.erase(factors_.begin() + static_cast<std::ptrdiff_t>(i));
      if (old.base == next.base) {
        const long long multiple = checked_product(
            old.denominator, next.denominator / std::gcd(old.denominator, next.denominator));
        pending.push_back(
            {next.base,
             checked_sum(checked_product(old.numerator, multiple / old.denominator),
                         checked_product(next.numerator, multiple / next.denominator)),
             multiple});
      } else {
        for (const Factor& whole : {old, next}) {
          for (Integer part : {Integer(whole.base / common), common}) {
            const long long count = remove_power(part);
            pending.push_back({part, checked_product(whole.numerator, count), whole.denominator});
          }
        }
      }
      is_new = false;
      break;
    }
    if (is_new) factors_.push_back(std::move(next));
  }
}

bool Algebraic::is_rational() const {
  return std::all_of(factors_.begin(), factors_.end(),
                     [](const Factor& factor) { return factor.denominator == 1; });
}

unsigned Algebraic::root() const {
  long long result = 1;
  for (const Factor& factor : factors_) {
    result = checked_product(result, factor.denominator / std::gcd(result, factor.denominator));
  }
  if (result > std::numeric_limits<unsigned>::max()) {
    throw std::overflow_error("the root of an algebraic number leaves 32 bits");
  }
  return static_cast<unsigned>(result);
}

Rational Algebraic::radicand() const {
  const long long multiple = root();
  Integer above = 1;
  Integer below = 1;
  for (const Factor& factor : factors_) {
    const long long exponent = checked_product(factor.numerator, multiple / factor.denominator);
    (exponent < 0 ? below : above) *= integer_power(factor.base, std::abs(exponent));
  }
  return Rational(above, below);
}

Rational Algebraic::to_rational() const {
  if (!is_rational()) throw std::domain_error("an irrational number as a rational");
  return radicand();
}

Real Algebraic::to_real() const {
  if (is_rational()) return ropelab::to_real(radicand());
  Wide logarithm = 0;
  for (const Factor& factor : factors_) {
    logarithm += wide::logarithm(wide::from_integer<Wide>(factor.base, 0)) * factor.numerator /
                 factor.denominator;
  }
  return wide::narrowed(wide::exponential(logarithm));
}

double Algebraic::to_double() const { return round_to(float64_format(), *this); }

std::string Algebraic::to_decimal(int digits) const {
  if (is_rational()) return ropelab::to_decimal(radicand(), digits);
  if (digits > 140) throw std::invalid_argument("more than 140 digits of an irrational number");
  const auto [low, high] = enclosure(to_real());
  const Decimal below = round_to_decimal(ropelab::to_rational(low), digits);
  const Decimal above = round_to_decimal(ropelab::to_rational(high), digits);
  if (below.digits == above.digits && below.exponent == above.exponent) return lay_out(below);
  const Algebraic boundary((value_of(below, digits) + value_of(above, digits)) / 2);
  return lay_out(*this < boundary ? below : above);
}

std::string Algebraic::to_powers() const {
  std::vector<Factor> sorted = factors_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Factor& a, const Factor& b) { return a.base < b.base; });
  std::string text;
  for (const Factor& factor : sorted) {
    if (!text.empty()) text += '*';
    text += factor.base.str();
    const std::string numerator = std::to_string(factor.numerator);
    if (factor.denominator != 1) {
      text += "^(" + numerator + "/" + std::to_string(factor.denominator) + ")";
    } else if (factor.numerator != 1) {
      text += "^" + numerator;
    }
  }
  return text.empty() ? "1" : text;
}

Algebraic operator*(const Algebraic& a, const Algebraic& b) {
  Algebraic result = a;
  for (const auto& factor : b.factors_) result.multiply(factor);
  return result;
}

Algebraic operator/(const Algebraic& a, const Algebraic& b) {
  Algebraic result = a;
  for (auto factor : b.factors_) {
    factor.numerator = -factor.numerator;
    result.multiply(std::move(factor));
  }
  return result;
}

bool operator==(const Algebraic& a, const Algebraic& b) { return (a / b).factors_.empty(); }

bool operator<(const Algebraic& a, const Algebraic& b) {
  const Real x = a.to_real();
  const Real y = b.to_real();
  if (enclosure(x).second < enclosure(y).first) return true;
  if (enclosure(y).second < enclosure(x).first) return false;
  // Too close: raise the quotient to the least power that is rational, and compare that with 1.
  const Algebraic quotient = a / b;
  const long long multiple = quotient.root();
  long long shared = 0;
  for (const auto& factor : quotient.factors_) {
    shared = std::gcd(shared, factor.numerator * (multiple / factor.denominator));
  }
  Integer above = 1;
  Integer below = 1;
  for (const auto& factor : quotient.factors_) {
    const long long exponent = factor.numerator * (multiple / factor.denominator) / shared;
    (exponent < 0 ? below : above) *= integer_power(factor.base, std::abs(exponent));
  }
  return above < below;
}

Algebraic square_root(const Rational& x) { return Algebraic(x, 2); }

Algebraic square_root(const Algebraic& x) {
  Algebraic result;
  for (auto factor : x.factors_) {
    factor.denominator = checked_product(factor.denominator, 2);
    result.multiply(std::move(factor));
  }
  return result;
}

double round_to(const Format& format, const Algebraic& x) {
  if (x.is_rational()) return round_to(format, x.radicand());
  const auto [low, high] = enclosure(x.to_real());
  const double below = round_to(format, low);
  const double above = round_to(format, high);
  if (below == above || std::isnan(below)) return below;
  // An irrational number is no tie: the exact comparison settles it.
  return x < Algebraic(midpoint(format, below, above)) ? below : above;
}

}  // namespace ropelab
