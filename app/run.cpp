#include "app/run.hpp"

#include "app/terminal.hpp"

namespace ropelab::app {

Run::Run(const Settings& settings, Manifest& manifest, const Interruption& interruption)
    : settings_(settings),
      manifest_(manifest),
      line_(!settings.quiet),
      runner_(interruption, [this](const Progress& progress) { line_.show(progress); }) {}

void Run::over(std::size_t points, const std::function<void(std::size_t)>& step,
               const std::function<double(std::size_t)>& weight) {
  const ProgressLine::Cleared cleared(line_);
  runner_.run(points, step, weight);
}

void Run::note(const std::string& text) {
  if (!noted_.insert(text).second) return;
  manifest_.notes.push_back(text);
  if (settings_.quiet) return;
  line_.clear();
  say(text);
}

}  // namespace ropelab::app
