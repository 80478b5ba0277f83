// System: the program as a system of states and moves, as the search sees it: which ways are open
// to host threads, all choices of a state, and what the state is known by.
//
//   system.host_moved();                       // host threads stand somewhere else
//   const Look look = system.look_around();    // the state's name, in two parts
//   system.all_choices(node);                  // of the moves of devices that `node` has
//
// The name of a state is that of the devices (Stepper::fingerprint) and what stands beside it: host
// threads and their memory, and how commands are referred to.
#pragma once

#include "explore/judge/wake_mutant.h"
#include "explore/search/ground.h"
#include "explore/search/host_functions.h"
#include "explore/search/node.h"
#include "explore/strategy/host_first.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::explore {

class System {
public:
  explicit System(Ground& ground);

  /// A new state: finds out which ways are open to host threads. Returns those in a call that
  /// waits, or asks, for something that holds now.
  std::uint64_t open_waits();
  /// The ways are those of the state before, and no command has completed since: they are the same
  /// unless they depend on more than that.
  void keep_ways(const Node& before);
  std::uint64_t ways(unsigned thread) const { return ways_[thread]; }
  /// Without those that are taken without a reason: in the present state, too.
  std::uint64_t owed_ways(unsigned thread) const {
    return wake_mutant_is("owed") ? ways_[thread]
                                  : ways_[thread] & ~ways_without_reason(threads_.point(thread));
  }
  /// What a host thread does without a reason by this choice.
  Unprovoked unprovoked_by(const Choice& choice) const;
  /// Counts what ways() has been about.
  std::uint64_t ways_seen() const { return ways_seen_; }
  /// Where the live host threads stand.
  std::vector<HostAt> stand() const;

  /// Every choice of the state, numbered; the last ones are the host's.
  void all_choices(Node& node) const;

  /// What the state is like in which the machine and the host are.
  Look look_around();
  /// What a schedule says of the state in which the devices are, so that whoever repeats it can
  /// tell whether it gets there: nothing that depends on which of equal threads went first.
  std::uint32_t check_of_state(const Hash128& fingerprint) const;
  /// What is added to the name of devices in a state's fingerprint.
  Hash128 beside_device(std::uint64_t open);
  /// Host threads, or their memory, are not what they were.
  void host_moved();
  /// The host has made a call that leaves something behind which no other part of the name has.
  void api_changed() { changed_ = combined(changed_, threads_.origin()); }

  HostFunctions& host_functions() { return host_functions_; }

private:
  void hash_commands();

  machine::World& world_;
  Stepper& stepper_;
  HostThreads& threads_;
  OpenFiles& files_;
  const Purpose& purpose_;
  HostFunctions host_functions_;
  std::array<std::uint64_t, HeddleMaxThreads> ways_{}; // of host threads, in the present state
  std::uint64_t ways_seen_ = 0;
  bool ways_vary_ = false;           // they depend on more than which commands are complete
  std::uint64_t changed_ = 0;        // names what api_changed() has told of, in its order
  Hash128 host_hash_;                // of the host threads, where they stand now
  Hash128 command_hash_;             // see hash_commands(): of those that these names are of
  std::uint64_t named_commands_ = 0; // Works::names_of_commands()
};

} // namespace heddle::explore
