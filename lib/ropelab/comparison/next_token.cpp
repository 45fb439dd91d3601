#include "ropelab/comparison/next_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ropelab/comparison/row_kernel.hpp"

namespace ropelab {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Logit>
using Row = std::span<const Logit>;

// A distribution, with the sum that normalises it.
struct Normalised {
  NextToken distribution;
  row_kernel::Normalisation normalisation{};
};

template <class Logit>
std::size_t first_choice(Row<Logit> logits, const row_kernel::Greatest& greatest) {
  const auto first =
      greatest.has_nan
          ? std::find_if(logits.begin(), logits.end(), [](Logit x) { return std::isnan(x); })
          : std::find(logits.begin(), logits.end(), static_cast<Logit>(greatest.logit));
  return static_cast<std::size_t>(first - logits.begin());
}

template <class Logit>
Normalised normalised(Row<Logit> logits) {
  if (logits.empty()) {
    throw std::invalid_argument("a distribution over the next token needs at least one logit");
  }
  const row_kernel::Greatest greatest = row_kernel::greatest(logits.data(), logits.size());
  Normalised result;
  result.distribution.first_choice = first_choice(logits, greatest);
  if (greatest.has_nan || !std::isfinite(greatest.logit)) return result;
  const CompensatedSum sum =
      row_kernel::sum_of_exponentials(logits.data(), logits.size(), greatest.logit);
  result.distribution.greatest = greatest.logit;
  result.distribution.log_sum = sum.logarithm();
  result.normalisation = {greatest.logit, 1 / sum.value()};
  return result;
}

template <class Logit>
std::vector<double> logarithms(Row<Logit> logits) {
  const NextToken distribution = next_token(logits);
  std::vector<double> result;
  result.reserve(logits.size());
  for (const double logit : logits) result.push_back(distribution.log_probability(logit));
  return result;
}

template <class Logit>
double loss_of(const NextToken& distribution, Row<Logit> logits, std::size_t target) {
  if (target >= logits.size()) {
    throw std::invalid_argument(
        fmt::format("token {} is to be predicted, but there are only {}", target, logits.size()));
  }
  return 0 - distribution.log_probability(logits[target]);
}

template <class Logit>
NextTokenChange change(Row<Logit> native, Row<Logit> replaced) {
  if (native.size() != replaced.size()) {
    throw std::invalid_argument(fmt::format("rows of {} and of {} logits cannot be compared",
                                            native.size(), replaced.size()));
  }
  const Normalised p = normalised(native), q = normalised(replaced);
  if (!p.distribution.exists() || !q.distribution.exists()) {
    return {p.distribution, q.distribution, nan, nan, nan, false};
  }
  const row_kernel::Changes changes =
      row_kernel::changes(native.data(), replaced.data(), native.size());
  const CompensatedSum divergence =
      row_kernel::divergence(native.data(), p.normalisation, replaced.data(), q.normalisation,
                             p.distribution.log_sum - q.distribution.log_sum, native.size());
  return {p.distribution,          q.distribution,
          divergence.value(),      changes.largest,
          changes.squares.value(), p.distribution.first_choice == q.distribution.first_choice};
}

}  // namespace

NextToken next_token(std::span<const float> logits) { return normalised(logits).distribution; }
NextToken next_token(std::span<const double> logits) { return normalised(logits).distribution; }

std::vector<double> log_softmax(std::span<const float> logits) { return logarithms(logits); }
std::vector<double> log_softmax(std::span<const double> logits) { return logarithms(logits); }

double loss(const NextToken& distribution, std::span<const float> logits, std::size_t target) {
  return loss_of(distribution, logits, target);
}
double loss(const NextToken& distribution, std::span<const double> logits, std::size_t target) {
  return loss_of(distribution, logits, target);
}

NextTokenChange next_token_change(std::span<const float> native, std::span<const float> replaced) {
  return change(native, replaced);
}
NextTokenChange next_token_change(std::span<const double> native,
                                  std::span<const double> replaced) {
  return change(native, replaced);
}

}  // namespace ropelab
