// The last step of a search by samples: small changes by what all pairs of positions say.
#pragma once

#include "ropelab/design/head_design.hpp"

namespace ropelab {

// The design, or one close to it with a smaller objective: its pairs are scaled, turned and given
// other frequencies by less and less, most of which leaves what the scores are to be but not how
// they round, and what helps is kept. At most so many trials, each O(context window) time, on all
// threads; the same result on any number of them. Unchanged where its offset is not free
// (may_have_offset) or nothing is left. Throws Interrupted.
HeadDesign polished(const HeadTask& task, const HeadDesign& design, Objective objective, int trials,
                    const Interruption& interruption = {});

}  // namespace ropelab
