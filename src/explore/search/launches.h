// Launches: where the host has submitted what: for reports.
//
//   launches.submitted(*command);                       // of the host thread that runs
//   launches.call_of(command.id);                       // addresses() of the call; "" if unknown
//   launches.diagnose(fault);                           // a fault, with the launch of its kernel
#pragma once

#include "explore/host/host_state.h"
#include "explore/host/host_threads.h"
#include "explore/search/launch_numbers.h"
#include "machine/block.h"
#include "machine/world.h"
#include "report/diagnostic.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

namespace heddle::explore {

/// Which source line that is, the tool finds out when it is asked (source_places.h).
std::string addresses(const HostState& host, const HostPosition& position);

class Launches {
public:
  Launches(const HostState& host, const HostThreads& threads) : host_(host), threads_(threads) {}

  /// Names the command, too, if it is a launch.
  void submitted(machine::Command& command);
  /// Is it a launch of a kernel that this process has not launched before?
  bool is_new_kernel(const machine::Command& command) {
    return command.grid && kernels_.insert(&command.grid->kernel()).second;
  }
  /// Where the host launched it; empty: unknown, or a kernel did.
  std::string launch_of(std::uint64_t command) const;
  /// Where it submitted a command that waits for a value.
  std::string call_of_value_wait(std::uint64_t command) const;
  /// A fault in the code of a library is the user's where he has launched it.
  report::Diagnostic diagnose(const machine::FaultReport& report) const;

private:
  const HostState& host_;
  const HostThreads& threads_;
  LaunchNumbers numbers_;
  std::map<std::uint64_t, std::string> launches_;    // addresses() of the call, by command
  std::map<std::string, std::string> last_launches_; // by name of the kernel
  std::unordered_set<const isa::Kernel*> kernels_;
  std::map<std::uint64_t, std::string> value_waits_; // by command: addresses() of its call
};

} // namespace heddle::explore
