// Rotary position encoding of queries and keys.
// [RoPE] Su et al.: RoFormer: Enhanced Transformer with Rotary Position Embedding (arXiv
// 2104.09864), section 3.4.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ropelab/formats/rounder.hpp"

namespace ropelab {

// How the queries and keys of a model with rotary encoding are turned. Derive from it for tables
// that another way of computing has made.
template <class Scalar>
class Rotary {
 public:
  virtual ~Rotary() = default;

  // The cosine and sine of each of the head_dim/2 pairs at a position. Both spans have that size.
  // Asked once for each position of a run; called from several threads at once, as is `rotate`.
  virtual void tables(long long position, std::span<Scalar> cosines,
                      std::span<Scalar> sines) const = 0;

  // Turns the query or key of one head, whose pair r is components r and r + head_dim/2:
  //   u_r cos_r - u_(r+head_dim/2) sin_r  and  u_(r+head_dim/2) cos_r + u_r sin_r,
  // each product and sum rounded to Scalar.
  virtual void rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
                      std::span<Scalar> components) const;
};

// Angles position * base^(-2r/head_dim), their cosines and sines in double, then rounded to Scalar.
// Off by about position * 2^-53 rad. `head_dim` is even.
template <class Scalar>
class PlainRotary : public Rotary<Scalar> {
 public:
  PlainRotary(double base, int head_dim);
  void tables(long long position, std::span<Scalar> cosines,
              std::span<Scalar> sines) const override;

 private:
  std::vector<double> frequencies_;  // rad per position
};

// Turns nothing: a model with rotary encoding that is told no positions.
template <class Scalar>
class NoRotary : public Rotary<Scalar> {
 public:
  void tables(long long position, std::span<Scalar> cosines,
              std::span<Scalar> sines) const override;
  void rotate(std::span<const Scalar>, std::span<const Scalar>, std::span<Scalar>) const override {}
};

// Turns as Rotary::rotate does, with roundings to formats: of the query or key and the table
// before, and of each product and sum (`rotation`), and of the result (`storage`). Formats that are
// not given, and those wider than Scalar, round nothing more than Scalar does.
template <class Scalar>
class RoundedRotation {
 public:
  RoundedRotation(const std::optional<Format>& rotation, const std::optional<Format>& storage);
  void operator()(std::span<const Scalar> cosines, std::span<const Scalar> sines,
                  std::span<Scalar> components) const;

 private:
  std::optional<Rounder> rotation_, storage_;
};

// Another Rotary's tables, with roundings to formats: of the tables themselves, of the query and
// key before and of each product and sum while they are turned (`rotation`), and of the result.
// Formats that are not given, and those wider than Scalar, round nothing more than Scalar does.
template <class Scalar>
class RoundedRotary : public Rotary<Scalar> {
 public:
  struct Formats {
    std::optional<Format> table, rotation, storage;
  };
  // `exact` must outlive it.
  RoundedRotary(const Rotary<Scalar>& exact, const Formats& formats);
  void tables(long long position, std::span<Scalar> cosines,
              std::span<Scalar> sines) const override;
  void rotate(std::span<const Scalar> cosines, std::span<const Scalar> sines,
              std::span<Scalar> components) const override;

 private:
  const Rotary<Scalar>& exact_;
  std::optional<Rounder> table_;
  RoundedRotation<Scalar> rotation_;
};

}  // namespace ropelab
