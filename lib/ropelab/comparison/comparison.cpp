#include "ropelab/comparison/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ropelab/comparison/quantile.hpp"

namespace ropelab {
namespace {

// The change of a probability e^-loss, also where it is small beside that probability.
double probability_change(const PairedLoss& loss) {
  if (loss.native == loss.replaced) return 0;
  return loss.native < loss.replaced
             ? std::exp(-loss.native) * std::expm1(loss.native - loss.replaced)
             : -std::exp(-loss.replaced) * std::expm1(loss.replaced - loss.native);
}

// NaN if either is.
double larger(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double greatest(std::span<const double> values) {
  double result = -std::numeric_limits<double>::infinity();
  for (const double x : values) result = larger(result, x);
  return result;
}

}  // namespace

Comparison::Comparison(std::size_t vocabulary) : vocabulary_(vocabulary) {
  if (vocabulary == 0) throw std::invalid_argument("a vocabulary needs at least one token");
}

void Comparison::add_window(std::span<const PairedLoss> losses,
                            std::span<const NextTokenChange> changes) {
  if (losses.empty() || changes.empty()) {
    throw std::invalid_argument("a window needs at least one prediction and one position");
  }
  CompensatedSum difference;
  for (const PairedLoss& loss : losses) {
    add(loss);
    difference.add(loss.replaced - loss.native);
  }
  for (const NextTokenChange& change : changes) add(change);
  predictions_ += losses.size();
  differences_.push_back({losses.size(), difference.value() / static_cast<double>(losses.size())});
}

void Comparison::add(const PairedLoss& loss) {
  native_.add(loss.native);
  replaced_.add(loss.replaced);
  const double change = probability_change(loss);
  squared_probability_changes_.add(change * change);
}

void Comparison::add(const NextTokenChange& change) {
  divergences_.push_back(change.divergence);
  divergence_.add(change.divergence);
  squared_changes_.add(change.sum_of_squares);
  largest_change_ = larger(largest_change_, change.largest);
  if (change.same_first_choice) ++same_top_;
  if (!change.native.exists() || !change.replaced.exists()) has_distributions_ = false;
}

ComparisonFigures Comparison::figures() const {
  if (differences_.empty()) throw std::logic_error("a comparison of no windows has no figures");
  const double predictions = static_cast<double>(predictions_);
  const double positions = static_cast<double>(divergences_.size());
  const double logits = positions * static_cast<double>(vocabulary_);
  ComparisonFigures figures{};
  figures.windows = differences_.size();
  figures.predictions = predictions_;
  figures.positions = divergences_.size();
  figures.cross_entropy_native = native_.value() / predictions;
  figures.cross_entropy_replaced = replaced_.value() / predictions;
  figures.difference = paired_difference(differences_);
  figures.rms_probability_change = std::sqrt(squared_probability_changes_.value() / predictions);
  figures.mean_kl = divergence_.value() / positions;
  figures.p99_kl = quantile(divergences_, 0.99);
  figures.max_kl = greatest(divergences_);
  figures.max_logit_change = largest_change_;
  figures.rms_logit_change = std::sqrt(squared_changes_.value() / logits);
  figures.same_top = has_distributions_ ? static_cast<double>(same_top_) / positions
                                        : std::numeric_limits<double>::quiet_NaN();
  return figures;
}

double bits_per_byte(double nats_per_token, double bytes_per_token) {
  return nats_per_token / (std::log(2.0) * bytes_per_token);
}

}  // namespace ropelab
