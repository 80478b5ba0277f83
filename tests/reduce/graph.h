// Graph: the states and moves that a search has seen, for the judge.
//
// If the program has no host code, the host is inside cudaDeviceSynchronize all the time: as long
// as the kernel has not ended it is owed that some device thread goes on ([API]); then the program
// ends. Else the host has operations, and [HOST] and [API] say what is owed to it.
#pragma once

#include "reduce/outcome.h"
#include "reduce/walk.h"

#include <span>
#include <unordered_map>
#include <utility>

namespace heddle::enumeration {

using explore::StateId;
using explore::Step;

class Graph {
public:
  Graph();
  /// The number of a state, and whether it is new.
  std::pair<StateId, bool> state(const Hash128& hash);
  std::optional<StateId> find(const Hash128& hash) const;
  std::size_t size() const { return numbers_.size(); }

  /// All moves of a state are going to be made, or others stand for them.
  void describe(StateId state, std::span<const reduce::Stepper::Move> moves, Walk& walk);
  /// Who makes the move: asked before it is made.
  explore::ActorId actor(const reduce::Stepper& stepper, const reduce::Stepper::Move& move);
  /// A move with the instruction that it names: asked while the code is there that the move points
  /// to. A walk that goes back to the beginning makes it again.
  struct NamedMove {
    const reduce::Stepper::Move& move;
    std::uint32_t site;
  };
  static std::vector<NamedMove> named(std::span<const reduce::Stepper::Move> moves);
  void add_edge(
      explore::ActorId actor,
      StateId from,
      StateId to,
      const NamedMove& named,
      Step step,
      std::span<const reduce::Stepper::Change> changes
  );
  /// What a host thread does: asked before it is done.
  struct HostMove {
    unsigned thread = 0, way = 0;
    std::uint32_t site = 0;
    bool not_ready = false, obliged = false; // Edge's
  };
  static HostMove host_move(Walk& walk, bool due, unsigned thread, unsigned way);
  void add_host_edge(StateId from, StateId to, const HostMove& move);
  /// The move has ended the program.
  /// Before anybody has moved.
  void add_fault(const reduce::Stepper& stepper);
  void add_fault(
      explore::ActorId actor,
      const reduce::Stepper& stepper,
      StateId from,
      const NamedMove& named
  );
  /// A limit was reached: states that have not been described are not complete.
  Outcome outcome() const;

private:
  explore::ActorId host_actor(unsigned thread);

  explore::ProgressGraph graph_;
  std::unordered_map<std::uint64_t, StateId> numbers_;                      // by the lower half
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> actors_; // by command and thread
  std::set<std::string> faults_;
  BlockedIn blocked_;
  std::optional<StateId> crashed_;
};

} // namespace heddle::enumeration
