// Which host operations come first, before all that devices can do meanwhile ([RED-HOST-FIRST]).
//
//   std::vector<HostAt> hosts;                       // those that are live, and where they stand
//   if (hosts_are_alone(stepper, options, moves, hosts)) …   // no device thread can tell
//
// The moves of devices that are put off so have to be made when the state is met again, or a cycle
// would leave them out.
#pragma once

#include "explore/host_threads.h"
#include "explore/options.h"
#include "machine/stepper.h"

#include <span>

namespace heddle::explore {

struct HostAt {
  HostPoint::Kind kind{};
  bool device_visible = true; // HostPoint's
  bool can_go_on = false;
};

/// Are all host threads at operations that no device thread can tell, and one of them can go on?
/// `moves` are all of the state. What is relied on is noted in the stepper.
bool hosts_are_alone(
    machine::Stepper& stepper,
    const Options& options,
    std::span<const machine::Stepper::Move> moves,
    std::span<const HostAt> hosts
);

} // namespace heddle::explore
