// The pipelines of an error budget: what one step costs alone, and what the others cost without it.
#pragma once

#include "ropelab/simulation/pipeline.hpp"

namespace ropelab {

// The step as in `pipeline`, and every other exact. Its name says so in a way that
// parse_pipeline() understands, whatever the dtype: "exact,trig=float16", or "exact" where the
// step is exact already.
Pipeline only(const Pipeline& pipeline, StepName step);

// The step exact, and every other as in `pipeline`: "fused,trig=exact", also where it was
// "fused,trig=float16"; or the pipeline itself where the step is exact already.
Pipeline all_but(const Pipeline& pipeline, StepName step);

// Whether no step rounds, so that every score is the exact one.
bool is_exact(const Pipeline& pipeline);

}  // namespace ropelab
