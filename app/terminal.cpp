#include "app/terminal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "ropelab/table/whole_file.hpp"

namespace ropelab::app {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it
std::atomic<int> stopping_signal{SIGINT};

extern "C" void request_stop(int signal) {
  stopping_signal = signal;
  if (!stop.exchange(true)) return;
  remove_unfinished_files();
  _exit(128 + signal);
}

// "ropelab: <text>" and a line end; line breaks within become blanks.
std::string line_of(std::string_view text) {
  std::string line = "ropelab: ";
  line += text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line + '\n';
}

// What line_of makes of the sentence. Never freed, since the signal handler reads it.
const std::string* line_about_lost_file = nullptr;
std::atomic_flag losing_file = ATOMIC_FLAG_INIT;

extern "C" void end_for_lost_file(int) {
  // Several threads may come across it.
  while (losing_file.test_and_set()) pause();
  remove_unfinished_files();
  if (write(STDERR_FILENO, line_about_lost_file->data(), line_about_lost_file->size()) < 0) {
    // There is nowhere left to say it.
  }
  _exit(1);
}

}  // namespace

void secure_standard_streams() {
  // Read-only, so that writing to it fails as it should.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

Interruption interrupt_on_signals() {
  struct sigaction action = {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction present = {};
  sigaction(SIGHUP, nullptr, &present);
  const bool under_nohup = present.sa_handler == SIG_IGN;
  if (!under_nohup) sigaction(SIGHUP, &action, nullptr);
  return Interruption(stop);
}

void say_when_mapped_file_is_lost(const std::string& sentence) {
  line_about_lost_file = new std::string(line_of(sentence));
  struct sigaction action = {};
  action.sa_handler = end_for_lost_file;
  sigaction(SIGBUS, &action, nullptr);
}

int status_after_signal() { return 128 + stopping_signal; }

void write_output(std::string_view text) {
  try {
    write_all(STDOUT_FILENO, text);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) throw ReaderGone();
    throw std::runtime_error(std::string("standard output cannot be written: ") + error.what());
  }
}

void write_error(std::string_view text) {
  try {
    write_all(STDERR_FILENO, text);
  } catch (const std::runtime_error&) {
    // There is nowhere left to say it.
  }
}

void say(std::string_view text) { write_error(line_of(text)); }

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace ropelab::app
