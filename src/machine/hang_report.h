// What the report of a hang says of commands: those that wait themselves, and those that are queued
// behind a kernel that hangs.
#pragma once

#include "machine/world.h"

#include <deque>
#include <map>
#include <string>

namespace heddle::machine {

/// "a wait in stream 1 waits until …": of a command that waits for a value.
std::string describe_wait(const Command& command);
/// Adds the commands that wait for values, and the API call in which the host waits.
void add_waiting(FaultReport& report, const std::deque<CommandPtr>& waiting, const char* what);
/// Adds what cannot begin because a kernel that hangs comes before it: that may be what the kernel
/// waits for. `pending`: not complete, by id.
void add_queued(FaultReport& report, const std::map<std::uint64_t, CommandPtr>& pending);

} // namespace heddle::machine
