#include "app/shell.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <tbb/global_control.h>

#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>

#include "app/command_line.hpp"
#include "app/output.hpp"
#include "app/run.hpp"
#include "app/terminal.hpp"
#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

// What a shell reports of a program that a closed pipe has ended.
constexpr int kStatusOfBrokenPipe = 128 + SIGPIPE;

// An interrupted run, with a sentence about what is left of it.
struct InterruptedRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string sentence_about(std::size_t rows, std::optional<std::size_t> rows_in_all,
                           const Output& output) {
  if (rows == 0) {
    return rows_in_all ? fmt::format("interrupted; 0 of {} rows are finished", *rows_in_all)
                       : std::string("interrupted");
  }
  const std::string of = rows_in_all ? fmt::format("of {} rows are", *rows_in_all)
                                     : std::string(rows == 1 ? "row is" : "rows are");
  return fmt::format("interrupted; {} {} {}", rows, of, output.place_of_finished_rows());
}

// Keeps the finished rows, and ends the run.
[[noreturn]] void stop_early(Command& command, const Table& table, Manifest manifest,
                             Output& output) {
  manifest.complete = false;
  try {
    output.write_finished_rows(table, manifest, command.further_tables());
  } catch (const ReaderGone&) {
    // Ctrl-C has ended the rest of the pipeline, too.
  }
  throw InterruptedRun(sentence_about(table.rows().size(), command.rows_in_all(), output));
}

// Set up first, then take hold of the output, then compute, then write.
void carry_out(CommandLine& line, const Interruption& interruption) {
  const auto start = std::chrono::steady_clock::now();
  Command& command = line.command();
  command.set_up(interruption);
  const Run::Settings settings = line.settings();
  use_instruction_set(settings.instruction_set);
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, settings.threads);
  FilesInUse files = line.files_in_use();
  Output output = line.output(files, command.further_names());
  command.open_beside(files);
  Parameters resolved = command.resolved_parameters(interruption);
  resolved.emplace_back("output-format", table_format_name(output.format()));
  Manifest manifest = line.manifest(resolved);
  Table table(command.columns());
  Run run(settings, manifest, interruption);
  const auto finish_manifest = [&] {
    manifest.rows = table.rows().size();
    manifest.wall_time_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  try {
    command.run(run, table);
    interruption.check();
  } catch (const Interrupted&) {
    finish_manifest();
    stop_early(command, table, manifest, output);
  }
  finish_manifest();
  command.write_beside(table, manifest);
  output.write(table, manifest, command.further_tables());
}

int failed(std::string_view sentence, int status) {
  say(sentence);
  return status;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  secure_standard_streams();
  const Interruption interruption = interrupt_on_signals();
  CommandLine line;
  try {
    if (const auto answer = line.parse(arguments)) {
      write_output(*answer);
    } else {
      carry_out(line, interruption);
    }
    return 0;
  } catch (const Interrupted&) {
    return failed("interrupted", status_after_signal());
  } catch (const InterruptedRun& interrupted) {
    return failed(interrupted.what(), status_after_signal());
  } catch (const ReaderGone&) {
    return kStatusOfBrokenPipe;
  } catch (const UsageError& error) {
    return failed(line.place_of(error.option()) + error.what(), 2);
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory", 1);
  } catch (const std::exception& error) {
    return failed(error.what(), 1);
  }
}

}  // namespace ropelab::app
