// Designs of rotated pairs to choose from; internal to this room.
#pragma once

#include <array>
#include <vector>

#include "ropelab/design/head_design.hpp"

namespace ropelab {

// x as the rotation step keeps a fixed component.
double rounded_component(const HeadTask& task, double x);

// The power of two for the key that leaves query and key about the same size.
int even_exponent(double amplitude);

// amplitude * (cosine cos + sine sin), as a query part against the key part (0, 2^exponent).
RotatedPair pair_of(const Algebraic& theta, double cosine, double sine, int exponent);

// A fixed part turned back by the angle of this cosine and sine, and rounded again.
std::array<double, 2> turned_back(const HeadTask& task, const std::array<double, 2>& part,
                                  double cosine, double sine);

// The same design with the fixed parts turned back by the phase of the middle of the context, and
// rounded again: position p has the angle (p - middle - shift) theta, with a shift for each pair,
// or none. What that adds at distance 0 goes into the offset.
HeadDesign centred(const HeadTask& task, const HeadDesign& design,
                   const std::vector<double>& shifts = {});

// The same design with the query part turned back by a quarter of the window more, and the key part
// by as much less: the scores lose half of the bias of the furthest key, which goes into the
// offset.
HeadDesign moved_apart(const HeadTask& task, const HeadDesign& design);

// Pairs of single: see DesignSearch::best.
std::vector<HeadDesign> single_designs(const HeadTask& task);
// Some of phases of about 1/4 to 1/32, at which the storage rounds large components to several
// numbers: where annealing may begin. None where it holds what the rotation makes.
std::vector<HeadDesign> faster_singles(const HeadTask& task);
// Pairs of dyadic, of at most so many digits; the last pair may have all that is left of N for its
// amplitude instead: rounding costs only what is in proportion to that.
enum class LastPair { digit, rest };
struct Digits {
  LastPair last = LastPair::digit;
  int bits = 1;     // significant bits of a digit
  int octaves = 1;  // from one theta to the next
};
std::vector<HeadDesign> dyadic_designs(const HeadTask& task, int most_pairs,
                                       const Digits& wanted = {});

// Pairs whose small components are a small odd number and a power of two times the position, and so
// exact in a storage that holds the positions, of a rotation in more precision; their large ones
// hardly change. With theta = u 2^c/s, the query part -2^-a s and the key part 2^(a-c) s such a
// pair takes u s away for each position. Each pair has as much of the step per position as the
// storage keeps of its share of what those before it left: copies share a digit, and the next digit
// is what they leave.
//
// The pairs are turned back to the middle, and the copies of the first digit stand in the places of
// copies (places_of).
struct Copies {
  int digits;     // of the step per position
  int of_first;   // copies of the first digit
  int of_others;  // of each other one; 1 or an even number
};
std::vector<HeadDesign> shifted_copies(const HeadTask& task, const Copies& copies);

}  // namespace ropelab
