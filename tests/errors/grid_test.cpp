// Stretches whose scores lie on a grid, against the checked sums of one diagonal at a time.
#include <cmath>
#include <random>

#include "catch.hpp"
#include "ropelab/errors/kernel.hpp"

namespace ropelab::kernel {
namespace {

constexpr std::size_t size = 2048;

// Scores are (base - 256 distance + noise) * unit, the noise being one number of the query and one
// of the key, up to `query_noise` in magnitude and `key_noise`, a multiple of `key_quantum`.
struct Scores {
  double base, query_noise, key_noise, key_quantum, unit;
};

class Columns {
 public:
  explicit Columns(const Scores& scores) {
    for (auto& column : columns_) column.assign(size + 2 * padding, 0);
    std::mt19937 random(1);
    const auto noise = [&](double greatest, double quantum) {
      const double steps = std::trunc(greatest / quantum);
      return quantum * (std::fmod(static_cast<double>(random()), 2 * steps + 1) - steps);
    };
    for (std::size_t i = 0; i < size; ++i) {
      const double place = 256.0 * static_cast<double>(i);
      const double third = std::nearbyint((scores.base - place) / 3);
      set(0, i, 64 * scores.unit);
      set(1, i, (third + std::nearbyint(noise(scores.query_noise, 3) / 3)) * scores.unit);
      set(2, i, (place + noise(scores.key_noise, scores.key_quantum)) / 64);
      set(3, i, 3);
    }
  }

  Tables<float> tables() const {
    Tables<float> tables{};
    tables.query_first = columns_[0].data() + padding;
    tables.query_second = columns_[1].data() + padding;
    tables.key_first = columns_[2].data() + padding;
    tables.key_second = columns_[3].data() + padding;
    tables.size = size;
    tables.arithmetic = Arithmetic::exact_products;
    tables.scale = 1;
    tables.score_format = find_format("float32");
    return tables;
  }

  double score(std::size_t i, std::size_t j) const {
    const float first = columns_[0][i + padding] * columns_[2][j + padding];
    const float second = columns_[1][i + padding] * columns_[3][j + padding];
    return static_cast<double>(first + second);
  }

 private:
  void set(std::size_t column, std::size_t i, double x) {
    const auto lane = static_cast<float>(x);
    REQUIRE(static_cast<double>(lane) == x);
    columns_[column][i + padding] = lane;
  }

  std::array<std::vector<float>, 4> columns_;
};

Stretch stretch_of(const Scores& scores, std::size_t first, std::size_t queries) {
  const std::size_t begin = first + block;
  Stretch stretch{first, begin, begin + queries};
  stretch.first_quantum = scores.key_quantum * std::abs(scores.unit);
  stretch.second_quantum = std::abs(scores.unit);
  stretch.first_greatest =
      (256.0 * static_cast<double>(begin + queries - first) + scores.key_noise) *
      std::abs(scores.unit);
  stretch.quantum = std::min(stretch.first_quantum, stretch.second_quantum);
  return stretch;
}

Centers centers_of(const Columns& columns, const Stretch& stretch) {
  std::array<double, block> center;
  for (std::size_t n = 0; n < block; ++n) {
    center[n] = columns.score(stretch.begin + n, stretch.begin - stretch.first);
  }
  return centers_at(center);
}

int wrong_shares(const Columns& columns, const Stretch& stretch, const Centers& centers) {
  const Tables<float> tables = columns.tables();
  std::array<Share, block> shares;
  run_stretch(tables, stretch, centers, shares.data());
  int wrong = 0;
  for (std::size_t n = 0; n < block; ++n) {
    const Share& found = shares[n];
    const Share right =
        run_diagonal(tables, stretch.first + n, stretch.begin, stretch.end, centers.center[n]);
    wrong += found.sum == right.sum && found.sum_of_squares == right.sum_of_squares &&
                     found.least == right.least && found.greatest == right.greatest &&
                     found.lost == right.lost && found.not_finite == right.not_finite
                 ? 0
                 : 1;
  }
  return wrong;
}

// What the grid of a stretch of 1024 queries should be; 0 if there should be none.
void check_grid(const Scores& scores, double quantum, bool rounds) {
  const Columns columns(scores);
  for (const std::size_t first : {0u, 128u}) {
    const Stretch whole = stretch_of(scores, first, 1024);
    const Grid grid = choose_grid(columns.tables(), whole, centers_of(columns, whole));
    CHECK(grid.quantum == quantum);
    CHECK(grid.rounds == rounds);
    for (const auto set : {InstructionSet::scalar, InstructionSet::sse4, InstructionSet::avx2,
                           InstructionSet::best}) {
      use_instruction_set(set);
      for (const std::size_t queries : {16u, 48u, 128u, 208u, 1008u, 1024u}) {
        const Stretch stretch = stretch_of(scores, first, queries);
        INFO("first " << first << " queries " << queries << " on " << instruction_set_in_use());
        CHECK(wrong_shares(columns, stretch, centers_of(columns, stretch)) == 0);
      }
    }
  }
  use_instruction_set(InstructionSet::best);
}

TEST_CASE("sums that float rounds to a grid are measured as they are one by one") {
  for (const double unit : {1.0, 0x1p-20, 0x1p30, -1.0}) {
    const Scores scores{0x1.8p23, 3000, 500, 0.25, unit};
    check_grid(scores, std::abs(unit), true);
  }
}

TEST_CASE("sums on a grid are measured as they are one by one") {
  check_grid({0x1p20, 3000, 500, 1, 1}, 1, false);
  check_grid({0x1p20, 3000, 500, 0.5, 0x1p-20}, 0x1p-21, false);
}

TEST_CASE("deviations beyond the grid's reach are measured as they are one by one") {
  check_grid({0x1.8p23, 20000, 500, 0.25, 1}, 1, true);
  check_grid({0x1.8p23, 200000, 500, 0.25, 1}, 1, true);
  check_grid({0x1p20, 9000, 9000, 1, 1}, 1, false);
}

TEST_CASE("sums on both sides of a power of two are measured as they are one by one") {
  // Some diagonals of a block are rounded to twice or half the grid.
  for (const double base :
       {0x1p23 + 256 * 32, 0x1p23 + 256 * 160, 0x1p24 - 256 * 160 + 256 * 192}) {
    const Columns columns({base, 300, 500, 0.25, 1});
    for (const std::size_t first : {0u, 128u}) {
      const Stretch stretch = stretch_of({base, 300, 500, 0.25, 1}, first, 1024);
      CHECK(wrong_shares(columns, stretch, centers_of(columns, stretch)) == 0);
    }
  }
}

TEST_CASE("a share is told from the grid only where that rounds as float does, and within reach") {
  Grid grid;
  grid.quantum = 1;
  grid.center.fill(0x1.8p23);
  const auto is_told = [&](double center, int least, int greatest) {
    grid.center[5] = center;
    Share share;
    return to_share({least, greatest, 0, 0, 0}, grid, 5, center, 16, share);
  };
  for (const bool rounds : {false, true}) {
    grid.rounds = rounds;
    CHECK(is_told(0x1.8p23, 1 - grid_reach, grid_reach - 1));
    CHECK_FALSE(is_told(0x1.8p23, -grid_reach, 0));
    CHECK_FALSE(is_told(0x1.8p23, 0, grid_reach));
    CHECK(is_told(0x1p24, -5, 0));
    CHECK_FALSE(is_told(0x1p24, -5, 1));
    CHECK(is_told(-0x1p24, 0, 5));
    CHECK_FALSE(is_told(-0x1p24, -1, 5));
    CHECK(is_told(0x1p23, 1, 5));
    CHECK(is_told(0x1p23, 0, 5) == !rounds);
    CHECK(is_told(-0x1p23, -5, -1));
    CHECK(is_told(-0x1p23, -5, 0) == !rounds);
  }
}

TEST_CASE("there is no grid where the first products are large or the second too fine") {
  const Scores scores{0x1.8p23, 300, 500, 0.25, 1};
  const Columns columns(scores);
  Stretch stretch = stretch_of(scores, 128, 1024);
  const Centers centers = centers_of(columns, stretch);
  REQUIRE(choose_grid(columns.tables(), stretch, centers).quantum == 1);
  stretch.first_greatest = 0x1p22;
  CHECK(choose_grid(columns.tables(), stretch, centers).quantum == 0);
  stretch.first_greatest = 0x1p20;
  stretch.second_quantum = 0.5;
  CHECK(choose_grid(columns.tables(), stretch, centers).quantum == 0);
}

}  // namespace
}  // namespace ropelab::kernel
