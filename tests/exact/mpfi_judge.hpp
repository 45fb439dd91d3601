// MPFI's enclosures as the judge of Real: another library, other algorithms, and intervals
// that are sure to hold the true value.
#pragma once

#include <cmath>

#include <mpfi.h>
#include <mpfr.h>

#include "ropelab/exact/real.hpp"

namespace judge {

// Bits of the enclosures: enough for a 512-bit angle up to 2^64 that comes close to a zero.
constexpr mpfr_prec_t kBits = 2400;

class Interval {
 public:
  Interval() { mpfi_init2(value_, kBits); }
  // Exactly x.
  explicit Interval(const ropelab::Real& x) : Interval() {
    mpfr_t exact;
    mpfr_init2(exact, 512);
    mpfr_set_zero(exact, 1);
    const auto& bits = x.backend().bits();
    for (auto i = bits.size(); i-- > 0;) {  // words of 64 bits, the leading one first
      mpfr_mul_2ui(exact, exact, 64, MPFR_RNDN);
      mpfr_add_ui(exact, exact, bits.limbs()[i], MPFR_RNDN);
    }
    if (x != 0) mpfr_mul_2si(exact, exact, x.backend().exponent() - 511L, MPFR_RNDN);
    if (x < 0) mpfr_neg(exact, exact, MPFR_RNDN);
    mpfi_set_fr(value_, exact);
    mpfr_clear(exact);
  }
  Interval(const Interval&) = delete;
  Interval& operator=(const Interval&) = delete;
  ~Interval() { mpfi_clear(value_); }

  mpfi_ptr get() { return value_; }
  mpfi_srcptr get() const { return value_; }

  // MPFI's function of this interval.
  template <class Function>
  void apply(Function function) {
    function(value_, value_);
  }

 private:
  mpfi_t value_;
};

// log2 of the largest relative error that `computed` may have, given where the true value lies.
inline double error_bits(const ropelab::Real& computed, const Interval& truth) {
  Interval difference(computed);
  mpfi_sub(difference.get(), difference.get(), truth.get());
  mpfi_div(difference.get(), difference.get(), truth.get());
  mpfr_t worst;
  mpfr_init2(worst, 64);
  mpfi_mag(worst, difference.get());
  const double result = mpfr_zero_p(worst) != 0 ? -INFINITY : [&] {
    long exponent = 0;
    const double fraction = mpfr_get_d_2exp(&exponent, worst, MPFR_RNDU);
    return std::log2(fraction) + static_cast<double>(exponent);
  }();
  mpfr_clear(worst);
  return result;
}

}  // namespace judge
