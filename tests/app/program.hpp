// Runs the built program as a user would.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ropelab/table/csv_reader.hpp"
#include "temporary_folder.hpp"

struct Outcome {
  int status = 0;  // 128 + signal if one ended it
  double processor_seconds = 0;
  std::string output;
  std::string error;
};

// How a run differs from an ordinary one.
struct Circumstances {
  std::string folder = ".";   // to run in
  std::string output_device;  // to write to, instead of being captured; "closed": none
  std::map<std::string, std::string> environment;  // added
  double interrupt_after_seconds = 0;              // SIGINT then, if above 0
  bool error_on_terminal = false;
};

// Whether this machine has terminals to give (a bare chroot has none).
bool has_terminals();

// Runs ropelab with these arguments.
Outcome run(const std::vector<std::string>& arguments, const Circumstances& circumstances = {});
// Interrupted after 2 seconds; again after 4, 8 ... 32 where the outcome is not what is waited for,
// as on a busy machine.
Outcome run_interrupted_when(const std::vector<std::string>& arguments, Circumstances circumstances,
                             const std::function<bool(const Outcome&)>& suits);
// Runs a line of shell in which `ropelab` is the built program.
Outcome run_shell(const std::string& line, const Circumstances& circumstances = {});
// The same in a folder of its own.
Outcome run_shell_in(const TemporaryFolder& folder, const std::string& line);
// The table that a run printed; the test fails unless it ended well.
ropelab::CsvText table_of(const Outcome& outcome);
ropelab::CsvText table_of(const std::vector<std::string>& arguments);
