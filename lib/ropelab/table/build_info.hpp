// What this program was built from and how.
#pragma once

#include <string_view>

namespace ropelab {

struct BuildInfo {
  std::string_view version;   // "0.1.0"
  std::string_view commit;    // abbreviated hash, "unknown" outside a git repository
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view flags;     // those that can change figures: optimisation, target, sanitizers
};

const BuildInfo& build_info();

}  // namespace ropelab
