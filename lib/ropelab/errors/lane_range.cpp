#include "ropelab/errors/lane_range.hpp"

#include <algorithm>
#include <cmath>

namespace ropelab {
namespace {

// Of the finite numbers of two columns, zeros aside; 1 and 0 where there are none.
struct Magnitudes {
  double least = 1, greatest = 0;
};

Magnitudes magnitudes_of(const ComponentTable& first, const ComponentTable& second) {
  Magnitudes magnitudes;
  for (const ComponentTable* column : {&first, &second}) {
    for (const double x : column->high) {
      const double size = std::abs(x);
      if (size > 0) magnitudes.least = std::min(magnitudes.least, size);
      if (std::isfinite(size)) magnitudes.greatest = std::max(magnitudes.greatest, size);
    }
  }
  return magnitudes;
}

}  // namespace

bool fits_float(const Format& format, const RotatedTable& table) {
  if (format.min_exponent > -100) return true;
  const Magnitudes query = magnitudes_of(table.query_first, table.query_second);
  const Magnitudes key = magnitudes_of(table.key_first, table.key_second);
  return query.least * key.least > 0x1p-60 && query.greatest * key.greatest < 0x1p90;
}

bool must_convert(const Format& from, const Format& to) {
  return from.precision > to.precision || from.min_exponent < to.min_exponent ||
         from.largest > to.largest;
}

}  // namespace ropelab
