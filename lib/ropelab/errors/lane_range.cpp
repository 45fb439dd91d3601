#include "ropelab/errors/lane_range.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {
namespace {

// Of the finite numbers of two columns, zeros aside; 1 and 0 where there are none.
struct ColumnMagnitudes {
  double least = 1, greatest = 0;
};

ColumnMagnitudes magnitudes_of(const std::vector<const ComponentTable*>& columns) {
  ColumnMagnitudes magnitudes;
  for (const ComponentTable* column : columns) {
    for (const double x : column->high) {
      const double size = std::abs(x);
      if (size > 0) magnitudes.least = std::min(magnitudes.least, size);
      if (std::isfinite(size)) magnitudes.greatest = std::max(magnitudes.greatest, size);
    }
  }
  return magnitudes;
}

bool fits_float(const Format& format, const ColumnMagnitudes& query, const ColumnMagnitudes& key) {
  return format.min_exponent > -100 ||
         (query.least * key.least > 0x1p-60 && query.greatest * key.greatest < 0x1p90);
}

std::vector<const ComponentTable*> pointers(const std::vector<ComponentTable>& columns) {
  std::vector<const ComponentTable*> all;
  for (const ComponentTable& column : columns) all.push_back(&column);
  return all;
}

}  // namespace

bool fits_float(const Format& format, const RotatedTable& table) {
  return fits_float(format, magnitudes_of({&table.query_first, &table.query_second}),
                    magnitudes_of({&table.key_first, &table.key_second}));
}

bool fits_float(const Format& format, const ScoreTable& table) {
  return fits_float(format, magnitudes_of(pointers(table.query)),
                    magnitudes_of(pointers(table.key)));
}

bool must_convert(const Format& from, const Format& to) {
  return from.precision > to.precision || from.min_exponent < to.min_exponent ||
         from.largest > to.largest;
}

}  // namespace ropelab
