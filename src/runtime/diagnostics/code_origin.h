// Which object of the process code belongs to, as far as it matters for what instrumented host code
// tells of its threads.
#pragma once

#include <cstdint>

namespace heddle::runtime {

enum class CodeOrigin : std::uint8_t {
  Heddle,       // our libraries, and those that only they use
  Instrumented, // compiled with -fsanitize=thread, or the C++ library, for such code
  Other
};

/// Takes a lock when it sees an object for the first time.
CodeOrigin origin_of(const void* pc);

} // namespace heddle::runtime
