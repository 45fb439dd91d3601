// The largest condition number against a look at every pair.
#include "ropelab/errors/conditioning.hpp"

#include "catch.hpp"
#include "ropelab/exact/parse.hpp"

namespace ropelab {
namespace {

LargestKappa plain_largest(const Algebraic& theta, long long first, long long context) {
  LargestKappa best{0, 0, 0};
  for (long long i = first + 1; i < first + context; ++i) {
    for (long long j = first; j < i; ++j) {
      Real value = kappa(theta, i, j);
      if (value > best.value) best = {std::move(value), i, j};
    }
  }
  return best;
}

TEST_CASE("the largest kappa is found at any position") {
  constexpr long long last = 1LL << 53;
  for (const long long first : {0LL, 1000LL, last / 4 + 1, last / 2 - 3, last - 12, last}) {
    for (const char* theta : {"1e-9", "1e-3", "0.1", "1", "2^(1/2)", "3"}) {
      for (const long long context : {2LL, 3LL, 11LL, 12LL}) {
        const Algebraic angle = parse_positive(theta);
        const auto found = largest_kappa(angle, first, static_cast<std::size_t>(context));
        const LargestKappa plain = plain_largest(angle, first, context);
        REQUIRE(found.has_value());
        INFO("first " << first << " theta " << theta << " context " << context);
        CHECK(found->value == plain.value);
        CHECK(found->i == plain.i);
        CHECK(found->j == plain.j);
      }
    }
  }
}

}  // namespace
}  // namespace ropelab
