// Commands: all that were submitted, and what each of them comes behind ([DEP], [RACE-COMMAND]).
#pragma once

#include "race/command.h"
#include "race/host_threads.h"
#include "race/race_report.h"

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::race {

/// Return addresses of the host code whose call submits a command, innermost first.
using AskCallers = std::function<std::vector<const void*>()>;

/// Thread safe.
class Commands {
public:
  explicit Commands(AskCallers callers) : callers_(std::move(callers)) {}
  /// `host`: what the thread knows that submits it.
  void
  submitted(const machine::Command& command, const CommandSet& host, const HostThreads::Hope& hope);
  /// A thread has launched it that knew this.
  void launched(const machine::Command& command, const Clock& known, const CommandSet& commands);

  bool none() const;
  /// nullptr: not known.
  CommandInfoPtr find(std::uint64_t id) const;
  CommandInfoPtr of(const machine::Grid& grid) const;
  /// What is complete when a thread that knows this has waited.
  CommandSet waited_for(const machine::HostWait& wait, const CommandSet& known);
  /// Of two commands: is it a record that a wait may come before?
  Why why(Why known, const CommandInfo& earlier, const CommandInfo& later) const;
  /// Of the device, up to the one with this id.
  CommandSet of_device(int device, std::uint64_t last) const;

private:
  CommandSet recorded_before(CommandInfoPtr record, const CommandSet& known);

  const AskCallers callers_; // may be empty
  mutable std::mutex mutex_;
  std::vector<CommandInfoPtr> missed_; // records
  std::unordered_map<std::uint64_t, CommandInfoPtr> commands_;
  std::unordered_map<const machine::Grid*, CommandInfoPtr> by_grid_;
  std::map<int, CommandSet> by_device_; // ids
};

} // namespace heddle::race
