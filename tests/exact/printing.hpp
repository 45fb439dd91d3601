// How failed checks show exact numbers. Include it in every test that compares them, so that
// all agree.
#pragma once

#include <string>

#include "catch.hpp"
#include "ropelab/exact/algebraic.hpp"

namespace Catch {

template <>
struct StringMaker<ropelab::Rational> {
  static std::string convert(const ropelab::Rational& x) { return ropelab::to_decimal(x, 40); }
};

template <>
struct StringMaker<ropelab::Integer> {
  static std::string convert(const ropelab::Integer& x) {
    return ropelab::to_decimal(ropelab::Rational(x), 40);
  }
};

template <>
struct StringMaker<ropelab::Real> {
  static std::string convert(const ropelab::Real& x) { return ropelab::to_decimal(x, 160); }
};

template <>
struct StringMaker<ropelab::Algebraic> {
  static std::string convert(const ropelab::Algebraic& x) { return x.to_decimal(40); }
};

}  // namespace Catch
