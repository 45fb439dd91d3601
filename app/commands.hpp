// The list of all commands.
#pragma once

#include <vector>

#include "app/command.hpp"

namespace ropelab::app {

CommandEntry attention_command();
CommandEntry condition_command();
CommandEntry design_command();
CommandEntry dot_command();
CommandEntry bloom_command();
CommandEntry fit_command();
CommandEntry frequencies_command();
CommandEntry limits_command();
CommandEntry profile_command();
CommandEntry reproduce_command();
CommandEntry round_command();
CommandEntry slopes_command();
CommandEntry sweep_base_command();
CommandEntry sweep_context_command();
CommandEntry sweep_phase_command();
CommandEntry sweep_theta_command();
CommandEntry trace_command();

// All of the above, in the order in which the help lists them.
std::vector<CommandEntry> all_commands();

// What a group of commands ("sweep") has in common, for the help.
std::string group_summary(const std::string& group);

}  // namespace ropelab::app
