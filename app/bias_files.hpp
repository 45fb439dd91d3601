// Files that hold a relative bias.
#pragma once

#include <string>
#include <vector>

#include "ropelab/exact/real.hpp"

namespace ropelab::app {

// What a table of a bias says: B(0), B(1), ... and B(0), B(-1), ... as far as there are any.
struct BiasTable {
  std::vector<Rational> behind, ahead;
};

// Reads a number a line, B(0), B(1), ...; or CSV, a distance and its number a line, in any order,
// under a heading or none. Empty lines are passed over. Distances are those from 0 on, and with
// `bidirectional` those from 0 down, too, none twice and none missing; of numbers alone B(-d) is
// B(d) then. Throws std::invalid_argument in one sentence with the path and, where it is about
// one, the line.
BiasTable read_bias_table(const std::string& path, bool bidirectional);

// Reads a line for each of so many buckets, each with a number for every head, separated by commas
// or blanks: [bucket][head]. Throws as above, also where a line has not as many numbers as the
// first, or there are not so many lines.
std::vector<std::vector<Rational>> read_bucket_values(const std::string& path, int buckets);

}  // namespace ropelab::app
