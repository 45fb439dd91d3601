#include "app/shell.hpp"

#include <tbb/global_control.h>

#include <chrono>
#include <exception>
#include <new>

#include "app/command_line.hpp"
#include "app/output.hpp"
#include "app/run.hpp"
#include "app/terminal.hpp"
#include "app/usage_error.hpp"

namespace ropelab::app {
namespace {

// Set up first, then take hold of the output, then compute, then write.
void carry_out(CommandLine& line, const Interruption& interruption) {
  const auto start = std::chrono::steady_clock::now();
  Command& command = line.command();
  command.set_up();
  const Run::Settings settings = line.settings();
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, settings.threads);
  Manifest manifest = line.manifest();
  Output output = line.output();
  Table table(command.columns());
  Run run(settings, manifest, interruption);
  try {
    command.run(run, table);
    interruption.check();
  } catch (const Interrupted&) {
    output.write_finished_rows(table);
    throw;
  }
  manifest.rows = table.rows().size();
  manifest.wall_time_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  command.write_beside(table, manifest);
  output.write(table, manifest);
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
  } catch (const UsageError& error) {
    return failed(line.place_of(error.option()) + error.what(), 2);
  } catch (const std::bad_alloc&) {
    return failed("there is not enough memory", 1);
  } catch (const std::exception& error) {
    return failed(error.what(), 1);
  }
}

}  // namespace ropelab::app
