// Implements reduced_search.h. As explore/explorer_search.cpp does it.
#include "reduce/reduced_search.h"

#include "explore/few_moves.h"
#include "explore/host_first.h"
#include "explore/judged_move.h"
#include "explore/plan.h"
#include "explore/stepper_options.h"

#include "reduce/graph.h"

#include <algorithm>
#include <numeric>

namespace heddle::reduce {

using explore::Plan;
using machine::Stepper;

namespace {

Stepper::Options with_mutant(Stepper::Options options, machine::Mutant mutant) {
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
    visit(0);
    note_facts();
    if (seen_.sums_clash || seen_.host_clash || seen_.refuted) {
      seen_.learned = walk_.learned();
    }
  }
  const Plan::Seen& seen() const { return seen_; }
  Outcome outcome() const {
    Outcome outcome = graph_.outcome();
    outcome.complete = outcome.complete && !over_;
    return outcome;
  }

private:
  struct Known { // what a move leads to, without making it
    Hash128 state;
    Stepper::Again again;
    Step step{};
    std::vector<Stepper::Change> changes;
  };

  void note_facts() {
    const Stepper& stepper = walk_.stepper();
    seen_.retries = seen_.retries || stepper.saw_retries();
    seen_.refuted = seen_.refuted || stepper.refuted();
    seen_.host_clash = seen_.host_clash || stepper.some_last();
    if (options_.starts_at_once && stepper.choice_met_command()) {
      note_circle();
    }
    if (stepper.sums_clash()) {
      seen_.sums_clash = true;
      over_ = over_ || ++since_clash_ > after_clash;
    }
    over_ = over_ || seen_.refuted || seen_.host_clash;
  }

  void note_circle() {
    seen_.circle = true;
    over_ = over_ ||
            (options_.starts_at_once && manner_.mutant != machine::Mutant::StraightForgetsCircles);
  }

  void look_for_circle(StateId state) {
    if (std::ranges::find(path_, state) != path_.end()) {
      note_circle();
    }
  }

  std::optional<StateId> leads_to(StateId from, const Stepper::Move& move, const Known& known) {
    const auto to = graph_.find(known.state);
    if (to) {
      graph_.add_edge(
          graph_.actor(walk_.stepper(), move),
          from,
          *to,
          move,
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
        ahead->again,
        explore::step_of(ahead->taken),
        {ahead->changes.begin(), ahead->changes.end()}
    };
  }

  /// The state that the machine is in; nothing: the search is over.
  std::optional<StateId> visit(std::uint64_t left) {
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
      // What has been put off is not left out of a circle. (Where blocks start at once there is
      // none.)
      if (!options_.starts_at_once && put_off_.erase(state) != 0) {
        path_.push_back(state);
        expand(state, left, Part::Devices);
        path_.pop_back();
      }
      return state;
    }
    if (options_.gives_up && !seen_.circle && graph_.size() > options_.straight_after) {
      seen_.gave_up = over_ = true;
      return std::nullopt;
    }
    path_.push_back(state);
    expand(state, left, Part::All);
    path_.pop_back();
    return state;
  }

  enum class Part : std::uint8_t {
    All,
    Devices // hosts have made their moves
  };

  void expand(StateId state, std::uint64_t left, Part part) {
    Walk::Place here = walk_.here();
    const std::vector<Stepper::Move> moves = walk_.stepper().moves();
    std::vector<std::size_t> tried(moves.size());
    std::iota(tried.begin(), tried.end(), 0);
    std::vector<explore::HostAt> live;
    std::vector<unsigned> hosts; // that can go on
    for (unsigned t = 0; t < walk_.host().threads(); ++t) {
      if (walk_.host().live(t)) {
        live.push_back(walk_.host().at(t));
        if (live.back().can_go_on) {
          hosts.push_back(t);
        }
      }
    }
    graph_.describe(state, moves, walk_);
    if (part == Part::All && !moves.empty() && !hosts.empty() &&
        explore::hosts_are_alone(walk_.stepper(), options_, moves, live)) {
      put_off_.insert(state);
      tried.clear();
    }
    std::uint64_t alike = 0;
    if (options_.starts_at_once && !moves.empty() && hosts.empty()) {
      alike = explore::keep_few(walk_.stepper(), moves, tried, left);
    }
    for (const std::size_t m : tried) {
      if (over_) {
        return;
      }
      walk_.back_to(here);
      make(state, moves[m], alike > walk_.stepper().last_ones() ? alike - 1 : 0);
    }
    for (std::size_t h = 0; part == Part::All && h < hosts.size() && !over_; ++h) {
      walk_.back_to(here);
      const std::uint32_t site = walk_.host().site(hosts[h]);
      walk_.move_host(hosts[h]);
      if (const auto to = visit(0)) {
        graph_.add_host_edge(state, *to, hosts[h], site);
      }
    }
  }

  void make(StateId state, const Stepper::Move& move, std::uint64_t left) {
    const auto known = manner_.looks_ahead ? look_ahead(move) : std::nullopt;
    if (known && leads_to(state, move, *known)) {
      return;
    }
    const explore::ActorId actor = graph_.actor(walk_.stepper(), move);
    if (!walk_.step(move, known ? known->again : Stepper::Again())) {
      note_facts();
      graph_.add_fault(actor, walk_.stepper(), state, move);
      return;
    }
    const bool again = known && walk_.stepper().made_again();
    const Step step = again ? known->step : explore::step_of(walk_.stepper().taken());
    const std::vector<Stepper::Change> changes = again ? known->changes : walk_.stepper().changes();
    if (const auto to = visit(left)) {
      graph_.add_edge(actor, state, *to, move, step, changes);
    }
  }

  static constexpr int after_clash = 200; // states, as in the explorer

  explore::Options options_;
  const Manner& manner_;
  Walk walk_;
  Graph graph_;
  std::vector<StateId> path_;
  std::set<StateId> put_off_; // in which devices have not moved
  Plan::Seen seen_;
  int since_clash_ = 0;
  bool over_ = false;
};

} // namespace

Outcome reduced_search(MicroDevice& device, const Manner& manner) {
  Plan plan(manner.options, manner.mutant);
  std::optional<Outcome> kept;
  for (;;) {
    const Plan::Attempt next = plan.next(/*left=*/1);
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

} // namespace heddle::reduce
