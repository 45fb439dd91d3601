// Scalings as users write them:
//   none
//   linear:factor=4
//   ntk:factor=4
//   dynamic-ntk:factor=2,original=2048[,length=8192]
//   yarn:factor=32,original=4096[,beta_fast=32,beta_slow=1,truncate=true,rule=default|ratio,
//        mscale=1,mscale_all_dim=0,attention_factor=1.2]
//   llama3:factor=8,original=8192[,low_freq_factor=1,high_freq_factor=4]
//   longrope:original=4096,short_factor=1 1.1 ...,long_factor=1 2.5 ...,factor=32|
//        attention_factor=1.2[,length=8192]
// What scaling.hpp says of the parameters holds; those in brackets may be left out. Without a rule,
// yarn's is ratio where mscale and mscale_all_dim are both given and not 0, else default (the
// standard one). Lists have blanks between their numbers. Colons may stand for the commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ropelab/rope/scaling.hpp"

namespace ropelab {

// none, linear, ntk, dynamic-ntk, yarn, llama3, longrope.
std::vector<std::string_view> scaling_names();

// One or several with commas between, where an item with a `=`, and no `:` before it, belongs to
// the name before it. Throws std::invalid_argument with one sentence that quotes what cannot be
// meant and says what would be right.
std::vector<Scaling> parse_scalings(std::string_view list);

// The scaling with every parameter that it has, with colons between and hence without a comma:
// "yarn:factor=32:original=4096:beta_fast=32:beta_slow=1:truncate=true:rule=default:mscale=1". It
// reads back as the same scaling.
std::string text_of(const Scaling& scaling);

}  // namespace ropelab
