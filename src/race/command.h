// What the monitor knows of commands, and of the order among them.
//
//   CommandSet done;
//   done.add(3, 5);                          // ids, from the first to the last
//   if (info.follows(other, done)) …         // all of `other` has completed before it begins
//
// What host code does between two moments at which it is ordered with others counts as a command,
// too (host_threads.h).
#pragma once

#include "machine/world.h"
#include "race/clock.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::race {

/// Ids of commands, as intervals.
class CommandSet {
public:
  bool contains(std::uint64_t id) const;
  void add(std::uint64_t first, std::uint64_t last);
  void add(const CommandSet& other);
  bool includes(const CommandSet& other) const;
  /// Without ids above `last`.
  CommandSet up_to(std::uint64_t last) const;

private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals_; // sorted, apart
};

struct CommandInfo {
  std::uint64_t id = 0;
  machine::CommandKind kind{};
  std::string label; // "kernel 'add<<<4,128>>>'", "cudaMemcpyAsync"
  std::string stream;
  machine::Dim3 grid, block, cluster;
  std::vector<const void*> called_from; // of host code, innermost first
  int device = 0;
  /// Have completed before it begins; `late`: and before a thread of it that has executed
  /// griddepcontrol.wait goes on, and so before it completes.
  std::shared_ptr<const CommandSet> before, late;
  std::shared_ptr<const CommandInfo> part_of; // does not complete before this one
  Clock launcher;                             // what the thread knew that launched it
  // Of an event's record: what the thread knew when it had called for it, and the one before it.
  // Who waits for the event does not know that it has been recorded unless it knows this.
  std::shared_ptr<const CommandSet> recorded;
  std::shared_ptr<const CommandInfo> replaces;
  /// What comes before it only if a call has waited that need not have, and the last such call.
  std::shared_ptr<const CommandSet> hoped;
  const char* hoped_call = nullptr;

  /// What has completed when it has.
  CommandSet completed() const;
  bool is_part_of(std::uint64_t other) const;
  /// Has all of `other` completed before it begins, as far as its launch says?
  bool follows(const CommandInfo& other, const CommandSet& completed) const;
};
using CommandInfoPtr = std::shared_ptr<const CommandInfo>;

} // namespace heddle::race
