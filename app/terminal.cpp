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

void say(std::string_view text) {
  std::string line = "ropelab: ";
  line += text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_error(line + '\n');
}

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace ropelab::app
