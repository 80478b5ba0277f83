// Unawaited: the work of which the host does not know yet that it has completed.
//
//   unawaited.submitted(command);      // by World::submit
//   unawaited.host_waited(commands);   // these have completed, and all that came before them
//   unawaited.contains(command.id);    // nothing has told the host of it
//
// Knowledge follows from order, never from the time at which work has been done: a kernel that is
// over when the host asks for something else has not been waited for. Thread safe.
#pragma once

#include "machine/world.h"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace heddle::machine {

class Unawaited {
public:
  struct Work {
    CommandKind kind{};
    int device = 0;
    std::string label, stream; // as of its Command
    std::vector<const void*> called_from;
    std::vector<std::uint64_t> behind;           // has completed before it begins
    std::vector<std::uint64_t> completes_behind; // … before it completes only
  };

  /// A command that other commands or threads of devices have submitted belongs to those.
  void submitted(const Command& command);
  void host_waited(std::span<const CommandPtr> commands);
  /// All that has been submitted for the device.
  void host_waited_for(int device);

  bool contains(std::uint64_t id) const;
  /// The id of the last one that the host has submitted; 0: there is none.
  std::uint64_t last() const;
  /// Has `first` completed before `second` begins? Both were submitted; what the host has waited
  /// for came before everything that it submitted afterwards.
  bool is_before(std::uint64_t first, std::uint64_t second) const;
  /// In the order of the calls.
  std::vector<Work> all() const;

private:
  void forget(std::uint64_t id);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Work> work_; // by id
  std::uint64_t last_ = 0;
};

} // namespace heddle::machine
