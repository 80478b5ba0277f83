// Judging one component: may an execution stay in it forever? See progress_graph.h.
//
//   Region region(graph, out, ignored, part_of);
//   ComponentJudge judge(region);
//   // region.part(s) is `number` for exactly these states.
//   judge.judge(number, states, &team);
//   judge.analysis.endless; // filled where the answer is yes
//   judge.rests;            // where it is no: the parts of these states to be judged again
#pragma once

#include "explore/judge/components.h"
#include "explore/judge/progress_graph.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heddle::explore {

/// What judges of several components share. Each writes to what is about its own component only.
struct Region {
  Region(
      const ProgressGraph& graph,
      const OutEdges& out,
      std::optional<Rule> ignored,
      LargeArray<std::uint32_t>& part_of
  )
      : graph(graph),
        out(out),
        ignored(ignored),
        part_of(part_of),
        gone(graph.edges.size()) {}

  std::uint32_t part(StateId s) const {
    return std::atomic_ref(part_of[s]).load(std::memory_order_relaxed);
  }
  void put(StateId s, std::uint32_t part) {
    std::atomic_ref(part_of[s]).store(part, std::memory_order_relaxed);
  }
  bool is_gone(EdgeId e) const {
    return some_gone.load(std::memory_order_relaxed) && gone.contains(e);
  }
  void leave_out(EdgeId e) {
    gone.add(e);
    some_gone.store(true, std::memory_order_relaxed);
  }
  /// By which rules somebody is owed something in the state, a bit each.
  unsigned rules_owed_in(StateId s) const;

  const ProgressGraph& graph;
  const OutEdges& out;
  std::optional<Rule> ignored;
  LargeArray<std::uint32_t>& part_of;
  EdgeSet gone; // whoever stays must avoid them
  std::atomic<bool> some_gone{false};
};

/// Threads followed through a component by their classes: does this one move in it? Its memory
/// serves one component after the other.
class Followed {
public:
  explicit Followed(const Region& region) : region_(region) {}

  /// The component, in which classes become others.
  void follow(std::uint32_t part, std::span<const StateId> states);
  /// One in which every thread is in one class: those that move, and those to whom a clock shows a
  /// later time, sorted.
  void follow(std::span<const ThreadClass> movers, std::span<const ThreadClass> late);

  /// Of who is owed something in one of the states.
  bool moves(StateId s, ThreadClass who) const;
  /// Of who looks at a clock in one of the states: does that ever show it a later time?
  bool finds_time_gone(StateId s, ThreadClass who) const;

private:
  struct Node { // a class in a state
    StateId state;
    std::uint32_t parent; // of a union-find forest
    ThreadClass who;
    bool moves = false, late = false;
  };
  std::uint32_t node(StateId s, ThreadClass who);
  const Node& root_of(StateId s, ThreadClass who) const;
  std::size_t slot(StateId s, ThreadClass who) const;
  std::uint32_t root(std::uint32_t n);
  void unite(std::uint32_t a, std::uint32_t b) { nodes_[root(a)].parent = root(b); }
  void follow_node(std::uint32_t n, std::uint32_t part);

  const Region& region_;
  bool changing_ = false;
  std::vector<ThreadClass> movers_, late_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> index_;
};

/// Judges components, one after the other. Each member of a team has one.
class ComponentJudge {
public:
  explicit ComponentJudge(Region& region) : region_(region), followed_(region) {}

  Analysis analysis;                       // of those that it has judged; `circles` is not its own
  std::vector<std::vector<StateId>> rests; // where it goes on, each ascending

  /// Nobody moves any more in this state, in which there is something owed by these rules, a bit
  /// each: allowed if there are none. `whole`: it is in no other component of the whole graph.
  void judge_single(StateId s, unsigned rules, bool whole);
  /// Allowed forever? Else leaves out what carries unanswered demands and says where to look
  /// again. `team`: to share the work; nullptr: other members are at work on other components.
  void judge(std::uint32_t part, std::span<const StateId> states, Team* team);
  bool found_some() const { return found_some_.load(std::memory_order_relaxed); }

private:
  struct Seen { // what edges do
    std::vector<ThreadClass> movers, late;
    std::vector<std::pair<ThreadClass, std::uint32_t>> tried; // and where
    std::vector<std::pair<ActorId, std::uint32_t>> fresh;     // of which place
    bool changing = false, device_moves = false;
    bool some_demand = false; // edges that carry one
    std::uint8_t steps = 0;   // of device threads, a bit each
    void clear();
    void add(const Seen& more);
    void sort();
  };
  struct Piece { // of a component
    std::vector<EdgeId> edges;
    Seen seen;
    std::vector<StateId> rest;
    std::uint32_t broken = 0; // rules, a bit each
  };
  void look_at(std::uint32_t part, std::span<const StateId> states, Piece& piece) const;
  void judge_piece(std::span<const StateId> states, const Seen& seen, Piece& piece);
  void found(Component component);
  void note_use(std::uint32_t rules, std::uint8_t steps);

  Region& region_;
  Followed followed_;
  std::vector<Piece> pieces_; // scratch, for their memory
  std::atomic<bool> found_some_{false};
};

} // namespace heddle::explore
