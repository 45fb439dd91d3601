// The table of what ways to make a bias cost, filled for models whose costs are counted by hand.
#include "app/costs_table.hpp"

#include "catch.hpp"
#include "ropelab/alibi/slope.hpp"

using namespace ropelab;
using namespace ropelab::app;

namespace {

ModelConfig model(const std::string& name) {
  return read_model_config(ROPELAB_TEST_DATA "/models/" + name + ".json");
}

Table costs_of(const std::string& name, const std::vector<std::pair<Method, long long>>& ways,
               int digits = 17) {
  const Format& dtype = find_format("float16");
  const ModelConfig config = model(name);
  Table table(costs_columns());
  for (const auto& [method, parts] : ways) {
    add_costs_row(table, attention_shape(config, dtype), dtype,
                  {method, parts, alibi_slope(static_cast<int>(config.heads), 1), *config.context},
                  digits);
  }
  return table;
}

std::int64_t whole(const Table& table, std::size_t row, std::string_view column) {
  return std::get<std::int64_t>(table.at(row, column).value());
}
std::string text(const Table& table, std::size_t row, std::string_view column) {
  return std::get<std::string>(table.at(row, column).value());
}
double costs_number(const Table& table, std::size_t row, std::string_view column) {
  return std::get<double>(table.at(row, column).value());
}

}  // namespace

TEST_CASE("A table of costs has a row for each method, and every cell of it is filled") {
  const Table table = costs_of("bloom-560m", {{Method::native, 0},
                                              {Method::single, 1},
                                              {Method::dyadic, 3},
                                              {Method::multi_pair, 4},
                                              {Method::grid, 2},
                                              {Method::rank_two, 2}});
  const std::vector<std::string> methods = {"native",     "single", "dyadic",
                                            "multi-pair", "grid",   "rank-2"};
  const std::vector<std::int64_t> pairs = {0, 1, 3, 4, 2, 0}, extra = {0, 2, 6, 8, 4, 4},
                                  padded = {0, 8, 8, 8, 8, 8};
  REQUIRE(table.rows().size() == methods.size());
  for (std::size_t row = 0; row < methods.size(); ++row) {
    CAPTURE(methods[row]);
    CHECK(text(table, row, "method") == methods[row]);
    CHECK(text(table, row, "dtype") == "float16");
    CHECK(whole(table, row, "rotated_pairs") == pairs[row]);
    CHECK(whole(table, row, "extra_dimensions") == extra[row]);
    CHECK(whole(table, row, "padded_dimensions") == padded[row]);
    CHECK(whole(table, row, "multiplications_per_score") == extra[row]);
    // 24 layers of W_q and W_k with 16 heads each, 1024 weights and a bias a row.
    CHECK(whole(table, row, "projection_parameters") == 24 * 2 * 16 * extra[row] * 1025);
    CHECK(whole(table, row, "cache_bytes_per_token") == 24 * 16 * extra[row] * 2);
    for (const std::string& column : table.columns()) CHECK_FALSE(table.at(row, column).empty());
  }
  CHECK(costs_number(table, 0, "score_factor_if_unscaled") == 1);
  CHECK(costs_number(table, 0, "bias_error_if_unscaled") == 0);
  // sqrt(64/66), and (1 - sqrt(64/66)) 2047/sqrt(2), with 50 digits by Python's decimal.
  CHECK(costs_number(table, 1, "score_factor_if_unscaled") == 0.9847319278346619);
  CHECK(costs_number(table, 1, "bias_error_if_unscaled") == 22.099734123608883);
}

TEST_CASE("Heads that share keys share what these cost; digits are those asked for") {
  const Table table = costs_of("llama-3.1-8b", {{Method::single, 1}}, 30);
  CHECK(whole(table, 0, "kv_heads") == 8);
  CHECK(whole(table, 0, "projection_parameters") == 32 * (32 + 8) * 2 * 4096);
  CHECK(whole(table, 0, "cache_bytes_per_token") == 32 * 8 * 2 * 2);
  CHECK(whole(table, 0, "padded_dimensions") == 8);
  CHECK(std::get<ExactNumber>(table.at(0, "score_factor_if_unscaled").value()).text ==
        "0.992277876713667649522044705268");
}
