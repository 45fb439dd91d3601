// From a command line to an exit status.
#pragma once

#include <string>
#include <vector>

namespace ropelab::app {

// Does what the arguments (without the program's name) ask for and returns the exit status:
// 0; 1 where the run itself failed; 2 for arguments that cannot be meant; 130 after Ctrl-C; 141,
// without a word, where nobody reads standard output any longer. Every other failure is one
// sentence on standard error.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace ropelab::app
