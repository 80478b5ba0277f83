// What instrumented host code accesses: of the memory that devices reach, for the monitor of races;
// of what it has copied from devices, for the monitor of unwritten memory.
#pragma once

#include "unwritten/monitor.h"

namespace heddle::runtime {

class Runtime;

/// From now on the monitor is told, and `unwritten` unless it is nullptr. Nothing if the program is
/// not instrumented.
void watch_host_accesses(Runtime& runtime, unwritten::Unwritten* unwritten);

/// A command writes a row to memory of the host that no device reaches.
void note_copy_to_host(const machine::Command& command, memory::Address at, std::uint64_t bytes);
/// A copy that need not be over when its call returns is about to be submitted, and writes there.
void note_result_of_host(memory::Address at, std::uint64_t bytes);
/// The host has waited, by a call that promises it.
void forget_results_of_host();

} // namespace heddle::runtime
