// Implements reduced_search.h. As explore/search/search.cpp does it.
#include "reduce/reduced_search.h"

#include "explore/judge/judged_move.h"
#include "explore/search/stepper_options.h"
#include "explore/strategy/host_first.h"
#include "explore/strategy/plan.h"
#include "reduce/graph.h"
#include "reduce/persistent_sets/persistent_sets.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace heddle::enumeration {

using explore::Plan;
using model::MemoryJournal;
using reduce::Stepper;

namespace {

Stepper::Options with_mutant(Stepper::Options options, reduce::Mutant mutant) {
  options.mutant = mutant;
  return options;
}

/// One attempt of the plan.
class Attempt {
public:
  Attempt(MicroDevice& device, const explore::Options& options, const Manner& manner)
      : options_(options),
        manner_(manner),
        walk_(device, with_mutant(explore::stepper_options(options), manner.mutant)) {}

  void run() {
    if (walk_.failed_at_once()) {
      graph_.add_fault(walk_.stepper());
    } else {
      visit({.hosts = {.host = true, .arrived = ~std::uint64_t{0}}});
    }
    note_facts();
    if (seen_.sums_clash || seen_.host_clash || seen_.refuted) {
      seen_.learned = walk_.learned();
      if (looked_at_copies_) {
        seen_.learned.refute(reduce::Assumption::Copies);
      }
    }
  }
  const Plan::Seen& seen() const { return seen_; }
  Outcome outcome() const {
    Outcome outcome = graph_.outcome();
    outcome.complete = outcome.complete && !over_;
    outcome.known_is_true = known_is_true_;
    outcome.bounded = bounded_;
    return outcome;
  }

private:
  struct Known { // what a move leads to, without making it
    Hash128 state, unnumbered;
    Stepper::Again again;
    Step step{};
    std::vector<Stepper::Change> changes;
  };

  void note_facts() {
    const Stepper& stepper = walk_.stepper();
    const reduce::SearchFacts facts = stepper.facts();
    bounded_ = bounded_ || !facts.times.empty() || facts.more_looks;
    seen_.retries = seen_.retries || facts.retries;
    seen_.refuted = seen_.refuted || stepper.refuted();
    seen_.host_clash = seen_.host_clash || stepper.some_last();
    if (starts_at_once(options_) && stepper.choice_met_command()) {
      note_circle();
    }
    if (stepper.sums_clash()) {
      seen_.sums_clash = true;
      over_ = true; // the explorer goes on, to learn more; so little must do, too
    }
    if (walk_.stepper().assumed().takes_copies_for_one_move() && walk_.host().looked_at_copies()) {
      seen_.refuted = looked_at_copies_ = true;
    }
    over_ = over_ || seen_.refuted || seen_.host_clash;
  }

  void note_circle() {
    seen_.circle = true;
    over_ = over_ ||
            (starts_at_once(options_) && manner_.mutant != reduce::Mutant::StraightForgetsCircles);
  }

  void look_for_circle(StateId state) {
    if (std::ranges::find(path_, state) != path_.end()) {
      note_circle();
    }
  }

  std::optional<StateId> leads_to(StateId from, const Graph::NamedMove& named, const Known& known) {
    const auto to = graph_.find(known.state);
    if (to) {
      graph_.add_edge(
          graph_.actor(walk_.stepper(), named.move),
          from,
          *to,
          named,
          known.step,
          known.changes
      );
      look_for_circle(*to);
    }
    return to;
  }

  std::optional<Known> look_ahead(const Stepper::Move& move) {
    if (!walk_.stepper().can_undo(move)) {
      return std::nullopt;
    }
    const auto ahead = walk_.stepper().look_ahead(move, walk_.stepper().fingerprint());
    if (!ahead) {
      return std::nullopt;
    }
    return Known{
        walk_.with_host(ahead->fingerprint),
        walk_.with_host(ahead->unnumbered),
        ahead->again,
        explore::step_of(ahead->taken),
        {ahead->changes.begin(), ahead->changes.end()}
    };
  }

  using HostWays = std::array<std::uint64_t, 2>; // of threads, by way

  struct Arrival {
    std::uint64_t left = 0; // of keep_few
    explore::HostArrival hosts{};
  };

  /// The state that the machine is in; nothing: the search is over.
  std::optional<StateId> visit(const Arrival& arrival) {
    note_facts();
    if (over_) {
      return std::nullopt;
    }
    const Hash128 now = walk_.fingerprint();
    if (graph_.size() >= options_.max_states && !graph_.find(now)) {
      over_ = true;
      return std::nullopt;
    }
    const auto [state, is_new] = graph_.state(now);
    if (!is_new) {
      look_for_circle(state);
    } else if (options_.gives_up && !seen_.circle && graph_.size() > options_.straight_after) {
      seen_.gave_up = over_ = true;
      return std::nullopt;
    }
    if (is_new || !walk_.host().none()) {
      path_.push_back(state);
      expand(state, arrival, is_new);
      path_.pop_back();
    }
    return state;
  }

  /// Makes the moves that are wanted of a state now and have not been made yet.
  void expand(StateId state, const Arrival& arrival, bool is_new) {
    Walk::Place here = walk_.here();
    const std::vector<Stepper::Move> moves = walk_.stepper().moves();
    if (manner_.checks_look_ahead) {
      compare_with_namesakes(moves);
    }
    std::vector<explore::HostAt> hosts;
    std::uint64_t open = 0; // as System::open_waits
    for (unsigned t = 0; t < walk_.host().threads(); ++t) {
      if (walk_.host().live(t)) {
        hosts.push_back(walk_.host().at(t));
        hosts.back().thread = t;
        const auto kind = hosts.back().kind;
        const bool waits =
            kind == explore::HostPoint::Kind::Wait || kind == explore::HostPoint::Kind::Query;
        open |= waits && (walk_.host().ways(t) & 1) != 0 ? std::uint64_t{1} << t : 0;
        if (kind == explore::HostPoint::Kind::Query) { // as Explorer::query
          note_circle();
        }
      }
    }
    HostWays asked{~std::uint64_t{0}, ~std::uint64_t{0}};
    if (manner_.returns_once) {
      const explore::Choices by = explore::asked_by(arrival.hosts, hosts, open, manner_.mutant);
      const explore::Choices always = explore::always_asked(hosts);
      asked = {by.first_ways | always.first_ways, by.other_ways | always.other_ways};
    }
    HostWays ways{};
    for (const explore::HostAt& host : hosts) {
      for (std::size_t way = 0; way < ways.size(); ++way) {
        ways[way] |= (walk_.host().ways(host.thread) >> way & 1) != 0
                         ? asked[way] & std::uint64_t{1} << host.thread
                         : 0;
      }
    }
    // What has been put off is not left out of a circle. (Where blocks start at once there is
    // none.)
    const bool again = !is_new && !starts_at_once(options_);
    const bool devices = again || moves.empty() || ways == HostWays{} ||
                         !explore::hosts_are_alone(walk_.stepper(), options_, moves, hosts);
    Made& made = made_[state];
    const bool move_devices = devices && !std::exchange(made.devices, made.devices || devices);
    HostWays move_hosts{};
    for (std::size_t way = 0; way < ways.size(); ++way) {
      move_hosts[way] = ways[way] & ~std::exchange(made.hosts[way], made.hosts[way] | ways[way]);
    }
    graph_.describe(state, moves, walk_);
    const std::vector<Graph::NamedMove> named = Graph::named(moves);
    std::vector<std::size_t> tried(move_devices ? moves.size() : 0);
    std::iota(tried.begin(), tried.end(), 0);
    reduce::keep_alone(moves, tried);
    const auto other = std::ranges::find_if(tried, [&](std::size_t m) {
      return !walk_.device().is_of_actor(moves[m]);
    });
    if (other != tried.end()) { // where it was not possible before all others moved
      tried = {*other};
    }
    std::uint64_t alike = 0;
    if (options_.blocks_start_at_once() && !tried.empty() && move_hosts == HostWays{}) {
      alike = reduce::keep_few(walk_.stepper(), moves, tried, arrival.left);
    }
    for (const std::size_t m : tried) {
      if (over_) {
        return;
      }
      walk_.back_to(here);
      if (m != tried.front() && move_hosts == HostWays{} && tried.size() == moves.size() &&
          is_left_to_others(tried.front(), m)) {
        continue;
      }
      const std::uint64_t left = alike > last_ones(walk_.stepper()) ? alike - 1 : 0;
      make(state, named[m], {.left = left, .hosts = {.open = open}});
    }
    for (const explore::HostAt& host : hosts) {
      for (unsigned way = 0; way < move_hosts.size(); ++way) {
        if ((move_hosts[way] >> host.thread & 1) != 0) {
          move_host(
              state,
              here,
              {.due = explore::some_is_due(moves), .thread = host.thread, .way = way}
          );
        }
      }
    }
  }

  /// [RED-GROUPS] As Search::keep_group: is the first of two moves of a state of the first path one
  /// of a group, and the second one not?
  bool is_left_to_others(std::size_t first, std::size_t other) {
    if (!walk_.stepper().assumed().persistent.in_groups) {
      return false;
    }
    // Those that were listed before may be of an earlier run of the program.
    const std::vector<Stepper::Move> moves = walk_.stepper().moves();
    walk_.stepper().persistent().groups().path_ended();
    const std::vector<std::size_t> group =
        walk_.stepper().persistent().groups().one_group(moves, first);
    return std::ranges::find(group, first) != group.end() &&
           std::ranges::find(group, other) == group.end();
  }

  struct HostWay {
    bool due = false;
    unsigned thread = 0, way = 0;
  };
  void move_host(StateId state, Walk::Place& here, const HostWay& host) {
    if (over_) {
      return;
    }
    walk_.back_to(here);
    const Graph::HostMove move = Graph::host_move(walk_, host.due, host.thread, host.way);
    walk_.move_host(move.thread, move.way);
    const Arrival then{.hosts = {.host = true, .arrived = std::uint64_t{1} << move.thread}};
    if (const auto to = visit(then)) {
      graph_.add_host_edge(state, *to, move);
    }
  }

  /// By what a schedule knows the state that the machine is in.
  Hash128 unnumbered() {
    return walk_.with_host(walk_.stepper().unnumbered(walk_.stepper().fingerprint()));
  }

  /// Who repeats a schedule comes to states that only have this name in common with those that were
  /// recorded: they must go on alike.
  void compare_with_namesakes(const std::vector<Stepper::Move>& moves) {
    Walk::Place here = walk_.here();
    const Hash128 name = unnumbered();
    std::set<std::uint64_t> ways;
    for (const Stepper::Move& move : moves) {
      if (walk_.stepper().can_undo(move)) {
        const bool fine = walk_.step(move);
        ways.insert(fine ? unnumbered().low : 0);
        walk_.back_to(here);
      }
    }
    const auto [known, is_new] = ways_.try_emplace(name.low, ways);
    known_is_true_ = known_is_true_ && (is_new || known->second == ways);
  }

  /// Makes it without looking it up, and takes it back.
  void compare(const Stepper::Move& move, const Known& known) {
    Walk::Place here = walk_.here();
    MemoryJournal::Accesses accesses;
    walk_.stepper().collect_accesses(&accesses);
    const bool done = walk_.step(move);
    walk_.stepper().collect_accesses(nullptr);
    known_is_true_ = known_is_true_ && done && walk_.fingerprint() == known.state &&
                     unnumbered() == known.unnumbered &&
                     explore::step_of(walk_.stepper().taken()) == known.step;
    walk_.back_to(here);
  }

  void make(StateId state, const Graph::NamedMove& named, const Arrival& arrival) {
    const Stepper::Move& move = named.move;
    const auto known = manner_.looks_ahead ? look_ahead(move) : std::nullopt;
    if (known && manner_.checks_look_ahead) {
      compare(move, *known);
    }
    if (known && leads_to(state, named, *known)) {
      return;
    }
    const explore::ActorId actor = graph_.actor(walk_.stepper(), move);
    if (!walk_.step(move, known ? known->again : Stepper::Again())) {
      note_facts();
      graph_.add_fault(actor, walk_.stepper(), state, named);
      return;
    }
    const bool again = known && walk_.stepper().made_again();
    const Step step = again ? known->step : explore::step_of(walk_.stepper().taken());
    const std::vector<Stepper::Change> changes = again ? known->changes : walk_.stepper().changes();
    if (const auto to = visit(arrival)) {
      graph_.add_edge(actor, state, *to, named, step, changes);
    }
  }

  explore::Options options_;
  const Manner& manner_;
  Walk walk_;
  Graph graph_;
  std::vector<StateId> path_;
  struct Made { // of the moves of a state
    bool devices = false;
    HostWays hosts{};
  };
  std::map<StateId, Made> made_;
  std::map<std::uint64_t, std::set<std::uint64_t>> ways_; // by unnumbered(): where moves lead
  Plan::Seen seen_;
  bool looked_at_copies_ = false;
  bool over_ = false, known_is_true_ = true, bounded_ = false;
};

} // namespace

Outcome reduced_search(MicroDevice& device, const Manner& manner) {
  explore::Options asked = manner.options;
  asked.ptx_memory = device.weak();
  asked.lockstep = device.lockstep();
  asked.progress = device.progress();
  Plan plan(asked, manner.mutant, manner.tries_groups);
  std::optional<Outcome> kept;
  for (;;) {
    const Plan::Attempt next = plan.next();
    Attempt attempt(device, next.options, manner);
    attempt.run();
    Outcome outcome = attempt.outcome();
    const Plan::Next then = plan.after(attempt.seen(), [&] {
      return Plan::Found{
          .clean = !outcome.hangs(),
          .complete = outcome.complete,
          .straight = outcome.straight
      };
    });
    switch (then) {
    case Plan::Next::Again:
      break;
    case Plan::Next::KeepAndAgain:
      kept = std::move(outcome);
      break;
    case Plan::Next::This:
      return outcome;
    case Plan::Next::Kept:
      return *kept;
    }
  }
}

} // namespace heddle::enumeration
