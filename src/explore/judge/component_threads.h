// Which threads a component is about, and what each of them does in it.
//
//   ComponentThreads threads(graph, component, leaving);   // leaving: edges out of it
//   for (const Part& part : threads.parts_of(component.edges)) …   // who goes round in it
//   for (const Part& part : threads.parts_of(leaving)) …           // who could go elsewhere
//
// An edge names a class of equal threads, and one of them by whose name it is told (Label::actor):
// another one the next time, although it is the same thread that goes on. So a thread is followed
// by its class, as the judge follows it: a class becomes others along the edges. The classes that a
// thread passes through are one *part*. A component of a graph in which equal threads are told
// apart has the same parts, and so a report says the same of both.
//
// May be wrong: where threads of one class do different things, this says that each does all of
// them. (Whatever one thread of a class does in a component, each of them can do there.)
#pragma once

#include "explore/judge/progress_graph.h"

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::explore {

/// What one actor does in a component, or could do but need not.
struct Part {
  ActorId actor = 0; // one of them, for its name
  std::set<std::uint32_t> sites;
  bool steps = false;      // at least one move counts as a step
  std::uint64_t count = 1; // threads that are alike
};

class ComponentThreads {
public:
  ComponentThreads(
      const ProgressGraph& graph,
      const Component& component,
      std::span<const EdgeId> leaving
  );

  /// Of edges of the component, or of those that leave it; by kind and name.
  std::vector<Part> parts_of(std::span<const EdgeId> edges);

private:
  using Node = std::uint32_t;
  /// Whoever makes the move: a class, or an actor that is alone.
  Node mover(EdgeId e);
  Node node(StateId state, ThreadClass who);
  Node root(Node n);
  void follow(const Component& component);

  const ProgressGraph& graph_;
  bool changing_ = false; // classes become others in the component
  using Place = std::pair<StateId, ThreadClass>;
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return (place.second ^ std::uint64_t{place.first} << 17) * 0x9e37'79b9'7f4a'7c15ULL;
    }
  };
  std::unordered_map<Place, Node, PlaceHash> by_class_; // without that: in state 0
  std::unordered_map<ActorId, Node> by_actor_;
  std::vector<Place> classes_; // by node; of actors: none
  std::vector<Node> parent_;
};

/// Parts that do the same thing at the same place, the first one and how many; `apart`: each by
/// itself.
std::vector<std::pair<Part, std::size_t>>
alike(const ProgressGraph& graph, const std::vector<Part>& parts, bool apart = false);

/// How many threads make such a move in one state of the component: classes change, and with them
/// who stands for how many. At most `several`.
std::size_t at_once(
    const ProgressGraph& graph,
    const Component& component,
    const Part& part,
    std::size_t several
);

} // namespace heddle::explore
