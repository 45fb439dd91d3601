#include "app/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/terminal.hpp"

namespace ropelab::app {
namespace {

std::string clock_text(std::chrono::duration<double> time) {
  if (!(time.count() < 360'000)) return "some time";
  const auto seconds = std::lround(time.count());
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

std::string to_text(const Progress& progress) {
  return fmt::format("{} of {} points ({:.1f} %), {:.3g} a second, {} left", progress.points_done,
                     progress.points, 100 * progress.share_done, progress.rate(),
                     clock_text(progress.left()));
}

ProgressLine::ProgressLine(bool wanted) : shown_(wanted && error_is_terminal()) {}

void ProgressLine::show(const Progress& progress) {
  // The first fifth of a second goes without a line, so that quick runs do not flicker.
  constexpr std::chrono::milliseconds pause(200);
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || progress.elapsed < pause || now - last_ < pause) return;
  last_ = now;
  replace_by(to_text(progress));
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  replace_by("");
  write_error("\r");
}

void ProgressLine::replace_by(const std::string& text) {
  const std::size_t blanks = width_ > text.size() ? width_ - text.size() : 0;
  write_error('\r' + text + std::string(blanks, ' '));
  width_ = text.size();
}

}  // namespace ropelab::app
