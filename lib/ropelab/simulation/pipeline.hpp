// Pipelines: which format each of the nine steps of the computation rounds to.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ropelab/formats/format.hpp"

namespace ropelab {

// The format that a step rounds to; empty: exact.
using Step = std::optional<Format>;

enum class StepName {
  position,
  theta,
  phase,
  trig,
  table,
  rotation,
  storage,
  accumulation,
  scaling
};
inline constexpr int step_count = 9;
inline constexpr std::array<std::string_view, step_count> step_names = {
    "position", "theta",   "phase",        "trig",   "table",
    "rotation", "storage", "accumulation", "scaling"};

// In every step, operands that a format holds are first rounded to the step's format (an
// exact operand stays exact), then the operation's exact result is rounded to it. What a step
// set to `exact` hands on is an exact number, whatever its operands came from, also where the
// step only keeps them (table, storage): the next step does not round it as an operand.
struct Pipeline {
  std::string name;  // as the user wrote it: "fused,table=bfloat16"
  std::array<Step, step_count> steps;
  // accumulation=float32-fma: the second product is not rounded before it is added.
  bool fused_accumulation = false;

  const Step& operator[](StepName step) const { return steps[static_cast<std::size_t>(step)]; }
  Step& operator[](StepName step) { return steps[static_cast<std::size_t>(step)]; }
};

// ideal-trig, naive, fp32-rope, fused, exact.
std::vector<std::string_view> pipeline_names();

// Whether 8-bit steps overflow as their formats define it, or clamp to the largest number.
enum class EightBit { overflows, saturates };

// A preset, with overrides behind it ("fused,table=bfloat16,accumulation=float32-fma"), for
// one dtype. Overrides take a format's name or `exact`, and a step at most once. Steps in the dtype
// take it as it is, saturating or not; with EightBit::saturates every 8-bit step saturates. Throws
// std::invalid_argument with one sentence that names what exists.
Pipeline parse_pipeline(std::string_view text, const Format& dtype,
                        EightBit eight_bit = EightBit::overflows);

// Whether a step clamps to the largest number of its format instead of overflowing.
bool saturates(const Pipeline& pipeline);

// Splits a list in which an item with `=` belongs to the name before it:
// "fused,table=bfloat16,naive" is {"fused,table=bfloat16", "naive"}. Throws
// std::invalid_argument if the first item has a `=` or an item is empty.
std::vector<std::string> split_pipelines(std::string_view list);

}  // namespace ropelab
