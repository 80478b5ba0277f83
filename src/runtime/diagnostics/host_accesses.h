// What instrumented host code accesses of the memory that devices reach, for the monitor of races.
#pragma once

namespace heddle::runtime {

class Runtime;

/// From now on the monitor is told. Nothing if the program is not instrumented.
void watch_host_accesses(Runtime& runtime);

} // namespace heddle::runtime
