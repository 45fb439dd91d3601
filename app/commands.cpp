#include "app/commands.hpp"

namespace ropelab::app {

std::vector<CommandEntry> all_commands() {
  return {
      reproduce_command(),   sweep_theta_command(), sweep_base_command(),  sweep_context_command(),
      sweep_phase_command(), profile_command(),     attention_command(),   condition_command(),
      limits_command(),      design_command(),      fit_command(),         bloom_command(),
      trace_command(),       dot_command(),         frequencies_command(), round_command(),
      slopes_command(),
  };
}

std::string group_summary(const std::string& group) {
  if (group == "sweep") return "Tabulate all errors of the construction along one parameter";
  return {};
}

}  // namespace ropelab::app
