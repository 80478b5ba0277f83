// Which host operations come first, before all that devices can do meanwhile ([RED-HOST-FIRST]),
// and in which states calls return ([RED-RETURNS]).
//
//   std::vector<HostAt> hosts;                       // those that are live, and where they stand
//   if (hosts_are_alone(stepper, options, moves, hosts)) …   // no device thread can tell
//   asked_by(arrival, hosts, open) | always_asked(hosts)     // the choices of hosts to be made
//
// The moves of devices that are put off so have to be made when the state is met again, or a cycle
// would leave them out.
#pragma once

#include "explore/host/host_threads.h"
#include "explore/options.h"
#include "explore/table/state_table.h"
#include "reduce/stepper.h"

#include <optional>
#include <span>

namespace heddle::explore {

struct HostAt {
  HostPoint::Kind kind{};
  bool device_visible = true; // HostPoint's
  bool can_go_on = false;
  unsigned thread = 0; // its number
};

/// How a state was reached.
struct HostArrival {
  bool host = false;         // a host thread has moved, and `arrived` have just stopped: bits
  std::uint64_t arrived = 0; // by number
  std::uint64_t open = 0;    // in the state before: who waited, or asked, for what held
};

/// Choices of hosts that are made in a state because of how it was reached: what waited so far
/// could as well have arrived later. `open` is that of the state.
Choices asked_by(
    const HostArrival& arrival,
    std::span<const HostAt> hosts,
    std::uint64_t open,
    reduce::Mutant mutant = reduce::Mutant::None
);
/// … and those that are made in any case.
Choices always_asked(std::span<const HostAt> hosts);

/// Are all host threads at operations that no device thread can tell, and one of them can go on?
/// `moves` are all of the state. What is relied on is noted in the stepper.
bool hosts_are_alone(
    reduce::Stepper& stepper,
    const Options& options,
    std::span<const reduce::Stepper::Move> moves,
    std::span<const HostAt> hosts
);

/// Where blocks start at once: a host thread of several whose next move is nobody else's business,
/// so that it stands for all moves of the state ([RED-HOST-ALONE]). It begins, or its call returns
/// and may do so.
std::optional<unsigned>
goes_alone(const reduce::Stepper& stepper, const Options& options, std::span<const HostAt> hosts);

} // namespace heddle::explore
