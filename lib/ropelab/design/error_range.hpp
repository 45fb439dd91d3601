// The least and the greatest of some errors; internal to this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ropelab {

// F - B of some pairs, logits, and queries that have them, where these are told.
struct ErrorRange {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  std::size_t query_of_least = 0, query_of_greatest = 0;

  void add(double error) {
    least = std::min(least, error);
    greatest = std::max(greatest, error);
  }
  // Of the same errors, those of *this come first.
  void add(const ErrorRange& other) {
    if (other.least < least) {
      least = other.least;
      query_of_least = other.query_of_least;
    }
    if (other.greatest > greatest) {
      greatest = other.greatest;
      query_of_greatest = other.query_of_greatest;
    }
  }
  bool is_finite() const { return std::isfinite(least) && std::isfinite(greatest); }
  double largest() const { return std::max(std::fabs(least), std::fabs(greatest)); }
  // With the best offset.
  double half_width() const { return (greatest - least) / 2; }
  double middle() const { return least + half_width(); }
  // What it is judged by, where the offset is free or not.
  double value(bool is_free) const { return is_free ? half_width() : largest(); }
};

}  // namespace ropelab
