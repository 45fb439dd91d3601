// One case of data/cases.csv: what is asked, and its inputs, read exactly.
#pragma once

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ropelab/exact/parse.hpp"
#include "ropelab/simulation/pipeline.hpp"

namespace cases {

using ropelab::Algebraic;
using ropelab::Format;
using ropelab::Rational;
using ropelab::Real;
using ropelab::Step;

// Either value of a case: the right one, or what a naive path makes of the same inputs.
enum class Path { right, naive };

// A number, or the text that something was printed as.
using Value = std::variant<Real, std::string>;

// The cases' short names of formats.
inline const Format& format_of(const std::string& name) {
  static const std::map<std::string, std::string> names = {{"f16", "float16"},
                                                           {"bf16", "bfloat16"},
                                                           {"f32", "float32"},
                                                           {"e4m3", "float8_e4m3fn"},
                                                           {"e5m2", "float8_e5m2"}};
  const auto found = names.find(name);
  if (found == names.end()) throw std::invalid_argument("no format is called " + name);
  return ropelab::find_format(found->second);
}

// The parts of a text between separators.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

class Case {
 public:
  // `inputs` are `key=value` with spaces between, and single words.
  Case(const std::string& inputs, Path path) : path_(path) {
    for (const std::string& word : split(inputs, ' ')) {
      const auto equals = word.find('=');
      inputs_[word.substr(0, equals)] =
          equals == std::string::npos ? std::string() : word.substr(equals + 1);
    }
  }

  bool naive() const { return path_ == Path::naive; }
  bool has(const std::string& name) const { return inputs_.count(name) != 0; }

  const std::string& text(const std::string& name) const {
    const auto found = inputs_.find(name);
    if (found == inputs_.end()) throw std::invalid_argument("there is no input " + name);
    return found->second;
  }
  bool says(const std::string& name, const std::string& value) const {
    return has(name) && text(name) == value;
  }

  // A sum, as in 1+2^-11.
  Rational number(const std::string& name) const {
    Rational sum = 0;
    for (const std::string& part : split(text(name), '+')) sum += ropelab::parse_rational(part);
    return sum;
  }
  Real real(const std::string& name) const { return ropelab::to_real(number(name)); }
  Algebraic positive(const std::string& name) const { return ropelab::parse_positive(text(name)); }
  long long integer(const std::string& name) const { return std::stoll(text(name)); }
  int small(const std::string& name) const { return std::stoi(text(name)); }

  // As in (1,2,3).
  std::vector<Rational> vector(const std::string& name) const {
    const std::string& list = text(name);
    std::vector<Rational> components;
    for (const std::string& part : split(list.substr(1, list.size() - 2), ',')) {
      components.push_back(ropelab::parse_rational(part));
    }
    return components;
  }

  // The format that the question itself is about.
  const Format& asked_format(const std::string& name) const { return format_of(text(name)); }
  // The format that the naive path keeps a quantity in; the right path keeps everything exact.
  Step kept_in(const std::string& name) const {
    if (!naive() || !has(name)) return std::nullopt;
    return format_of(text(name));
  }

  // Where no format is named, the naive path is another convention or formula.
  bool other_rule() const {
    if (!naive()) return false;
    for (const auto& [name, value] : inputs_) {
      if (name.size() >= 3 && name.compare(name.size() - 3, 3, "fmt") == 0) return false;
    }
    return true;
  }

 private:
  Path path_;
  std::map<std::string, std::string> inputs_;
};

inline Real kept(const Step& format, const Real& x) {
  return format ? Real(ropelab::round_to(*format, x)) : x;
}

}  // namespace cases
