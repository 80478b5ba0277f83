// The graph of reachable states as the progress rules see it, and the question "may an execution
// run forever?"
//
//   ProgressGraph g = …;                            // from an exploration, or by hand in a test
//   Analysis a = find_endless(g);
//   if (a.endless.empty()) …                        // terminates under every schedule
//   for (const Component& c : a.endless) …          // each is one way to run forever
//
// Every guarantee of spec/progress.md is a *demand*: a state or an edge in which something is owed
// carries it, and an edge answers it. An execution that stays in a set of states and edges forever
// is allowed if each demand that recurs is answered repeatedly (a Streett condition):
//
// - Host, Device, Cluster, Cooperative: carried by states in which that guaranteed actor can move;
//   answered by an edge of that actor.
// - Api: carried by states in which a host thread is inside an API call, and the call could return
//   or device work could move; answered by an edge of that host thread, or of any device thread.
// - Host: carried by edges of a thread "a weak exchange fails without a reason"; answered by the
//   edge "it is tried" of that thread there. Carried by edges "a wait returns without a reason"
//   ([HOST-WAKE]); answered by none.
// - Clock: carried by edges of a thread "a clock shows no later time"; answered by its edges "a
//   later one".
// - Query: carried by edges "the query answers NotReady" that are taken while device work could
//   move or was complete; answered by an edge of any device thread.
//
// A guaranteed actor that is blocked demands nothing: it may wait for as long as it is blocked.
//
// A state may stand for several that differ only in the places of equal threads. Then a demand is
// not that of one thread but of its class (reduce/stepper.h), and an edge says which class became
// which. A thread is followed through the graph by its classes; as a way that leads back to a state
// can be repeated, whatever one thread of a class can get in a component, each of them can
// (Emerson and Sistla, "Utilizing symmetry when model checking under fairness assumptions").
// Direction of error: none for a completely expanded graph. Of a partly expanded one only expanded
// states are used: what is found is real, what is not found proves nothing.
#pragma once

#include "explore/judge/edges.h"
#include "explore/judge/team.h"
#include "explore/table/large_array.h"
#include "explore/table/lists.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

std::string_view rule_id(Rule rule); // "HOST", "DEV", …

std::string_view step_id(Step step); // "STEP.1" … "STEP.4", "HOST"

enum class ActorKind : std::uint8_t {
  Host,
  DeviceThread,
  Command,
  HostFunction // a command that calls the host
};

struct Actor {
  ActorKind kind = ActorKind::DeviceThread;
  std::string name;   // "thread (0,0,0) of block (0,0,0) of kernel 'first<<<1,1>>>'"
  std::string group;  // what progresses together or not at all: the cluster, or cooperative grid
  std::string kernel; // "kernel 'first<<<1,1>>>'"
};

struct Demand {
  Rule rule = Rule::Host;
  ThreadClass who = 0;
  auto operator<=>(const Demand&) const = default;
};

/// A thread of class `from` is in class `to` afterwards. Threads of classes that are not named stay
/// in theirs; those of a class that is named are in one of the classes it became.
struct ClassChange {
  ThreadClass from = 0, to = 0;
  bool operator==(const ClassChange&) const = default;
};

struct State {
  std::uint32_t demands = 0; // number of a list, which is sorted: those that no edge out of it says
  std::uint32_t about = 0;   // number of what reports say of it
  bool terminal = false;     // the program has ended
  bool expanded = false;     // all moves out of this state are in `edges`
  // [EXIT]: terminal, and the program did not end with the exit status that was expected of it.
  bool unexpected = false;
  std::uint8_t exit_status = 0; // of such a state
};

/// What reports say of a state.
struct About {
  std::uint32_t host_site = 0;    // where the host is
  std::uint32_t waits = 0;        // who is blocked, one line each
  std::uint64_t could_return = 0; // host threads inside a call that need not stay there
};

struct ProgressGraph {
  std::vector<Actor> actors;
  std::vector<State> states; // 0 is the initial one
  Edges edges;               // any order
  Lists<Demand> demands;
  Lists<ClassChange> changes;
  std::vector<About> abouts{{}};

  const About& about(StateId s) const { return abouts[states[s].about]; }
  /// What is owed in a state besides what edges out of it say (Edge::owed).
  std::span<const Demand> owed_in(StateId s) const { return demands[states[s].demands]; }

  bool by_device(ActorId actor) const { return actors[actor].kind == ActorKind::DeviceThread; }
  bool by_device(const Edge& edge) const { return by_device(edge.actor); }
};

/// States and edges in which an execution may stay forever; no edges: nobody moves any more.
struct Component {
  std::vector<StateId> states; // ascending
  std::vector<EdgeId> edges;   // ascending
};

/// The edges out of each state.
class OutEdges {
public:
  explicit OutEdges(const ProgressGraph& graph);
  OutEdges(const ProgressGraph& graph, Team& team);
  std::span<const EdgeId> of(StateId s) const { // ascending
    return {edges_.data() + first_[s], edges_.data() + first_[s + 1]};
  }
  /// The rules by which these edges are owed, a bit each.
  std::uint16_t owed_by(StateId s) const { return owed_by_[s]; }
  std::span<const StateId> targets_of(StateId s) const { // where these lead, one by one
    return {targets_.data() + first_[s], targets_.data() + first_[s + 1]};
  }

private:
  LargeArray<std::uint32_t> first_; // one more than there are states
  LargeArray<std::uint16_t> owed_by_;
  LargeArray<EdgeId> edges_;
  LargeArray<StateId> targets_;
};

/// Everything that is owed in a state, sorted.
std::vector<Demand> all_owed_in(const ProgressGraph& graph, const OutEdges& out, StateId s);

struct Analysis {
  std::vector<Component> endless; // ordered by their first state
  /// By rule: it says, of some states, that the program cannot stay in them; and the steps that
  /// device threads take there, a bit each.
  struct Use {
    bool some = false;
    std::uint8_t steps = 0;
  };
  std::array<Use, rule_count> uses{};
  bool used(Rule rule) const { return uses[static_cast<std::size_t>(rule)].some; }
  bool used_with(Rule rule, Step step) const {
    return (uses[static_cast<std::size_t>(rule)].steps >> static_cast<int>(step) & 1) != 0;
  }
  // For has_endless(): in some state that no way leads back to is owed something by this rule and
  // by no other one; and the other states.
  std::array<bool, rule_count> alone{};
  std::vector<StateId> circles;
};

/// The members of the team share the work; what comes out is the same for all teams, but for the
/// order of Analysis::circles.
Analysis find_endless(const ProgressGraph& graph, const OutEdges& out, Team& team);
Analysis find_endless(const ProgressGraph& graph, const OutEdges& out);
Analysis find_endless(const ProgressGraph& graph);
/// Would there be any if this rule did not exist? To learn whether a verdict rests on it.
/// `analysis` is that of find_endless(), which has found none.
bool has_endless(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Analysis& analysis,
    Rule ignored,
    Team& team
);

/// Where some states are not expanded: one to which no edges lead from state 0 is not either, since
/// nobody could be shown how to get there. (The edges were of a rank that is gone, or will be found
/// again by a search that goes on.)
void leave_out_unreached(ProgressGraph& graph, const OutEdges& out);

/// Edges of a shortest way from state 0 to any state of `targets`; if there is one, without a wait
/// that returns without a reason ([HOST-WAKE]).
std::vector<EdgeId>
shortest_way(const ProgressGraph& graph, const OutEdges& out, const std::vector<StateId>& targets);

/// Edges of some way from state 0 to a state in which the program has ended, if there is one: soon
/// found, not short. Where that can be, one that was chosen at random: the search came to each of
/// its states on another way, so repeating it shows whether states of one name go on alike.
std::vector<EdgeId> way_to_an_end(const ProgressGraph& graph, const OutEdges& out);
/// Edges of a way that was chosen at random, without what led back to where it had been. None: it
/// has not come to an end within some thousand steps. Another one for each number, perhaps.
std::vector<EdgeId>
random_way_to_an_end(const ProgressGraph& graph, const OutEdges& out, std::uint64_t number);

} // namespace heddle::explore
