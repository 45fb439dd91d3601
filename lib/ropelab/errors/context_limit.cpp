#include "ropelab/errors/context_limit.hpp"

#include <cmath>

namespace ropelab {
namespace {

constexpr long long largest_context = 1LL << 53;

BoundInputs at_context(BoundInputs inputs, long long context, Fixed fixed) {
  const double stretch = static_cast<double>(context) / inputs.context;
  inputs.context = static_cast<double>(context);
  if (fixed == Fixed::max_phase) {
    inputs.theta /= stretch;
    inputs.amplitude *= stretch;
    if (inputs.even_split) inputs.key_part *= std::sqrt(stretch);
  }
  return inputs;
}

}  // namespace

long long context_limit(const Pipeline& pipeline, const BoundInputs& inputs, Fixed fixed,
                        double tolerance) {
  const auto holds = [&](long long context) {
    const auto bound = rounding_bound(pipeline, at_context(inputs, context, fixed));
    return bound && *bound < tolerance;
  };
  // The bound does not decrease with the context: phases, and N with max_phase fixed, only grow.
  if (!holds(1)) return 0;
  long long good = 1, bad = largest_context + 1;
  while (bad - good > 1) {
    const long long middle = good > bad / 4 ? good + (bad - good) / 2 : good * 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace ropelab
