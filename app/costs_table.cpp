#include "app/costs_table.hpp"

#include "app/cells.hpp"

namespace ropelab::app {

AttentionShape attention_shape(const ModelConfig& model, const Format& dtype) {
  return {model.layers,      model.heads,    model.key_value_heads, model.head_dim,
          model.hidden_size, dtype.bits / 8, model.projection_bias};
}

std::vector<std::string> costs_columns() {
  return {"method",
          "rotated_pairs",
          "layers",
          "heads",
          "kv_heads",
          "head_dim",
          "dtype",
          "extra_dimensions",
          "padded_dimensions",
          "projection_parameters",
          "multiplications_per_score",
          "cache_bytes_per_token",
          "score_factor_if_unscaled",
          "bias_error_if_unscaled"};
}

Table::Row add_costs_row(Table& table, const AttentionShape& shape, const Format& dtype,
                         const CostsRow& row, int digits) {
  const BiasCosts costs = bias_costs(shape, extra_dimensions(row.method, row.parts));
  return table.add_row()
      .set("method", name_of(row.method))
      .set("rotated_pairs", rotates(row.method) ? row.parts : 0)
      .set("layers", shape.layers)
      .set("heads", shape.heads)
      .set("kv_heads", shape.key_value_heads)
      .set("head_dim", shape.head_dim)
      .set("dtype", dtype.name)
      .set("extra_dimensions", costs.extra_dimensions)
      .set("padded_dimensions", costs.padded_dimensions)
      .set("projection_parameters", costs.projection_parameters)
      .set("multiplications_per_score", costs.multiplications_per_score)
      .set("cache_bytes_per_token", costs.cache_bytes_per_token)
      .set("score_factor_if_unscaled", exact_cell(costs.score_factor_if_unscaled, digits))
      .set("bias_error_if_unscaled",
           exact_cell(bias_error_if_unscaled(costs, row.slope, row.context), digits));
}

}  // namespace ropelab::app
