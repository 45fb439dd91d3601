#include "app/shell.hpp"

int main(int argc, char* argv[]) { return ropelab::app::run_command_line({argv + 1, argv + argc}); }
