#include "ropelab/simulation/score_table.hpp"

#include <stdexcept>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace ropelab {

ScoreTable score_table(RotatedTable table) {
  ScoreTable result;
  result.query = {std::move(table.query_first), std::move(table.query_second)};
  result.key = {std::move(table.key_first), std::move(table.key_second)};
  return result;
}

ScoreTable score_table(const Pipeline& pipeline, const std::vector<RotatedPair>& pairs,
                       long long first_position, std::size_t count) {
  if (pairs.empty()) throw std::invalid_argument("a score needs at least one rotated pair");
  ScoreTable result;
  for (const RotatedPair& pair : pairs) {
    ScoreTable of_pair = score_table(rotated_table(pipeline, pair, first_position, count));
    for (auto& column : of_pair.query) result.query.push_back(std::move(column));
    for (auto& column : of_pair.key) result.key.push_back(std::move(column));
  }
  return result;
}

namespace {

ComponentTable constant_column(double value, std::size_t count, bool exact) {
  return {std::vector<double>(count, value), std::vector<double>(exact ? count : 0)};
}

ComponentTable negated(ComponentTable column) {
  for (double& x : column.high) x = -x;
  for (double& x : column.low) x = -x;
  return column;
}

}  // namespace

ScoreTable factor_table(const Pipeline& pipeline, const Algebraic& factor, int terms,
                        int unit_exponent, long long first_position, std::size_t count) {
  const Step& storage = pipeline[StepName::storage];
  if (terms < 1 || (!storage && terms != 1)) {
    throw std::invalid_argument("factors are stored in at least one term, and in one where exact");
  }
  std::vector<ComponentTable> parts(static_cast<std::size_t>(terms),
                                    constant_column(0, count, !storage));
  const Real step = ldexp(factor.to_real(), -unit_exponent);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t n = range.begin(); n != range.end(); ++n) {
      Real left = step * Real(first_position + static_cast<long long>(n));
      for (ComponentTable& part : parts) {
        if (!storage) {
          const DoubleDouble exact = to_double_double(left);
          part.high[n] = exact.high;
          part.low[n] = exact.low;
          continue;
        }
        part.high[n] = round_to(*storage, left);
        if (std::isfinite(part.high[n])) left -= Real(part.high[n]);
      }
    }
  });
  const ComponentTable one = constant_column(std::ldexp(1.0, unit_exponent), count, !storage);
  ScoreTable table;
  for (const ComponentTable& part : parts) {
    table.query.push_back(negated(part));
    table.key.push_back(one);
    table.query.push_back(one);
    table.key.push_back(part);
  }
  return table;
}

}  // namespace ropelab
