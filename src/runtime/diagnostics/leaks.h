// Memory that the program has not freed when it ends (--leaks) [MEM-LEAK].
#pragma once

#include "runtime/memory/memory_table.h"

namespace heddle::runtime {

/// Announces it after the program's own exit handlers and static destructors. `memory` lives until
/// then.
void announce_leaks_at_exit(const MemoryTable& memory);

} // namespace heddle::runtime
