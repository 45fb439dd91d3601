// What does not fit the memory of this machine.
#pragma once

#include <functional>
#include <string>

#include "app/usage_error.hpp"

namespace ropelab::app {

// Throws what `refusal` makes of "about 150 GB of memory, where this machine has 8 GB" if so many
// bytes are more than the machine has. Whether they are free just now is another question; this
// is about what cannot work, so that it is said before hours of work.
void require_memory(double bytes, const std::function<UsageError(const std::string&)>& refusal);

}  // namespace ropelab::app
