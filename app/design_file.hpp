// The file that tells a model what `ropelab design` found: written and read back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ropelab/alibi/slope.hpp"
#include "ropelab/design/head_design.hpp"
#include "ropelab/formats/format.hpp"

namespace ropelab::app {

// One head of the file.
struct DesignedHead {
  std::optional<int> heads, head;  // head counts from 1
  std::optional<Algebraic> slope;
  long long context, window, head_dim;
  std::string dtype;
  Pipeline pipeline;
  std::string pipeline_cell;      // what the table says of it
  std::optional<Algebraic> step;  // what the dot product is to lose per position, of a slope
  HeadDesign design;
  std::string target{};  // the bias, where it is more than a slope
};

// What the dot product is multiplied by, 1/sqrt(head_dim); and what the scaled score is to lose per
// position, where the bias is a slope.
Algebraic score_scale(const DesignedHead& head);
std::optional<Algebraic> slope_of_score(const DesignedHead& head);

// What the head's pipeline makes of its extra components at positions first_position ... +count-1,
// in the order in which their products are added. Throws std::invalid_argument for `native`, which
// has none, else as rotated_table.
ScoreTable score_table(const DesignedHead& head, long long first_position, std::size_t count);

// JSON: the version of the format, and for each head the frequencies, and the fixed components of
// query and key by their order in storage, in decimal and as hexadecimal floats. Numbers that are
// not exact so, frequencies and slopes, stand there as products of powers as well.
std::string design_file(const std::vector<DesignedHead>& heads);

// The same heads. Throws std::invalid_argument, in one sentence that begins with the path, where
// the file cannot be read, is not such a file or of another version, lacks something, or says
// different things of one number.
std::vector<DesignedHead> read_design_file(const std::string& path);

// The frequencies of a design, and the components of one side, pair by pair.
std::vector<double> frequencies_of(const HeadDesign& design);
std::vector<double> components_of(const HeadDesign& design,
                                  std::array<double, 2> RotatedPair::*part);

}  // namespace ropelab::app
