// The rows of an error budget: a setting with every step of its pipeline rounded, then for each
// step with only that one rounded, and with every one but that.
#pragma once

#include <cstddef>
#include <string_view>

#include "app/settings.hpp"

namespace ropelab::app {

inline constexpr std::size_t kBudgetRows = 1 + 2 * step_count;

struct BudgetRow {
  Setting setting;           // with the pipeline of the row, and its cell
  std::string_view step;     // empty in row 0
  std::string_view rounded;  // all, only or all-but
};

// Row 0 ... kBudgetRows-1 of the setting's budget.
BudgetRow budget_row(const Setting& setting, std::size_t row);

}  // namespace ropelab::app
