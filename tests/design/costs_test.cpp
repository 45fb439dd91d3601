#include "ropelab/design/costs.hpp"

#include <vector>

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"

using namespace ropelab;

namespace {

// layers, heads, key-value heads, head_dim, hidden_size, bytes of an element, biases
const AttentionShape bloom_560m{24, 16, 16, 64, 1024, 2, true};
const AttentionShape llama_3_8b{32, 32, 8, 128, 4096, 2, false};

}  // namespace

TEST_CASE("A pair takes two dimensions, a term two as well, and a bias that is added none") {
  CHECK(extra_dimensions(Method::native, 0) == 0);
  CHECK(extra_dimensions(Method::single, 1) == 2);
  for (const Method method : {Method::dyadic, Method::multi_pair, Method::grid, Method::rank_two}) {
    CHECK(extra_dimensions(method, 1) == 2);
    CHECK(extra_dimensions(method, 5) == 10);
    CHECK_THROWS_AS(extra_dimensions(method, 0), std::invalid_argument);
  }
  CHECK_THROWS_WITH(extra_dimensions(Method::single, 2), "single has 2 pairs; 1 would be right");
  CHECK(name_of(Method::multi_pair) == "multi-pair");
  CHECK(name_of(Method::rank_two) == "rank-2");
  CHECK(rotates(Method::grid));
  CHECK_FALSE(rotates(Method::rank_two));
}

TEST_CASE("Costs of one pair are those of the parameters and bytes counted one by one") {
  for (const AttentionShape& shape : {bloom_560m, llama_3_8b}) {
    for (const long long extra : {2, 10}) {
      long long parameters = 0, bytes = 0;
      for (long long layer = 0; layer < shape.layers; ++layer) {
        for (long long row = 0; row < shape.heads * extra; ++row) {  // of W_q
          parameters += shape.hidden_size + (shape.projection_bias ? 1 : 0);
        }
        for (long long row = 0; row < shape.key_value_heads * extra; ++row) {  // of W_k
          parameters += shape.hidden_size + (shape.projection_bias ? 1 : 0);
          bytes += shape.element_bytes;
        }
      }
      const BiasCosts costs = bias_costs(shape, extra);
      CHECK(costs.extra_dimensions == extra);
      CHECK(costs.projection_parameters == parameters);
      CHECK(costs.cache_bytes_per_token == bytes);
      CHECK(costs.multiplications_per_score == extra);
    }
  }
  // As counted by hand for BLOOM-560M.
  CHECK(bias_costs(bloom_560m, 2).projection_parameters == 1574400);
  CHECK(bias_costs(bloom_560m, 2).cache_bytes_per_token == 1536);
}

TEST_CASE(
    "Padding goes to the next multiple of 8 of all dimensions, and only where there are more") {
  const auto padded = [](long long head_dim, long long extra) {
    AttentionShape shape = bloom_560m;
    shape.head_dim = head_dim;
    return bias_costs(shape, extra).padded_dimensions;
  };
  CHECK(padded(64, 2) == 8);
  CHECK(padded(64, 8) == 8);
  CHECK(padded(64, 10) == 16);
  CHECK(padded(100, 2) == 4);
  CHECK(padded(100, 4) == 4);
  CHECK(padded(100, 0) == 0);
}

TEST_CASE("A kernel that divides by the root of the enlarged dimension weakens every score") {
  const BiasCosts costs = bias_costs(llama_3_8b, 16);
  CHECK(costs.score_factor_if_unscaled == square_root(Rational(8, 9)));
  // 49/64 is a square.
  AttentionShape square = llama_3_8b;
  square.head_dim = 49;
  CHECK(bias_costs(square, 15).score_factor_if_unscaled == Algebraic(Rational(7, 8)));
  // An eighth of slope * 2047 is missing.
  CHECK(bias_error_if_unscaled(bias_costs(square, 15), Algebraic(Rational(1, 2)), 2048) ==
        to_real(Rational(2047, 16)));
  const BiasCosts none = bias_costs(bloom_560m, 0);
  CHECK(none.score_factor_if_unscaled == Algebraic());
  CHECK(bias_error_if_unscaled(none, alibi_slope(16, 1), 2048) == 0);
  CHECK(none.projection_parameters == 0);
  CHECK(none.cache_bytes_per_token == 0);
}
