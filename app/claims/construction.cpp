// Claims about the fixed vectors: theta, N, the small angle, the price.
#include <fmt/format.h>

#include "app/claims/all_claims.hpp"
#include "ropelab/alibi/slope.hpp"
#include "ropelab/design/costs.hpp"
#include "ropelab/errors/reference.hpp"
#include "ropelab/errors/weights.hpp"
#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/construction.hpp"

namespace ropelab::app {
namespace {

constexpr long long kHeadDim = 64;

Algebraic theta_at(long long context) { return parse_positive("0.1") / Algebraic(context); }

Real amplitude_at(const Algebraic& theta, std::string_view slope) {
  return amplitude({theta, parse_positive(slope), kHeadDim}).to_real();
}

ClaimRow amplitude_row(std::string_view slope, long long context) {
  return stated_row({fmt::format("N, m = {}, context {}", slope, context),
                     "m sqrt(64)/theta with theta = 0.1/context"},
                    "3.7e6", amplitude_at(theta_at(context), slope));
}

// S - B where the weight has just not fallen below 2^-16.
ClaimRow visible_row(const DistanceReference& reference, int head) {
  const auto last = visible_reach(reference.construction().slope, reference.context() - 1);
  return measured_row(
      {fmt::format("largest error among visible pairs, head {} of 16, logits", head),
       fmt::format("at the last visible distance, d = {}", last)},
      reference.exact_truncation(last));
}

DistanceReference reference_of(int head, const Interruption& interruption) {
  return DistanceReference({theta_at(65536), alibi_slope(16, head), kHeadDim}, 65536, interruption);
}

// BLOOM-560M: shape, and parameters counted from it.
namespace bloom {

constexpr long long vocabulary = 250880, hidden = 1024, heads = 16, layers = 24;

constexpr long long linear(long long in, long long out) { return linear_parameters(in, out, true); }
constexpr long long norm = 2 * hidden;
constexpr long long layer = norm + linear(hidden, 3 * hidden) + linear(hidden, hidden) + norm +
                            linear(hidden, 4 * hidden) + linear(4 * hidden, hidden);
constexpr long long parameters = vocabulary * hidden + norm + layers * layer + norm;
// Keys in float16.
constexpr AttentionShape shape{layers, heads, heads, kHeadDim, hidden, 2, true};

}  // namespace bloom

ClaimRow share_row(const std::string& quantity, long long part, long long whole) {
  return measured_row({quantity, fmt::format("{} of {}", part, whole)}, Real(part) / Real(whole));
}

}  // namespace

ClaimResult theta_65k(const ClaimSettings&) {
  ClaimResult result;
  for (const long long context : {65536, 65000}) {
    result.rows.push_back(stated_row(
        {fmt::format("theta, 65K read as {}, rad", context), fmt::format("0.1/{}", context)},
        "1.5e-6", theta_at(context).to_real()));
  }
  return result;
}

ClaimResult amplitude_65k(const ClaimSettings&) {
  ClaimResult result;
  for (const char* slope : {"0.707", "2^(-1/2)"}) {
    for (const long long context : {65536, 65000}) {
      result.rows.push_back(amplitude_row(slope, context));
    }
  }
  result.rows.push_back(reading_row(
      {"N, m = 0.707, theta rounded to 1.5e-6 first", "the claim needs theta unrounded"}, "3.7e6",
      amplitude_at(parse_positive("1.5e-6"), "0.707")));
  return result;
}

ClaimResult small_angle(const ClaimSettings& settings) {
  const DistanceReference first = reference_of(1, settings.interruption);
  const TruncationError error = truncation_error(first);
  const Real weights = total_variation(first.native_weights(), softmax(first.simulated()));
  return {{measured_row({"largest relative error, max phase 0.1",
                         "1 - sin(x)/x at d = 65535, about x^2/6; small in this sense"},
                        error.relative_maximum),
           measured_row({"largest error, head 1 of 16, context 65536, logits",
                         "at d = 65535, where the weight under the exact bias is nothing anyway"},
                        error.maximum),
           visible_row(first, 1), visible_row(reference_of(16, settings.interruption), 16),
           measured_row({"change of the last query's weights, head 1 of 16, total variation",
                         "in exact arithmetic, content scores being equal"},
                        weights)},
          {}};
}

ClaimResult overhead(const ClaimSettings&) {
  const BiasCosts costs = bias_costs(bloom::shape, extra_dimensions(Method::single, 1));
  const long long widened = costs.projection_parameters, more_keys = costs.cache_bytes_per_token;
  const long long keys = key_bytes_per_token(bloom::shape, kHeadDim);
  return {{stated_row({"parameters of BLOOM-560M", "counted from its shape"}, "559214592",
                      Real(bloom::parameters)),
           measured_row({"parameters added if W_q and W_k are widened",
                         "2 matrices of 1024 x 32 with 32 biases each, in 24 layers"},
                        Real(widened)),
           share_row("the same as a share of all parameters", widened, bloom::parameters),
           measured_row({"parameters added if the fixed vectors are constants",
                         "N is computed from the slope, theta and head_dim"},
                        Real(0)),
           share_row("more multiplications per score", costs.multiplications_per_score, kHeadDim),
           measured_row({"more bytes of KV cache per token, float16",
                         "two more components of each head's key"},
                        Real(more_keys)),
           share_row("the same as a share of the keys", more_keys, keys),
           share_row("the same as a share of keys and values", more_keys, 2 * keys),
           measured_row({"the same if all heads share one rotated key pair, bytes",
                         "the key part (0, 1) is the same in all heads and layers of one theta"},
                        Real(costs.extra_dimensions * bloom::shape.element_bytes))},
          {}};
}

}  // namespace ropelab::app
