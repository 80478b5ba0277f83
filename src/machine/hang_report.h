// What the report of a hang says of commands: those that wait themselves, and those that are queued
// behind a kernel that hangs.
#pragma once

#include "machine/world.h"

#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace heddle::machine {

/// "a wait in stream 1 waits until …": of a command that waits for a value.
std::string describe_wait(const Command& command);
/// Adds the commands that wait for values, and the API call in which the host waits.
void add_waiting(FaultReport& report, const std::deque<CommandPtr>& waiting, const char* what);

/// What the kernel waits for may be what is queued behind it. Does the command write memory that
/// devices can reach, or call host code?
bool could_end_a_wait(const Command& command, const memory::AddressSpace& space);
/// Of the kernels that have to end before the command begins, the one submitted first; nullptr:
/// none.
CommandPtr kernel_before(const Command& command);
/// Is a part of what describe_queued() says, and of nothing else.
constexpr std::string_view queued_behind = " is queued behind ";
/// "kernel 'set<<<1,1>>>' in the default stream is queued behind kernel 'spin<<<1,1>>>', …".
std::string describe_queued(const Command& command, const Command& kernel);
/// A report names no more.
constexpr std::size_t most_queued = 4;
/// Adds the commands that cannot begin because a kernel that hangs comes before them. `pending`:
/// not complete, by id.
void add_queued(
    FaultReport& report,
    const std::map<std::uint64_t, CommandPtr>& pending,
    const memory::AddressSpace& space
);

} // namespace heddle::machine
