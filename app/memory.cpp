#include "app/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>

namespace ropelab::app {
namespace {

double memory_of_this_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(pages) * static_cast<double>(page);
}

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

}  // namespace

void require_memory(double bytes, const std::function<UsageError(const std::string&)>& refusal) {
  const double most = memory_of_this_machine();
  if (bytes <= most) return;
  throw refusal(fmt::format("about {} of memory, where this machine has {}", gigabytes(bytes),
                            gigabytes(most)));
}

}  // namespace ropelab::app
