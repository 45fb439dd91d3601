// Searches: the best design of a head among those of some methods.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ropelab/design/frequencies.hpp"
#include "ropelab/design/head_design.hpp"

namespace ropelab {

class Fits;

struct SearchOptions {
  Objective objective = Objective::total;
  int most_pairs = 1;           // of rotated pairs
  std::uint64_t seed = 1;       // of the samples that candidates are compared by
  std::vector<Algebraic> grid;  // method grid: the frequencies allowed, rad per position
};

struct Found {
  HeadDesign design;
  DesignErrors errors;  // over all pairs
};

// Looks for designs of one head after the other. What fits of one bias, and those of all slopes,
// have in common is kept, so that heads of the same context and pipeline share it.
class DesignSearch {
 public:
  explicit DesignSearch(SearchOptions options);
  ~DesignSearch();

  // Another number of rotated pairs from here on; what was found for fewer serves again.
  void allow_pairs(int most) { options_.most_pairs = most; }

  // The best design of these methods among those that are looked at, for the heads of a group that
  // share a key, and so its frequencies and key parts: one for each head, all of the same context,
  // window, head_dim and pipeline. Candidates are compared by a sample of pairs, and the best few
  // over all pairs, by the largest error of a head, in slopes. Deterministic. Empty where every
  // candidate has scores that are not finite. Throws std::invalid_argument for an empty group, for
  // grid without frequencies, for single, dyadic and rank-2 without a slope, and for rank-2 or
  // biases that are no slope in a group of several (rank-2 has the slope in the key); Interrupted.
  //
  // single: max phases from 1e-6 to 1, 8 to a decade, and N of 3 significant bits and of as many as
  // the rotation keeps, so that rounding it costs nothing; theta is slope sqrt(head_dim)/N. Also
  // theta = 2^-t, whose key parts are exact, with N rounded; theta = 2^c/(slope sqrt(head_dim))
  // with parts that make positions times a power of two of the small components; parts that let
  // these end just below a power of two; and, a little beyond the positions that a 16-bit storage
  // holds, the parts that round them best (best_axis_parts). N is divided between query and key so
  // that both stay in range.
  // dyadic: theta = 2^-t, and N = slope sqrt(head_dim)/theta by its signed binary digits, the
  // largest `most_pairs` of them.
  // multi-pair: frequencies psi, 2 psi, ... K psi for every K up to `most_pairs` and psi window
  // from 0.05 to pi, then each moved as long as the fit gets better; sines alone, or cosines,
  // sines and an offset, by fit_minimax with a price of what rounding costs. Also the pairs of
  // single and dyadic, pairs of dyadic, of digits of 1 to 4 bits, of which the last has all that
  // is left of N, and pairs that have the slope by as many digits as the storage has, and copies
  // of these that round differently (shifted_copies). All of them
  // also with both fixed parts turned back by the phase of the middle of the context, so that
  // rotated components are small on both sides of it. Where the bias is no slope, geometric rows
  // psi, q psi, ... as well, and the best K - 1 frequencies with the one that helps the most,
  // moved; cosines, sines and an offset, fitted at every distance.
  //
  // Pairs are also tried in the other order, in which their products are added; those of multi-pair
  // for a slope also with scores on both sides of 0 (moved_apart). multi-pair and grid have the
  // offset that is best for the measured errors, where may_have_offset says so. The best few of
  // each number of pairs are measured, so that more pairs allowed are hardly ever worse. For a
  // slope, some of the best of single, multi-pair and grid are then changed at random: first
  // those whose errors are quickly told, in 16 bits mostly, together with others of which something
  // better may come (annealed); then all of them a little, by what all pairs of positions say, as
  // long as that helps (Polish). Not those of a group of several heads.
  //
  // grid: runs of neighbouring frequencies, the ones that a fit of more of them gives the most
  // weight, and, where the bias is no slope, one after the other that helps the most; cosines,
  // sines and an offset by fit_minimax. Where it is a slope, also slow pairs that share it
  // (equal_shares, drawn_shares), and rounding may prefer fewer pairs: each power of two below
  // their number is searched by itself, so that more pairs allowed are never worse.
  //
  // An even bias of keys on both sides takes cosines and an offset alone.
  //
  // rank-2: 1, 2 or 3 terms. native: one design.
  //
  // Slopes that differ from those of an earlier search by a power of two (power_of_two_between)
  // have its designs but for that power, if these do as well, by the objectives truncation and
  // total; these too are measured. What was searched before is not searched again.
  std::vector<Found> best(const std::vector<Method>& methods, const std::vector<HeadTask>& group,
                          const Interruption& interruption = {});

  // No fixed vectors and offset with all frequencies of the grid have a smaller truncation error
  // than this, logits, but for the tolerances of fit_minimax. Throws as best.
  double grid_limit(const HeadTask& task, const Interruption& interruption = {});

 private:
  // Of so many pairs at most, as an earlier answer has it or by a search.
  std::vector<Found> answer(const std::vector<Method>& methods, const std::vector<HeadTask>& group,
                            int most_pairs, const Interruption& interruption);
  // The last answer whose slopes differ by a power of two, times that power; empty where there is
  // none or it does not do as well.
  std::vector<Found> scaled_answer(const std::vector<Method>& methods,
                                   const std::vector<HeadTask>& group, int most_pairs,
                                   const Interruption& interruption) const;
  // Of a grid, exactly so many pairs.
  std::vector<Found> searched(const std::vector<Method>& methods,
                              const std::vector<HeadTask>& group, int most_pairs,
                              const Interruption& interruption);

  struct Answer {
    std::vector<Method> methods;
    int most_pairs;
    std::vector<HeadTask> group;
    std::vector<Found> found;
  };

  SearchOptions options_;
  Frequencies grid_;  // of the options
  std::vector<Answer> answers_;
  std::unique_ptr<Fits> fits_;
};

}  // namespace ropelab
