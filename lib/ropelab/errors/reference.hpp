// What the scores are held against: bias and simulated bias at every distance, and what
// follows from them without any number format.
#pragma once

#include <utility>
#include <vector>

#include "ropelab/errors/distance_range.hpp"
#include "ropelab/errors/error_unit.hpp"
#include "ropelab/exact/double_double.hpp"
#include "ropelab/exact/interruption.hpp"
#include "ropelab/simulation/construction.hpp"

namespace ropelab {

// S(d) and B(d) for d = 0 ... context-1, of any simulated bias and any target.
class BiasReference {
 public:
  virtual ~BiasReference() = default;

  std::size_t context() const { return simulated_.size(); }
  DistanceRange all_distances() const { return {0, context() - 1}; }
  const std::vector<DoubleDouble>& simulated() const { return simulated_; }  // S
  // S - B, for whatever it needs of a double-double's precision.
  const std::vector<DoubleDouble>& truncation() const { return truncation_; }
  virtual DoubleDouble bias(std::size_t distance) const = 0;  // B

  // The same to 2^-470 relative.
  virtual Real exact_simulated(std::size_t distance) const = 0;
  virtual Real exact_bias(std::size_t distance) const = 0;
  virtual Real exact_truncation(std::size_t distance) const = 0;

  // Bounds on the errors of simulated() and bias() at a distance.
  virtual double simulated_error(std::size_t distance) const = 0;
  virtual double bias_error(std::size_t distance) const = 0;

  // What errors against it are told in: logits, until told otherwise. S, B and S - B above stay in
  // logits.
  const ErrorUnit& error_unit() const { return error_unit_; }
  void tell_errors_in(ErrorUnit unit) { error_unit_ = std::move(unit); }

  // e^B(d) / Z over d = 0 ... context-1: the native weights of the last query.
  const std::vector<DoubleDouble>& native_weights() const { return native_weights_; }

 protected:
  explicit BiasReference(std::size_t context) : simulated_(context), truncation_(context) {}
  BiasReference(const BiasReference&) = default;
  BiasReference(BiasReference&&) = default;
  BiasReference& operator=(const BiasReference&) = default;
  BiasReference& operator=(BiasReference&&) = default;
  // Once bias() holds.
  void weigh();

  std::vector<DoubleDouble> simulated_, truncation_;

 private:
  std::vector<DoubleDouble> native_weights_;
  ErrorUnit error_unit_;
};

// Those of the construction. S is good to simulated_error(d), S - B to 2^-90 relative while the
// phase is at most 1 (as long as it is above 2^-280 and S - B above 2^-900). Made in O(context)
// time and memory; does not depend on threads. Some 20 microseconds a distance where
// double-doubles do not do: theta, slope or A below 2^-850 or above 2^850.
class DistanceReference final : public BiasReference {
 public:
  DistanceReference(const Construction& construction, std::size_t context,
                    const Interruption& interruption = {});

  const Construction& construction() const { return construction_; }
  DoubleDouble bias(std::size_t distance) const override;
  Real exact_simulated(std::size_t distance) const override;
  Real exact_bias(std::size_t distance) const override;
  Real exact_truncation(std::size_t distance) const override;
  double simulated_error(std::size_t distance) const override;
  double bias_error(std::size_t distance) const override;

 private:
  Real phase(std::size_t distance) const;

  Construction construction_;
  Real theta_, slope_, amplification_;
  // The same, and whether their products stay clear of the ends of a double's range.
  DoubleDouble quick_theta_, quick_slope_, quick_amplification_;
  bool is_quick_;
};

// S - B over some distances of the reference. Its maximum stands at the last distance, as its
// derivative A*theta*(1 - cos) is never negative; the relative one at the last distance too while
// the phase there is at most 4.4934, where sin(x)/x is least.
struct TruncationError {
  Real maximum;           // logits
  Real relative_maximum;  // of S/B - 1 in magnitude; 0 where d = 0 alone is looked at
  double rms;             // logits, over the causal pairs; correct to 2^-50 relative
};
TruncationError truncation_error(const DistanceReference& reference, DistanceRange distances);
// Over all of them.
TruncationError truncation_error(const DistanceReference& reference);

// The rms to 2^-400 relative, for as many digits as are asked for. Takes some 10 microseconds a
// distance. Throws Interrupted.
Real exact_truncation_rms(const DistanceReference& reference, DistanceRange distances,
                          const Interruption& interruption = {});

}  // namespace ropelab
