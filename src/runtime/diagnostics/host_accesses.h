// What instrumented host code accesses: of the memory that devices reach and of what
// functions of streams are given, for the monitor of races;
// of what it has copied from devices, for the monitor of unwritten memory.
#pragma once

#include "race/monitor.h"
#include "unwritten/monitor.h"

namespace heddle::runtime {

class Runtime;

/// From now on the monitor is told, and `unwritten` unless it is nullptr. Nothing if the program is
/// not instrumented.
void watch_host_accesses(Runtime& runtime, unwritten::Unwritten* unwritten);

/// The monitor of races, if there is one.
void set_races_of_host(race::Races& races);

/// A command writes a row to memory of the host that no device reaches.
void note_copy_to_host(const machine::Command& command, memory::Address at, std::uint64_t bytes);
/// A copy that need not be over when its call returns is about to be submitted, and writes there.
void note_result_of_host(memory::Address at, std::uint64_t bytes);
/// A function of the host that is about to be submitted is given this pointer: what it points at is
/// looked at, too, if it is memory of the host alone.
void note_argument_of_function(const void* data);
/// The host has waited, by a call that promises it.
void forget_results_of_host();

} // namespace heddle::runtime
