#include "app/program.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "catch.hpp"

namespace fs = std::filesystem;

namespace {

void redirect(int stream, const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, stream);
  close(file);
}

// In the child process. A terminal of -1 is none.
[[noreturn]] void become(std::vector<std::string> command, const Circumstances& circumstances,
                         const TemporaryFolder& captured, int terminal) {
  const std::string& device = circumstances.output_device;
  redirect(STDOUT_FILENO, device.empty() || device == "closed" ? captured / "output" : device);
  if (device == "closed") close(STDOUT_FILENO);
  if (terminal >= 0) {
    dup2(terminal, STDERR_FILENO);
  } else {
    redirect(STDERR_FILENO, captured / "error");
  }
  for (const auto& [name, value] : circumstances.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  if (chdir(circumstances.folder.c_str()) == 0) execv(arguments[0], arguments.data());
  _exit(127);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void wait_for(pid_t process, Outcome& outcome) {
  int status = 0;
  rusage usage{};
  wait4(process, &status, 0, &usage);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.processor_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// What arrives on a screen until the other side is closed.
std::string read_all(int screen) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(screen, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

void interrupt_later(pid_t process, double seconds) {
  if (seconds <= 0) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  kill(process, SIGINT);
}

Outcome run_command(const std::vector<std::string>& command, const Circumstances& circumstances) {
  const TemporaryFolder captured;
  int screen = -1;
  int terminal = -1;
  if (circumstances.error_on_terminal) openpty(&screen, &terminal, nullptr, nullptr, nullptr);
  const pid_t process = fork();
  if (process == 0) become(command, circumstances, captured, terminal);
  interrupt_later(process, circumstances.interrupt_after_seconds);
  Outcome outcome;
  if (circumstances.error_on_terminal) {
    close(terminal);
    outcome.error = read_all(screen);
    close(screen);
  }
  wait_for(process, outcome);
  outcome.output = captured.read("output");
  if (!circumstances.error_on_terminal) outcome.error = captured.read("error");
  return outcome;
}

}  // namespace

bool has_terminals() {
  int screen = -1;
  int terminal = -1;
  if (openpty(&screen, &terminal, nullptr, nullptr, nullptr) != 0) return false;
  close(screen);
  close(terminal);
  return true;
}

Outcome run(const std::vector<std::string>& arguments, const Circumstances& circumstances) {
  std::vector<std::string> command{ROPELAB_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_command(command, circumstances);
}

Outcome run_interrupted_when(const std::vector<std::string>& arguments, Circumstances circumstances,
                             const std::function<bool(const Outcome&)>& suits) {
  Outcome outcome;
  for (double seconds = 2; seconds <= 32 && !suits(outcome); seconds *= 2) {
    circumstances.interrupt_after_seconds = seconds;
    outcome = run(arguments, circumstances);
  }
  return outcome;
}

Outcome run_shell(const std::string& line, const Circumstances& circumstances) {
  const std::string folder = fs::path(ROPELAB_PROGRAM).parent_path().string();
  return run_command({"/bin/sh", "-c", "PATH='" + folder + "':$PATH; " + line}, circumstances);
}

Outcome run_shell_in(const TemporaryFolder& folder, const std::string& line) {
  Circumstances there;
  there.folder = folder.path();
  return run_shell(line, there);
}

ropelab::CsvText table_of(const Outcome& outcome) {
  CAPTURE(outcome.error);
  REQUIRE(outcome.status == 0);
  return ropelab::CsvText(outcome.output);
}

ropelab::CsvText table_of(const std::vector<std::string>& arguments) {
  return table_of(run(arguments));
}
