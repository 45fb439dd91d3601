// The file that tells a model what `ropelab design` found.
#pragma once

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
  std::string dtype, pipeline;
  double score_scale;  // what the dot product is multiplied by
  double step;         // rank-2: what it is to lose per position
  HeadDesign design;
  std::string target{};  // the bias, where it is more than a slope
};

// JSON: the version of the format, and for each head the frequencies, and the fixed components of
// query and key by their order in storage, in decimal and as hexadecimal floats.
std::string design_file(const std::vector<DesignedHead>& heads);

// The frequencies of a design, and the components of one side, pair by pair.
std::vector<double> frequencies_of(const HeadDesign& design);
std::vector<double> components_of(const HeadDesign& design,
                                  std::array<double, 2> RotatedPair::*part);

}  // namespace ropelab::app
