// What each way of making a bias costs a model: a table.
#pragma once

#include <string>
#include <vector>

#include "app/model_config.hpp"
#include "ropelab/design/costs.hpp"
#include "ropelab/formats/format.hpp"
#include "ropelab/table/table.hpp"

namespace ropelab::app {

// The shape of a model that keeps its keys in this format.
AttentionShape attention_shape(const ModelConfig& model, const Format& dtype);

std::vector<std::string> costs_columns();

// A way of making the bias, and whose.
struct CostsRow {
  Method method;
  long long parts;  // rotated pairs, or the terms of rank-2; of native, nothing
  // Of the head that suffers most where a kernel scales by the enlarged dimension; what a position
  // adds to the scaled score, logits.
  Algebraic slope;
  long long context;
};

// Adds a row. `rotated_pairs` is 0 where a method rotates none; `bias_error_if_unscaled` is in
// logits, at the far end of the context, and has as many digits as --digits asks for.
Table::Row add_costs_row(Table& table, const AttentionShape& shape, const Format& dtype,
                         const CostsRow& row, int digits = 17);

}  // namespace ropelab::app
