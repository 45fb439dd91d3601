#include "app/design_file.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ropelab::app {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> hexadecimal(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double x : numbers) texts.push_back(fmt::format("{:a}", x));
  return texts;
}

void set_numbers(Json& entry, const std::string& name, const std::vector<double>& numbers) {
  entry[name] = numbers;
  entry[name + "_hex"] = hexadecimal(numbers);
}

std::string where_the_bias_enters(Method method) {
  switch (method) {
    case Method::native:
      return "-slope * distance is added to the scaled score";
    case Method::rank_two:
      return "as extra components that are not rotated: x = step / unit * position, in `terms` "
             "numbers of the dtype, each what the ones before left; products (-x_t) * unit and "
             "then "
             "unit * x_t, t by t, before the sum is multiplied by score_scale";
    default:
      return "as extra components: each pair (q0, q1) and (k0, k1) is rotated by position * "
             "inverse_frequency, and its two products join the dot product, pair by pair, before "
             "the sum is multiplied by score_scale";
  }
}

Json entry_of(const DesignedHead& head) {
  const HeadDesign& design = head.design;
  Json entry;
  if (!head.target.empty()) entry["target"] = head.target;
  if (head.head) {
    entry["heads"] = *head.heads;
    entry["head"] = *head.head;
  }
  if (head.slope) entry["slope"] = head.slope->to_double();
  entry["context"] = head.context;
  entry["window"] = head.window;
  entry["head_dim"] = head.head_dim;
  entry["dtype"] = head.dtype;
  entry["pipeline"] = head.pipeline;
  entry["method"] = name_of(design.method);
  entry["extra_dimensions"] =
      2 * (design.pairs.size() + static_cast<std::size_t>(design.factor_terms));
  set_numbers(entry, "inverse_frequencies", frequencies_of(design));
  set_numbers(entry, "query", components_of(design, &RotatedPair::query));
  set_numbers(entry, "key", components_of(design, &RotatedPair::key));
  if (design.method == Method::rank_two) {
    entry["step"] = head.step;
    entry["terms"] = design.factor_terms;
    entry["unit"] = std::ldexp(1.0, design.unit_exponent);
  }
  entry["offset"] = design.offset;
  entry["score_scale"] = head.score_scale;
  entry["bias_enters"] = where_the_bias_enters(design.method);
  return entry;
}

}  // namespace

std::vector<double> frequencies_of(const HeadDesign& design) {
  std::vector<double> thetas;
  for (const RotatedPair& pair : design.pairs) thetas.push_back(pair.theta.to_double());
  return thetas;
}

std::vector<double> components_of(const HeadDesign& design,
                                  std::array<double, 2> RotatedPair::*part) {
  std::vector<double> numbers;
  for (const RotatedPair& pair : design.pairs) {
    numbers.insert(numbers.end(), (pair.*part).begin(), (pair.*part).end());
  }
  return numbers;
}

std::string design_file(const std::vector<DesignedHead>& heads) {
  Json file;
  file["format"] = "ropelab design 1";
  file["heads"] = Json::array();
  for (const DesignedHead& head : heads) file["heads"].push_back(entry_of(head));
  return file.dump(2) + "\n";
}

}  // namespace ropelab::app
