// Strongly connected components, found by all threads of a team at the same time.
//
//   Components components(graph.states.size());
//   components.open(s);                                   // for each state of the region
//   components.split(out, which, region, team);
//   components.root(s) == components.root(t)              // s and t are in one component
//   components.is_single(s)                               // … and s is in one by itself
//
// Implements Bloemen, Laarman and van de Pol, "Multi-core on-the-fly SCC decomposition" (PPoPP
// 2016). Each member of the team walks depth first. States that are known to be on one cycle are
// united (a union-find forest); what of such a set nobody has finished with is in a list that its
// members share, so that several go through one large component; and who comes to a set that is
// finished goes no further. A state begins a walk only once, whoever takes it; so members begin at
// different places.
//
// Which state is the root of its set depends on timing; which states are in it does not.
#pragma once

#include "explore/judge/edges.h"
#include "explore/judge/progress_graph.h"
#include "explore/judge/team.h"
#include "explore/table/large_array.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::explore {

/// Edges by number, one bit each; members of a team may add some at the same time.
class EdgeSet {
public:
  explicit EdgeSet(std::size_t edges) : words_((edges + 63) / 64) {}
  bool contains(EdgeId e) const {
    return (std::atomic_ref(const_cast<std::uint64_t&>(words_[e / 64]))
                    .load(std::memory_order_relaxed) >>
                (e % 64) &
            1) != 0;
  }
  void add(EdgeId e) {
    std::atomic_ref(words_[e / 64]).fetch_or(std::uint64_t{1} << e % 64, std::memory_order_relaxed);
  }

private:
  LargeArray<std::uint64_t> words_;
};

class Components {
public:
  /// All states are closed.
  explicit Components(std::size_t states) : nodes_(states) {}

  /// Which edges of open states count: those to open states of the same part that are not gone.
  struct Which {
    const EdgeSet* gone = nullptr;          // nullptr: none are
    const std::uint32_t* part_of = nullptr; // by state; nullptr: there is one part
    std::uint32_t part = 0;
  };

  /// The state is looked at by the next split. Different members may open different states.
  void open(StateId s);
  void close(StateId s);
  /// Into components, all of them closed in the end. `states` are those that are open and in the
  /// part.
  void split(const OutEdges& out, const Which& which, std::span<const StateId> states, Team& team);
  /// The same for all open states of a graph, all of whose states have been opened or closed.
  void split(const OutEdges& out, const Which& which, Team& team);
  /// The same by one member of a team, while others split other parts.
  void split(const OutEdges& out, const Which& which, std::span<const StateId> states);

  StateId root(StateId s) const;
  /// Its component has no other state.
  bool is_single(StateId s) const;
  /// An edge that counts leads from the state to itself.
  bool leads_back(StateId s) const { return (nodes_[s].marks & loops) != 0; }

  static constexpr std::size_t most_members = 32; // that walk at the same time

private:
  enum class Set : std::uint8_t {
    Dead, // closed, or finished
    Live,
    Locked // its root is about to get another root
  };
  enum class Item : std::uint8_t {
    Done,
    Live,
    Locked // its place in the list is about to change
  };
  struct Node { // 16 bytes, so that four are in a cache line
    StateId parent, next;
    std::uint32_t members; // that have come to the set, of its root
    Set set;               // of a root
    Item item;
    std::uint8_t marks;
  };
  static_assert(sizeof(Node) == 16);
  static constexpr std::uint8_t loops = 1, has_others = 2;
  enum class Claim : std::uint8_t {
    Dead,
    New,
    Known // to this member: it is on its way, or will be on that of a state of its set
  };
  struct Frame {
    StateId state;
    StateId current;          // of its set, which is looked at; `nobody`: none
    std::uint32_t next, left; // of the edges out of it
  };
  struct Walk { // of one member
    unsigned member = 0;
    std::vector<Frame> frames;
    std::vector<StateId> roots; // of sets, along the way
  };
  static constexpr StateId nobody = ~0U;

  template <class StateAt>
  void walk_together(
      const OutEdges& out,
      const Which& which,
      std::size_t count,
      const StateAt& state_at,
      Team& team
  );
  void walk_from(Walk& walk, const OutEdges& out, const Which& which, StateId s);
  void step(Walk& walk, const OutEdges& out, const Which& which);
  Claim claim(StateId s, unsigned member);
  StateId find(StateId s) const;
  bool same(StateId a, StateId b) const;
  void unite(StateId a, StateId b);
  std::optional<StateId> pick(StateId s);
  bool lock_item(StateId s, StateId& locked);
  void finish(StateId s);
  void mark_dead(StateId s);
  void mark(StateId s, std::uint8_t mark);

  mutable LargeArray<Node> nodes_; // find() shortens ways
};

} // namespace heddle::explore
