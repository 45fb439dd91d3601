#include "app/commands.hpp"

namespace ropelab::app {

std::vector<CommandEntry> all_commands() {
  return {
      round_command(),
      slopes_command(),
  };
}

std::string group_summary(const std::string& group) {
  if (group == "sweep") return "Tabulate all errors of the construction along one parameter";
  return {};
}

}  // namespace ropelab::app
