// Standard output and standard error, and the signals that end a run.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "ropelab/exact/interruption.hpp"

namespace ropelab::app {

// Makes sure that no file of ours takes the place of a standard stream that was closed,
// and that a closed pipe or a file at its size limit is an error of the write to it and not
// the end of the program, which would leave temporary files.
void secure_standard_streams();

// From now on Ctrl-C (SIGINT, and SIGTERM and SIGHUP too) asks for an end where the
// interruption is polled; a second one removes unfinished files and ends the program at once.
Interruption interrupt_on_signals();
// 128 + the signal that asked for it: 130 for Ctrl-C.
int status_after_signal();

// From now on, where a file that is mapped into memory turns out shorter than it was, or cannot be
// read (SIGBUS), the program removes unfinished files, says this sentence and ends with status 1.
void say_when_mapped_file_is_lost(const std::string& sentence);

// The reader of standard output has had enough, as `head` has: no reason to complain.
struct ReaderGone : std::runtime_error {
  ReaderGone() : std::runtime_error("nobody reads standard output") {}
};

// Writes to standard output. Throws ReaderGone or std::runtime_error where that fails.
void write_output(std::string_view text);
// Writes to standard error, as far as that goes.
void write_error(std::string_view text);
// "ropelab: <text>" and a line end on standard error; line breaks within become blanks.
void say(std::string_view text);

bool error_is_terminal();

}  // namespace ropelab::app
